//! A URL's demand for encryption is kept by every driver that reaches a server, or the connection is refused before
//! anything of use to a listener was sent.

use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_protocol::Setting;

use super::proxy::{Fault, Proxy};
use crate::common::Place;
use crate::engines::Running;

const PASSWORD: &str = "Sesame-0pen!";
pub const QUICK: &str =
    "run speedtest --scale 0.02 --only 15 --trials 1 --no-warm-up --quiet --with sqlite:memory -o run.jsonl";

/// The drivers of PostgreSQL's protocol, as a URL names them.
pub fn postgres() -> Vec<&'static str> {
    with_those_on_the_jvm(&["", "+pgx", "+pq", "+psycopg", "+asyncpg", "+sqlalchemy"], &["+pgjdbc"])
}

fn mariadb() -> Vec<&'static str> {
    with_those_on_the_jvm(
        &["", "+go-sql-driver", "+pymysql", "+mysqlclient", "+sqlalchemy"],
        &["+mariadb-java-client", "+mysql-connector-j"],
    )
}

/// Those on the JVM belong to the others where their folder could be made.
fn with_those_on_the_jvm(others: &[&'static str], on_the_jvm: &[&'static str]) -> Vec<&'static str> {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    if programs.join("../jvm/bin/java").is_file() {
        return [others, on_the_jvm].concat();
    }
    eprintln!("SKIPPED for {on_the_jvm:?}: `sh scripts/build-jvm.sh` makes their folder, or says why not");
    others.to_vec()
}

/// Runs by one URL for each driver.
pub fn run(place: &Place, urls: &[String], code: i32) -> String {
    let mut command = place.command();
    command.args(QUICK.split_whitespace()).args(urls.iter().map(|url| format!("--url={url}")));
    let result: crate::common::Result = command.output().unwrap().into();
    let result = result.exits(code).without_panic();
    let text = format!("{}{}", result.stdout, result.stderr);
    assert!(!text.contains(PASSWORD), "{text}");
    text
}

#[test]
fn no_driver_sends_a_password_or_a_query_where_encryption_was_demanded_and_stripped() {
    let place = Place::new();
    let servers = (Running::start("postgres"), Running::start("mariadb"));
    let (folder, port, user) = servers.0.reach();
    let (socket, _, account) = servers.1.reach();
    let folder = PathBuf::from(format!("{folder}/.s.PGSQL.{port}"));
    let mut ways = Vec::new();
    for driver in postgres() {
        for mode in ["require", "verify-full"] {
            let proxy = Proxy::start(&folder, Fault::StripPostgres);
            let url =
                format!("postgres{driver}://{user}:{PASSWORD}@127.0.0.1:{}/?sslmode={mode}", proxy.port);
            ways.push((url, proxy));
        }
    }
    for driver in mariadb() {
        for mode in ["REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] {
            let proxy = Proxy::start(socket.as_ref(), Fault::StripMySql);
            let url =
                format!("mariadb{driver}://{account}:{PASSWORD}@127.0.0.1:{}/?ssl-mode={mode}", proxy.port);
            ways.push((url, proxy));
        }
    }
    let urls: Vec<String> = ways.iter().map(|(url, _)| url.clone()).collect();
    let refused = run(&place, &urls, 2);
    for (url, proxy) in &ways {
        let port = format!("127.0.0.1:{}", proxy.port);
        let failure = refused.lines().find(|line| line.contains(&port));
        let failure = failure.unwrap_or_else(|| panic!("{url} went on: {refused}"));
        let words = failure.to_lowercase();
        assert!(["ssl", "tls", "encrypt"].iter().any(|word| words.contains(word)), "{url}: {failure}");
        sent_nothing(url, &proxy.seen());
        // The connections of dyno's own are no others.
        if !url.contains('+') {
            proxy.forget();
            place.write("rows.csv", "a,b\n1,2\n");
            let import = place.command().args(["import", "--header", "rows.csv", "--into", url]).output();
            let import: crate::common::Result = import.unwrap().into();
            assert_ne!(import.code, Some(0), "{}", import.stdout);
            import.without_panic();
            sent_nothing(url, &proxy.seen());
        }
    }
    place.assert_clean();
}

/// At most requests for encryption.
pub fn sent_nothing(url: &str, seen: &[u8]) {
    let is_request = |part: &[u8]| part.len() == 8 && part.starts_with(&[0, 0, 0, 8, 4, 210, 22]);
    assert!(seen.chunks(8).all(is_request), "{url} sent {:?}", String::from_utf8_lossy(seen));
}

/// A certificate for 127.0.0.1 that signs itself, and its key, readable to the server's account.
pub fn certificate(place: &Place, name: &str) -> (String, String) {
    let files = [format!("{name}.pem"), format!("{name}.key")];
    let [file, key] = files.map(|name| place.path(&name).display().to_string());
    let arguments =
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1";
    let mut command = Command::new("openssl");
    let made = command.args(arguments.split_whitespace()).args(["-out", &file, "-keyout", &key]).output();
    assert!(made.unwrap().status.success());
    (file, key)
}

#[test]
fn drivers_reach_a_server_that_encrypts_and_believe_only_the_authority_that_was_named() {
    let place = Place::new();
    let folder = crate::common::server::open_folder();
    let (file, key) = certificate(&place, "server");
    let (other, _) = certificate(&place, "other");
    // The account of the server may not enter the test's folder.
    let [ca, key] = [&file, &key].map(|from| {
        let to = folder.path().join(PathBuf::from(from).file_name().unwrap());
        std::fs::copy(from, &to).unwrap();
        std::fs::set_permissions(&to, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        to.display().to_string()
    });
    let settings = [("ssl_cert", &ca), ("ssl_key", &key)]
        .map(|(name, value)| Setting { name: name.into(), value: value.clone() });
    let server = Running::start_with("mariadb", &settings);
    let (socket, _, account) = server.reach();
    let proxy = Proxy::start(socket.as_ref(), Fault::None);
    let urls = |options: &str| {
        let url = |driver| format!("mariadb{driver}://{account}@127.0.0.1:{}/?{options}", proxy.port);
        mariadb().into_iter().map(url).collect::<Vec<_>>()
    };
    // libmariadb would go on in plain text where this is not offered, and mysqlclient lets nothing look before it.
    let (unable, able): (Vec<_>, Vec<_>) =
        urls("ssl-mode=REQUIRED").into_iter().partition(|url| url.contains("+mysqlclient"));
    run(&place, &able, 0);
    assert!(run(&place, &unable, 2).contains("name VERIFY_CA or VERIFY_IDENTITY"));
    run(&place, &urls(&format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={file}")), 0);
    // Once the connection is encrypted, nothing that was sent can be read.
    let seen = String::from_utf8_lossy(&proxy.seen()).into_owned();
    assert!(!seen.contains("dyno_scratch_") && !seen.contains("SELECT"), "{seen}");
    let refused = run(&place, &urls(&format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={other}")), 2);
    assert_eq!(refused.matches(" cannot be run: ").count(), mariadb().len(), "{refused}");
    // Words of libmariadb's alone: none of them is passed over.
    for option in
        ["ssl-cipher=NO-SUCH-CIPHER".to_owned(), format!("ssl-mode=VERIFY_CA&ssl-ca={file}&ssl-crl={key}")]
    {
        run(&place, &urls(&option)[..1], 2);
    }
}

#[test]
fn a_demand_that_no_driver_keeps_is_refused_before_anything_starts() {
    let place = Place::new();
    for (url, words) in [
        ("postgres://u@127.0.0.1:1/?sslmood=require", "an option that dyno does not know"),
        ("mariadb://u@127.0.0.1:1/?sslmode=require", "an option that dyno does not know"),
        ("postgres://u@127.0.0.1:1/?sslmode=prefer&sslrootcert=/etc/hostname", "they need require"),
        ("mariadb://u@127.0.0.1:1/?ssl-mode=REQUIRED&ssl-ca=/etc/hostname", "they need VERIFY_CA"),
        ("postgres:///?host=/tmp&sslmode=require", "through a socket"),
    ] {
        place.dyno(&format!("{QUICK} --url {url}")).exits(2).without_panic().says(words);
        place.write("rows.csv", "a,b\n1,2\n");
        place.dyno(&format!("import rows.csv --into {url}")).without_panic().says(words);
    }
    // A driver may not do what another does: it is refused, and it connects to nothing.
    let url = "postgres+pgx://u@127.0.0.1:1/?sslmode=require&ssl_min_protocol_version=TLSv1.3";
    let result = place.dyno(&format!("{QUICK} --url {url}")).exits(2).without_panic();
    result.says("a connection by pgx has");
    place.assert_clean();
}
