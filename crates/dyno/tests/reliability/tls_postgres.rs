//! A PostgreSQL that takes encrypted connections alone, and each driver's way to it.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dyno_protocol::Build;
use tempfile::TempDir;

use super::tls::{certificate, postgres, run};
use crate::common::server::open_folder;
use crate::common::{Place, installation, wait_for};

/// The server's account where the tests run as root, which PostgreSQL does not.
const ACCOUNT: &str = "postgres";

/// A server on 127.0.0.1. Those that dyno starts listen on sockets alone, which PostgreSQL does not encrypt.
struct Encrypted {
    server: Child,
    port: u16,
    _folder: TempDir,
}

impl Encrypted {
    /// Starts one with a certificate and its key; none where there is no server program, which it says.
    fn start(certificate: &str, key: &str) -> Option<Encrypted> {
        let programs = match installation("postgres", &Build::System) {
            Ok(installation) => installation.server.parent().unwrap().to_owned(),
            Err(error) => {
                eprintln!("SKIPPED for postgres: {error:#}");
                return None;
            }
        };
        let folder = open_folder();
        let (data, files) =
            (folder.path().join("data"), ["server.pem", "server.key"].map(|name| folder.path().join(name)));
        fs::create_dir(&data).unwrap();
        for (from, to) in [certificate, key].into_iter().zip(&files) {
            fs::copy(from, to).unwrap();
            fs::set_permissions(to, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for path in files.iter().chain([&data]) {
            own(path);
        }
        let mut made = as_account(&programs.join("initdb"));
        let made = made.args(["--auth=trust", "-U", ACCOUNT, "--no-sync", "-D"]).arg(&data).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={port}"),
            "unix_socket_directories=".into(),
            "fsync=off".into(),
            "ssl=on".into(),
            format!("ssl_cert_file={}", files[0].display()),
            format!("ssl_key_file={}", files[1].display()),
        ];
        let mut command = as_account(&programs.join("postgres"));
        command.arg("-D").arg(&data).stdout(Stdio::null()).stderr(Stdio::null());
        let server = command.args(settings.iter().flat_map(|setting| ["-c", setting])).spawn().unwrap();
        let started = Encrypted { server, port, _folder: folder };
        wait_for("an answer of the server", 60, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(started)
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        // An immediate shutdown, which leaves no shared memory.
        let _ = Command::new("kill").args(["-QUIT", &self.server.id().to_string()]).status();
        let _ = self.server.wait();
    }
}

/// True if the tests run as root.
fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The numbers of the server's account.
fn account() -> (u32, u32) {
    let number = |option: &str| {
        let output = Command::new("id").args([option, ACCOUNT]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
    };
    (number("-u"), number("-g"))
}

/// A program of the server's, by its account.
fn as_account(program: &Path) -> Command {
    let mut command = Command::new(program);
    if is_root() {
        let (user, group) = account();
        command.uid(user).gid(group);
    }
    // The account may not enter the folder of the tests.
    command.current_dir("/");
    command
}

/// Gives a file to the server's account.
fn own(path: &Path) {
    if is_root() {
        let (user, group) = account();
        chown(path, Some(user), Some(group)).unwrap();
    }
}

#[test]
fn drivers_reach_a_postgres_that_encrypts_and_believe_only_the_authority_that_was_named() {
    let (place, hosts) = (Place::new(), "IP:127.0.0.1");
    let (file, key) = certificate(&place, "server", hosts);
    let (other, _) = certificate(&place, "other", hosts);
    let Some(server) = Encrypted::start(&file, &key) else { return };
    let urls = |host: &str, options: &str| {
        let url = |driver| format!("postgres{driver}://{ACCOUNT}@{host}:{}/postgres?{options}", server.port);
        postgres().into_iter().map(url).collect::<Vec<_>>()
    };
    // The server takes no plain text: a URL that names no mode prefers encryption with every driver.
    for options in ["connect_timeout=20", "sslmode=prefer", "sslmode=require"] {
        run(&place, &urls("127.0.0.1", options), 0);
    }
    for mode in ["verify-ca", "verify-full"] {
        run(&place, &urls("127.0.0.1", &format!("sslmode={mode}&sslrootcert={file}")), 0);
        let refused = run(&place, &urls("127.0.0.1", &format!("sslmode={mode}&sslrootcert={other}")), 2);
        assert_eq!(refused.matches(" cannot be run: ").count(), postgres().len(), "{mode}: {refused}");
    }
    // The certificate is for the address, and not for the name.
    run(&place, &urls("localhost", &format!("sslmode=verify-ca&sslrootcert={file}")), 0);
    let refused = run(&place, &urls("localhost", &format!("sslmode=verify-full&sslrootcert={file}")), 2);
    assert_eq!(refused.matches(" cannot be run: ").count(), postgres().len(), "{refused}");
    // The server takes nothing else.
    let refused = run(&place, &urls("127.0.0.1", "sslmode=disable"), 2);
    assert_eq!(refused.matches(" cannot be run: ").count(), postgres().len(), "{refused}");
    place.assert_clean();
}
