use std::fs;
use std::os::unix::fs::{FileTypeExt, chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::thread;

use nix::sys::stat::Mode;
use nix::unistd::{Uid, mkfifo};

use super::*;

fn write(path: &Path, text: &str) -> Result<()> {
    Output::open(path)?.write(text.as_bytes()).map(drop)
}

fn refusal(path: &Path) -> String {
    format!("{:#}", Output::open(path).expect_err("it was accepted"))
}

#[test]
fn a_file_is_replaced_and_keeps_its_mode_and_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/file");
    write(&path, "one").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    if Uid::effective().is_root() {
        chown(&path, Some(65534), Some(65534)).unwrap();
    }
    let before = fs::metadata(&path).unwrap();
    write(&path, "two").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "it was not replaced in one step");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    symlink("target", path("link")).unwrap();
    for text in ["one", "two"] {
        write(&path("link"), text).unwrap();
        assert_eq!(fs::read_to_string(path("target")).unwrap(), text);
        assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    }
}

#[test]
fn a_device_is_written_into() {
    write(Path::new("/dev/null"), "text").unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let full = write(Path::new("/dev/full"), "text").unwrap_err();
    assert!(format!("{full:#}").contains("No space"), "{full:#}");
}

#[test]
fn a_fifo_is_written_into_if_a_program_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    assert!(refusal(&path).contains("no program reads the FIFO"));
    let reader = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(&path).unwrap();
    let mut output = Output::open(&path).unwrap();
    drop(reader);
    let read = {
        let path = path.clone();
        thread::spawn(move || fs::read_to_string(path).unwrap())
    };
    // The reader opens while the writer holds its end.
    let long = "x".repeat(1 << 18);
    while output.write(long.as_bytes()).is_err() {
        thread::yield_now();
    }
    drop(output);
    assert!(read.join().unwrap().ends_with(&long));
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
fn what_cannot_take_a_result_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let _socket = UnixListener::bind(path("socket")).unwrap();
    fs::write(path("file"), "").unwrap();
    assert!(refusal(&path("socket")).contains("is a socket"));
    assert!(refusal(folder.path()).contains("is a folder"));
    assert!(refusal(&path("new/")).contains("folder"));
    assert!(refusal(&path("file/below")).contains("file/below"));
    assert!(refusal(Path::new("/dev/fd/987")).contains("987"));
    assert!(refusal(Path::new("/proc/nothing")).contains("/proc"));
}

#[test]
fn what_became_a_device_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut output = Output::open(&path).unwrap();
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    assert!(output.write(b"text").is_err());
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
}

/// A file that is replaced is not written into, so that no link and no second name leads dyno elsewhere.
#[test]
fn what_a_strangers_folder_is_made_to_lead_to_gets_nothing() {
    if !Uid::effective().is_root() {
        return eprintln!("not run: another user's files need root");
    }
    let stranger = Some(65534);
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    chown(folder.path(), stranger, stranger).unwrap();
    let path = folder.path().join("out");
    let precious = other.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    fs::hard_link(&precious, &path).unwrap();
    write(&path, "text").unwrap();
    assert_eq!(
        (fs::read_to_string(&path).unwrap(), fs::read_to_string(&precious).unwrap()),
        ("text".into(), "precious".into())
    );
    // The link comes while dyno measures.
    let mut output = Output::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&precious, &path).unwrap();
    lchown(&path, stranger, stranger).unwrap();
    let said = format!("{:#}", output.write(b"text").unwrap_err());
    assert!(said.contains("does not follow it"), "{said}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    // No new run file goes over their link either.
    symlink(other.path(), folder.path().join("results")).unwrap();
    lchown(folder.path().join("results"), stranger, stranger).unwrap();
    assert!(Output::fresh(&folder.path().join("results"), "run", ".jsonl").is_err());
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
}

#[test]
fn a_replaced_file_makes_no_program_run_as_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o4755)).unwrap();
    write(&path, "new").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn new_files_take_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| {
        let mut output = Output::fresh(folder.path(), "run", ".jsonl").unwrap();
        output.write(text.as_bytes()).unwrap();
        output.path().to_owned()
    };
    let paths: Vec<PathBuf> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|number: u32| scope.spawn(move || write(&number.to_string()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut texts: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    texts.sort();
    assert_eq!(texts, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert!(folder.path().join("run.jsonl").exists() && folder.path().join("run-8.jsonl").exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 8);
}
