//! A URL's demand for encryption is kept by every driver that reaches a server, or the connection is refused before
//! anything of use to a listener was sent.

use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_protocol::Setting;

use super::proxy::{Fault, Proxy};
use crate::common::{Place, is_thorough};
use crate::engines::Running;

const PASSWORD: &str = "Sesame-0pen!";
pub const QUICK: &str =
    "run speedtest --scale 0.02 --only 15 --trials 1 --no-warm-up --quiet --with sqlite:memory -o run.jsonl";

/// The drivers of PostgreSQL's protocol, as a URL names them.
pub fn postgres() -> Vec<&'static str> {
    [
        vec!["", "+pgx", "+pq", "+psycopg", "+asyncpg", "+sqlalchemy"],
        where_built(NODE, &["+pg", "+postgres"], &["+kysely", "+knex", "+drizzle"]),
        where_built(JVM, &["+pgjdbc"], &["+hikaricp", "+jooq"]),
    ]
    .concat()
}

fn mariadb() -> Vec<&'static str> {
    [
        vec!["", "+go-sql-driver", "+pymysql", "+mysqlclient", "+sqlalchemy"],
        where_built(NODE, &["+mysql2", "+mariadb"], &["+kysely", "+knex", "+drizzle"]),
        where_built(JVM, &["+mariadb-java-client", "+mysql-connector-j"], &["+jooq"]),
    ]
    .concat()
}

/// MySQL2 and the layers above it, which compare no address with a certificate.
const MYSQL2: [&str; 4] = ["mysql2", "kysely", "knex", "drizzle"];

/// The program of a runner that a script fetches, and the script.
type Fetched = (&'static str, &'static str);
const NODE: Fetched = ("../node/bin/node", "build-node.sh");
const JVM: Fetched = ("../jvm/bin/java", "build-jvm.sh");

/// The drivers of a runner, where it could be fetched, and the layers above them, which take seconds each, in `make soak`.
fn where_built(
    (program, script): Fetched,
    drivers: &[&'static str],
    layers: &[&'static str],
) -> Vec<&'static str> {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    if programs.join(program).is_file() {
        return [drivers, if is_thorough() { layers } else { &[] }].concat();
    }
    eprintln!("SKIPPED for {drivers:?}: `sh scripts/{script}` makes their folder, or says why not");
    Vec::new()
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
        assert!(
            ["ssl", "tls", "encrypt", "secure connection"].iter().any(|word| words.contains(word)),
            "{url}: {failure}"
        );
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

/// At most requests for encryption, and the first message of TLS, which postgres.js sends though the server refuses it.
pub fn sent_nothing(url: &str, mut seen: &[u8]) {
    while !seen.is_empty() {
        let length = match seen {
            [0, 0, 0, 8, 4, 210, 22, 47 | 48, ..] => 8,
            // RFC 8446, 5.1 and 4: a handshake's record, its version and length, and in it a ClientHello.
            [22, 3, 1 | 3, high, low, 1, ..] => 5 + usize::from(u16::from_be_bytes([*high, *low])),
            _ => panic!("{url} sent {:?}", String::from_utf8_lossy(seen)),
        };
        seen = seen.get(length..).unwrap_or_else(|| panic!("{url} sent half of a message: {seen:?}"));
    }
}

/// A certificate for hosts that signs itself, and its key, readable to the server's account.
pub fn certificate(place: &Place, name: &str, hosts: &str) -> (String, String) {
    let files = [format!("{name}.pem"), format!("{name}.key")];
    let [file, key] = files.map(|name| place.path(&name).display().to_string());
    let arguments = format!(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName={hosts}"
    );
    let mut command = Command::new("openssl");
    let made = command.args(arguments.split_whitespace()).args(["-out", &file, "-keyout", &key]).output();
    assert!(made.unwrap().status.success());
    (file, key)
}

#[test]
fn drivers_reach_a_server_that_encrypts_and_believe_only_the_authority_that_was_named() {
    let place = Place::new();
    let folder = crate::common::server::open_folder();
    let hosts = "IP:127.0.0.1,DNS:localhost";
    let (file, key) = certificate(&place, "server", hosts);
    let (other, _) = certificate(&place, "other", hosts);
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
    let elsewhere = Proxy::at("127.0.0.2", socket.as_ref(), Fault::None);
    let urls_at = |host: &str, port: u16, options: &str| {
        let url = |driver| format!("mariadb{driver}://{account}@{host}:{port}/?{options}");
        mariadb().into_iter().map(url).collect::<Vec<_>>()
    };
    let urls = |options: &str| urls_at("127.0.0.1", proxy.port, options);
    let only = |urls: Vec<String>, unable: &[&str]| -> (Vec<String>, Vec<String>) {
        urls.into_iter().partition(|url| unable.iter().any(|name| url.contains(&format!("+{name}://"))))
    };
    // libmariadb would go on in plain text where this is not offered, and mysqlclient lets nothing look before it.
    let (unable, able) = only(urls("ssl-mode=REQUIRED"), &["mysqlclient"]);
    run(&place, &able, 0);
    assert!(run(&place, &unable, 2).contains("name VERIFY_CA or VERIFY_IDENTITY"));
    let (unable, able) = only(urls(&format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={file}")), &MYSQL2);
    run(&place, &able, 0);
    let refused = run(&place, &unable, if unable.is_empty() { 0 } else { 2 });
    assert_eq!(refused.matches("or say ssl-mode=VERIFY_CA").count(), unable.len(), "{refused}");
    let identity = format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={file}");
    // The certificate is for 127.0.0.1 and localhost; 127.1 is not written as an address, and resolved as a name is.
    let refused = run(&place, &urls_at("127.0.0.2", elsewhere.port, &identity), 2);
    assert_eq!(refused.matches(" cannot be run: ").count(), mariadb().len(), "{refused}");
    let (by_name, _) = only(urls_at("localhost", proxy.port, &identity), &MYSQL2);
    run(&place, &by_name, 0);
    let (by_another, _) = only(urls_at("127.1", proxy.port, &identity), &MYSQL2);
    let refused = run(&place, &by_another, if by_another.is_empty() { 0 } else { 2 });
    assert_eq!(
        refused.matches("does not match certificate's altnames").count(),
        by_another.len(),
        "{refused}"
    );
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

/// Drivers that have such a mode go on in plain text where the server offers nothing else. The others are refused before
/// they connect: nothing listens on port 1.
#[test]
fn a_mode_that_leaves_encryption_to_the_server_is_kept_or_refused() {
    let place = Place::new();
    let server = Running::start("postgres");
    let (folder, port, user) = server.reach();
    let proxy = Proxy::start(&PathBuf::from(format!("{folder}/.s.PGSQL.{port}")), Fault::None);
    let url = |driver| format!("postgres{driver}://{user}@127.0.0.1:{}/?sslmode=prefer", proxy.port);
    run(&place, &postgres().into_iter().map(url).collect::<Vec<_>>(), 0);
    let keep = ["", "+go-sql-driver", "+pymysql", "+sqlalchemy", "+mysql-connector-j"];
    let unable: Vec<String> = mariadb()
        .into_iter()
        .filter(|driver| !keep.contains(driver))
        .map(|driver| format!("mariadb{driver}://u@127.0.0.1:1/?ssl-mode=PREFERRED"))
        .collect();
    let refused = run(&place, &unable, 2);
    assert_eq!(refused.matches("ssl-mode=PREFERRED").count(), unable.len(), "{refused}");
    assert_eq!(refused.matches("DISABLED").count(), unable.len(), "{refused}");
    place.assert_clean();
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
