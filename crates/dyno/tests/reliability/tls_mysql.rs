//! MySQL's own client library keeps a URL's demand for encryption too. It numbers its options otherwise than libmariadb
//! does, which dyno loads first.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use super::proxy::{Fault, Proxy};
use super::tls::{QUICK, sent_nothing};
use crate::common::{Place, Result};
use crate::engines::Running;

/// MySQL's library where the loader finds it, or as `DYNO_LIBMYSQLCLIENT` names it.
fn library() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("DYNO_LIBMYSQLCLIENT") {
        return Some(file.into());
    }
    let output = Command::new("sh").args(["-c", "PATH=$PATH:/sbin ldconfig -p"]).output().ok()?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = listed.lines().find(|line| line.trim().starts_with("libmysqlclient.so.2"))?;
    line.split(" => ").nth(1).map(PathBuf::from)
}

#[test]
fn mysqls_own_library_sends_nothing_where_encryption_was_demanded_and_stripped() {
    let Some(library) = library() else {
        eprintln!("SKIPPED: there is no libmysqlclient");
        return;
    };
    let place = Place::new();
    // Found by the name of libmariadb, it is taken for the system's library.
    let libraries = place.path("libraries");
    std::fs::create_dir(&libraries).unwrap();
    symlink(library, libraries.join("libmariadb.so.3")).unwrap();
    let mariadb = Running::start("mariadb");
    let (socket, _, account) = mariadb.reach();
    place.write("rows.csv", "a,b\n1,2\n");
    let reach = |arguments: &str, url: &str| -> Result {
        let mut command = place.command();
        command.env("LD_LIBRARY_PATH", &libraries).args(arguments.split_whitespace()).arg(url);
        command.output().unwrap().into()
    };
    for mode in ["REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] {
        let proxy = Proxy::start(socket.as_ref(), Fault::StripMySql);
        let url = format!("mariadb://{account}:Sesame-0pen!@127.0.0.1:{}/mysql?ssl-mode={mode}", proxy.port);
        for arguments in [format!("{QUICK} --url"), "import --header rows.csv --into".to_owned()] {
            let refused = reach(&arguments, &url).without_panic();
            let text = format!("{}{}", refused.stdout, refused.stderr).to_lowercase();
            assert!(refused.code == Some(2) || refused.code == Some(4), "{mode}: {text}");
            assert!(["ssl", "tls", "encrypt"].iter().any(|word| text.contains(word)), "{mode}: {text}");
            sent_nothing(&url, &proxy.seen());
            proxy.forget();
        }
    }
    // The control: without a demand it logs in by plain text. MySQL 9's library has the plugin for it in a file, which may
    // be missing; then the message is this library's, as the name in the record is.
    let proxy = Proxy::start(socket.as_ref(), Fault::StripMySql);
    let url = format!("mariadb://{account}@127.0.0.1:{}/mysql?ssl-mode=DISABLED", proxy.port);
    let result = reach(&format!("{QUICK} --url"), &url).without_panic();
    let shown = match result.code {
        Some(0) => {
            let seen = proxy.seen();
            assert!(seen.windows(account.len()).any(|part| part == account.as_bytes()), "it sent {seen:?}");
            std::fs::read_to_string(place.path("run.jsonl")).unwrap().contains("libmysqlclient")
        }
        _ => result.stderr.contains("Authentication plugin 'mysql_native_password' cannot be loaded"),
    };
    assert!(shown, "another library was loaded: {}", result.stderr);
    place.assert_clean();
}
