//! Encrypted file systems for engines that do not encrypt themselves: the dyno's own setting
//! `file_system=gocryptfs` of any contender.
//!
//! gocryptfs is a program that encrypts files one by one and shows them in the clear through FUSE. dyno mounts one
//! within the run's temporary folder; it ends with the run, also when dyno is killed. Its program runs where
//! the measured processes run, because its work is part of what is measured.

use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::Setting;
use dyno_runner::needs;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use crate::key::Key;
use crate::placement::Placement;

/// The setting that names one.
const SETTING: &str = "file_system";
const PROGRAM: &str = "gocryptfs";
const DEVICE: &str = "/dev/fuse";
/// How long mounting and its end may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// An encrypted file system that dyno can mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// AES-256-GCM in blocks of 4 KiB, through FUSE.
    Gocryptfs,
}

impl FileSystem {
    /// Takes the setting out of a contender's, because no engine knows it.
    pub fn take(settings: &mut Vec<Setting>) -> Result<Option<FileSystem>> {
        let mut found = None;
        for setting in settings.extract_if(.., |setting| setting.name == SETTING) {
            ensure!(
                setting.value == PROGRAM,
                "the setting {SETTING} is {PROGRAM} or left out, not '{}'",
                setting.value
            );
            found = Some(FileSystem::Gocryptfs);
        }
        Ok(found)
    }

    /// The name, as the setting spells it.
    pub fn name(self) -> &'static str {
        PROGRAM
    }
}

/// A mounted file system. Dropped, it is unmounted.
#[derive(Debug)]
pub struct Mounted {
    clear: PathBuf,
    encrypted: PathBuf,
    daemon: Child,
}

impl Mounted {
    /// Makes one within a folder of dyno's own and mounts it. Must be called by a thread that outlives it.
    ///
    /// # Errors
    /// The program or the kernel's part is missing, with what to install; or it cannot be mounted.
    pub fn new(place: &Path, key: &Key, placement: &Placement) -> Result<Mounted> {
        check_installed()?;
        let encrypted = place.join("encrypted");
        let clear = place.join("clear");
        for folder in [&encrypted, &clear] {
            let made = DirBuilder::new().mode(0o711).create(folder);
            made.with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let mut command = Command::new(PROGRAM);
        command.args(["-init", "-q"]).arg(&encrypted);
        let said = with_password(&mut command, key)?.wait_with_output()?;
        ensure!(said.status.success(), "{PROGRAM} -init: {}", tail(&said.stderr));
        let daemon = mount(&encrypted, &clear, key, placement)?;
        let mounted = Mounted { clear, encrypted, daemon };
        // Servers run under an account of their own, which owns nothing here.
        fs::set_permissions(&mounted.clear, std::os::unix::fs::PermissionsExt::from_mode(0o711))?;
        Ok(mounted)
    }

    /// Where files are in the clear.
    pub fn clear(&self) -> &Path {
        &self.clear
    }

    /// Where they are as they lie on the device.
    pub fn encrypted(&self) -> &Path {
        &self.encrypted
    }

    /// Tries to mount the same files with another key; what was said where it is refused.
    pub fn refuses(&self, place: &Path, key: &Key) -> Result<Option<String>> {
        let mut command = Command::new(PROGRAM);
        command.args(["-fg", "-q"]).arg(&self.encrypted).arg(place);
        let mut daemon = with_password(&mut command, key)?;
        let deadline = Instant::now() + PATIENCE;
        while daemon.try_wait()?.is_none() {
            if is_mounted(place) || Instant::now() > deadline {
                end(&mut daemon, place);
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Some(tail(&daemon.wait_with_output()?.stderr)))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        end(&mut self.daemon, &self.clear);
    }
}

fn check_installed() -> Result<()> {
    let found = Command::new(PROGRAM).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        bail!("{PROGRAM} is not installed{}", needs::advice(PROGRAM));
    }
    let opened = fs::File::options().read(true).write(true).open(DEVICE);
    opened.map(drop).with_context(|| {
        let advice = needs::advice("fusermount3");
        format!("{DEVICE} cannot be opened, so no file system can be mounted{advice}; a container needs --device {DEVICE}")
    })
}

/// Starts the program that shows the files, and waits until it does.
fn mount(encrypted: &Path, clear: &Path, key: &Key, placement: &Placement) -> Result<Child> {
    let mut command = Command::new(PROGRAM);
    command.args(["-fg", "-q", "-nosyslog"]);
    if Uid::effective().is_root() {
        // Servers run under another account then.
        command.arg("-allow_other");
    }
    command.arg(encrypted).arg(clear);
    placement.prepare(&mut command).context("cannot place the file system")?;
    // Instead of a kill, after which the folder would stay mounted and dead.
    // SAFETY: between fork and exec, one system call on plain numbers.
    unsafe { command.pre_exec(|| Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?)) };
    let mut daemon = with_password(&mut command, key)?;
    let deadline = Instant::now() + PATIENCE;
    while !is_mounted(clear) {
        if daemon.try_wait()?.is_some() {
            bail!("{PROGRAM} did not mount: {}", tail(&daemon.wait_with_output()?.stderr));
        }
        if Instant::now() > deadline {
            end(&mut daemon, clear);
            bail!("{PROGRAM} did not mount within {} s", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(daemon)
}

/// Starts the program and tells it the password where nobody else sees it.
fn with_password(command: &mut Command, key: &Key) -> Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {PROGRAM}"))?;
    if let Some(mut input) = child.stdin.take() {
        // One that has ended tells why itself.
        let _ = writeln!(input, "{}", key.secret().reveal());
    }
    Ok(child)
}

fn is_mounted(folder: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|data| data.dev()).ok();
    match (device(folder), folder.parent().and_then(device)) {
        (Some(own), Some(around)) => own != around,
        _ => false,
    }
}

/// Ends the program, which unmounts; where it is stuck, the kernel is asked to let go.
fn end(daemon: &mut Child, folder: &Path) {
    let _ = kill(Pid::from_raw(daemon.id().cast_signed()), Signal::SIGTERM);
    let deadline = Instant::now() + Duration::from_secs(5);
    while matches!(daemon.try_wait(), Ok(None)) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    let _ = daemon.kill();
    let _ = daemon.wait();
    if is_mounted(folder) || fs::metadata(folder).is_err() {
        let _ = Command::new("fusermount3").args(["-uz"]).arg(folder).stderr(Stdio::null()).status();
    }
}

fn tail(said: &[u8]) -> String {
    String::from_utf8_lossy(said).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_dynos_own() {
        let setting = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
        let mut settings = vec![setting("journal_mode", "WAL"), setting("file_system", "gocryptfs")];
        assert_eq!(FileSystem::take(&mut settings).unwrap(), Some(FileSystem::Gocryptfs));
        assert_eq!(settings, [setting("journal_mode", "WAL")]);
        let said = FileSystem::take(&mut vec![setting("file_system", "zfs")]).unwrap_err().to_string();
        assert!(said.contains("gocryptfs or left out, not 'zfs'"), "{said}");
    }

    #[test]
    fn what_is_written_is_encrypted_and_comes_back_with_the_key_alone() {
        if let Err(why) = check_installed() {
            eprintln!("not run: {why:#}");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let key = Key::obtain(None).unwrap();
        let placement = Placement::choose(None, None).unwrap();
        let mounted = Mounted::new(place.path(), &key, &placement).unwrap();
        fs::write(mounted.clear().join("note"), "nobody may read this").unwrap();
        let stored = fs::read_dir(mounted.encrypted()).unwrap().flatten();
        for entry in stored.filter(|entry| entry.path().is_file()) {
            let bytes = fs::read(entry.path()).unwrap();
            assert!(!bytes.windows(6).any(|piece| piece == b"nobody"), "{:?}", entry.path());
        }
        let other = tempfile::tempdir().unwrap();
        let said = mounted.refuses(other.path(), &key.another()).unwrap().expect("it was mounted");
        assert!(!said.is_empty() && !said.contains(key.secret().reveal()), "{said}");
        let clear = mounted.clear().to_owned();
        drop(mounted);
        assert!(!is_mounted(&clear) && fs::read_dir(&clear).unwrap().next().is_none());
    }
}
