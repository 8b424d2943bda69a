use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

use nix::unistd::Uid;
use proptest::prelude::*;

use super::*;
use crate::{Home, Registry};

fn parse(text: &str) -> Result<ServerUrl, UrlError> {
    parse_with(text, &[], &[])
}

/// Parses in surroundings with some variables and files of the user's own.
fn parse_with(text: &str, variables: &[(&str, &str)], files: &[(&str, &str)]) -> Result<ServerUrl, UrlError> {
    let home = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let file = home.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let engines = Registry::load(&Home::find().unwrap()).unwrap().servers();
    ServerUrl::parse_within(text, &engines, &PasswordEnvironment::for_test(home.path(), variables))
}

fn password(url: &ServerUrl) -> Option<&str> {
    url.server.password.as_ref().map(Secret::reveal)
}

#[test]
fn a_url_has_all_its_parts() {
    let url =
        parse("postgres://bob:p%40ss%2Fw%3A@db.example:6432/shop?sslmode=require&application_name=x%20y")
            .unwrap();
    let served = url.connection("dyno_scratch_1");
    let (server, scratch) = (served.server, served.scratch);
    assert_eq!((server.host.as_str(), server.port, server.user.as_str()), ("db.example", Some(6432), "bob"));
    assert_eq!((server.database.as_deref(), scratch.as_str()), (Some("shop"), "dyno_scratch_1"));
    assert_eq!(server.password.unwrap().reveal(), "p@ss/w:");
    assert_eq!(server.options["sslmode"], "require");
    assert_eq!(server.options["application_name"], "x y");
    assert_eq!(url.label(), "postgres://bob@db.example:6432/shop");
}

#[test]
fn what_is_left_out_is_what_the_engines_programs_take() {
    let url = parse("postgresql://db.example").unwrap();
    let server = &url.server;
    assert_eq!((server.user.as_str(), server.port), ("ann", None));
    assert_eq!(server.database.as_deref(), Some("postgres"));
    assert_eq!(parse("postgres://").unwrap().server.host, "localhost");
    let url = parse("mysql://db.example:3307").unwrap();
    assert_eq!((url.server.database.as_deref(), url.label().as_str()), (None, "mysql://ann@db.example:3307"));
}

#[test]
fn sockets_are_named_or_found() {
    let url = parse("postgres:///shop?host=/run/pg").unwrap();
    assert_eq!(
        (url.server.host.as_str(), url.label().as_str()),
        ("/run/pg", "postgres://ann@/shop?host=/run/pg")
    );
    assert_eq!(parse("postgres://bob@%2Frun%2Fpg:5433/shop").unwrap().server.host, "/run/pg");
    let url = parse("mysql://bob@localhost/shop?socket=/run/my.sock").unwrap();
    assert_eq!(
        (url.server.host.as_str(), url.label().as_str()),
        ("/run/my.sock", "mysql://bob@/shop?socket=/run/my.sock")
    );
    let with = |url, socket| parse_with(url, &[], &[(socket, "")]).unwrap().server.host;
    assert_eq!(with("postgres:///shop", "root/run/postgresql/.s.PGSQL.5432"), "/run/postgresql");
    assert_eq!(with("postgres:///shop", "root/run/postgresql/.s.PGSQL.5433"), "localhost");
    assert_eq!(with("mysql://localhost", "root/run/mysqld/mysqld.sock"), "/run/mysqld/mysqld.sock");
    assert_eq!(with("mysql://localhost:3306", "root/run/mysqld/mysqld.sock"), "localhost");
    assert_eq!(with("mysql://db.example", "root/run/mysqld/mysqld.sock"), "db.example");
}

#[test]
fn a_server_of_this_machine_may_have_a_socket_too() {
    let home = tempfile::tempdir().unwrap();
    let engines = Registry::load(&Home::find().unwrap()).unwrap().servers();
    for socket in ["run/postgresql/.s.PGSQL.5432", "run/mysqld/mysqld.sock"] {
        let file = home.path().join("root").join(socket);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    let around = PasswordEnvironment::for_test(home.path(), &[]);
    let host = |url: &str| {
        let url = ServerUrl::parse_within(url, &engines, &around).unwrap();
        url.by_socket_within(&around).map(|url| url.server.host)
    };
    assert_eq!(host("postgres://ann@127.0.0.1:5432/shop").as_deref(), Some("/run/postgresql"));
    assert_eq!(host("mysql://bob@127.0.0.1:3306").as_deref(), Some("/run/mysqld/mysqld.sock"));
    // Another server, another machine, a user whom the server may refuse there, a socket already.
    for url in [
        "postgres://ann@127.0.0.1:5433/shop",
        "postgres://ann@db.example/shop",
        "postgres://bob@127.0.0.1/shop",
        "postgres://ann@localhost/shop?sslmode=require",
        "postgres:///shop",
        "mysql://bob@127.0.0.1:3307",
    ] {
        assert_eq!(host(url), None, "{url}");
    }
}

#[test]
fn a_socket_that_another_user_made_in_a_shared_folder_is_passed_over() {
    if !Uid::effective().is_root() {
        eprintln!("not run: a file can be given to another user by root alone");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let engines = Registry::load(&Home::find().unwrap()).unwrap().servers();
    let shared = home.path().join("root/tmp");
    fs::create_dir_all(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let found = |url: &str| {
        let around = PasswordEnvironment::for_test(home.path(), &[("PGPASSWORD", "secret")]);
        let url = ServerUrl::parse_within(url, &engines, &around).unwrap();
        (url.server.host, url.warnings.join("\n"))
    };
    for (url, place, socket) in [
        ("postgres:///shop", "/tmp", "/tmp/.s.PGSQL.5432"),
        ("mysql://localhost", "/tmp/mysql.sock", "/tmp/mysql.sock"),
    ] {
        let file = home.path().join(format!("root{socket}"));
        fs::write(&file, "").unwrap();
        assert_eq!(found(url), (place.into(), String::new()));
        chown(&file, Some(12345), None).unwrap();
        let (host, warned) = found(url);
        assert_eq!(host, "localhost");
        assert!(warned.contains(socket) && warned.contains("belongs to 12345"), "{warned}");
        // A link of root's to what is another user's, and the other way round.
        let other = home.path().join("other");
        fs::rename(&file, &other).unwrap();
        symlink(&other, &file).unwrap();
        assert_eq!(found(url).0, "localhost");
        chown(&other, Some(0), None).unwrap();
        assert_eq!(found(url).0, place);
        lchown(&file, Some(12345), None).unwrap();
        assert_eq!(found(url).0, "localhost");
    }
}

#[test]
fn an_ipv6_address_stands_in_brackets() {
    let url = parse("postgres://bob@[::1]:5433/shop").unwrap();
    assert_eq!((url.server.host.as_str(), url.server.port), ("::1", Some(5433)));
    assert_eq!(url.label(), "postgres://bob@[::1]:5433/shop");
    assert_eq!(parse("mysql://[fe80::1%25eth0]").unwrap().server.host, "fe80::1%eth0");
    assert_eq!(parse("mysql://bob@::1/shop").unwrap_err(), UrlError::Port);
}

#[test]
fn passwords_come_from_the_url_then_the_environment_then_files() {
    let files = [(".pgpass", "*:*:*:ann:filed\n"), (".my.cnf", "[client]\npassword=filed\nuser=cnf\n")];
    let variables = [("PGPASSWORD", "exported"), ("MYSQL_PWD", "exported")];
    for scheme in ["postgres", "mysql"] {
        let found = |url: &str, variables| {
            let url = parse_with(&format!("{scheme}://{url}"), variables, &files).unwrap();
            password(&url).map(str::to_owned)
        };
        assert_eq!(found("ann:given@h", &variables).as_deref(), Some("given"));
        assert_eq!(found("ann@h", &variables).as_deref(), Some("exported"));
        assert_eq!(found("ann@h", &[]).as_deref(), Some("filed"));
    }
    assert_eq!(password(&parse_with("postgres://bob@h", &[], &files).unwrap()), None);
    assert_eq!(parse_with("mysql://h", &[], &files).unwrap().server.user, "cnf");
}

#[test]
fn bad_urls_are_refused() {
    for (text, error) in [
        ("shop", UrlError::Scheme),
        ("sqlite://shop", UrlError::Scheme),
        ("postgres://bob:pa/ss@h/shop", UrlError::Reserved),
        ("postgres://bob:pa?ss@h/shop", UrlError::Reserved),
        ("postgres://bob:pa#ss@h/shop", UrlError::Reserved),
        ("postgres://h:x/shop", UrlError::Port),
        ("postgres://h:0/shop", UrlError::Port),
        ("postgres://h:65536/shop", UrlError::Port),
        ("postgres://[::1/shop", UrlError::Port),
        ("postgres://a,b/shop", UrlError::Hosts),
        ("postgres://h/%FF", UrlError::Text),
        ("postgres://h/%00", UrlError::Text),
        ("postgres://h/shop?sslmode", UrlError::Option),
        ("postgres://h/shop?sslpassword=x", UrlError::KeyPassword),
        ("postgres://h/shop?sslmode=require&sslmode=disable", UrlError::Twice),
        ("mysql://h/shop?ssl-mode=REQUIRED&ssl_mode=DISABLED", UrlError::Twice),
        ("postgres://h/shop?sslmode=REQUIRED", UrlError::Mode("sslmode")),
        ("mysql://h/shop?ssl-mode=require", UrlError::Mode("ssl-mode")),
        ("postgres://h/shop?sslmode=require&sslrootcert=/no/such.pem", UrlError::File("sslrootcert")),
        ("mysql://h/shop?ssl-cert=/no/such.pem", UrlError::File("ssl-cert")),
        ("postgres://h/shop?sslmode=prefer&sslrootcert=/etc/passwd", UrlError::Weak("sslmode", "require")),
        ("postgres://h/shop?sslmode=require&sslrootcert=system", UrlError::Weak("sslmode", "verify-full")),
        (
            "postgres://h/?ssl_min_protocol_version=TLSv1.3&sslmode=prefer",
            UrlError::Weak("sslmode", "require"),
        ),
        ("mysql://h/shop?ssl-mode=REQUIRED&ssl-ca=/etc/passwd", UrlError::Weak("ssl-mode", "VERIFY_CA")),
        ("mysql://h/shop?ssl-mode=PREFERRED&ssl-key=/etc/passwd", UrlError::Weak("ssl-mode", "REQUIRED")),
        ("postgres:///shop?host=/run/pg&sslmode=require", UrlError::Socket),
    ] {
        assert_eq!(parse(text).unwrap_err(), error, "{text}");
    }
}

/// Everything that a person or a file may come to see of a URL.
fn visible(result: &Result<ServerUrl, UrlError>) -> String {
    match result {
        Ok(url) => {
            let server = url.connection("dyno_scratch_1").server;
            format!("{url} {} {url:?} {server:?} {:?}", url.label(), url.warnings)
        }
        Err(error) => format!("{error} {error:?}"),
    }
}

fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

proptest! {
    // Capitals, so that no word of a message is a part of a password by chance.
    #[test]
    fn a_password_is_seen_by_the_runner_only(password in "[A-ZÄÖ@:/?#%\\[\\]&= ]{4,20}") {
        for url in [
            format!("postgres://bob:{}@h/shop", encode(&password)),
            format!("mysql://bob@h/shop?password={}", encode(&password)),
        ] {
            let parsed = parse(&url);
            prop_assert!(!visible(&parsed).contains(&password));
            let given = parsed.unwrap().server.password.unwrap();
            prop_assert_eq!(given.reveal(), &password);
        }
    }

    // A password that should have been encoded and was not: no four characters of it in a row.
    #[test]
    fn a_password_with_slips_of_the_finger_is_not_repeated(password in "[A-Z@:/?#%\\[\\]]{4,20}") {
        for url in [format!("postgres://bob:{password}@h/shop"), format!("mysql://bob:{password}@h:1")] {
            let seen = visible(&parse(&url));
            let letters: Vec<char> = password.chars().collect();
            for part in letters.windows(4) {
                let part: String = part.iter().collect();
                prop_assert!(!seen.contains(&part), "{part} of {password} is in {seen}");
            }
        }
    }
}

proptest! {
    /// However an address is written, and whatever letters its password has, it is never repeated.
    #[test]
    fn a_password_is_never_repeated(
        shape in 0usize..14, word in "[!-~]{4,12}", database in "[a-z]{0,5}"
    ) {
        // Letters that occur in no address show a part that was left.
        let password = format!("§{word}§");
        let text = match shape {
            0 => format!("postgres://bob:{password}@db/{database}"),
            1 => format!("postgres:/bob:{password}@db/{database}"),
            2 => format!("MySQL:/bob:{password}@db/{database}"),
            3 => format!("postgresql+psycopg://bob:{password}@db/{database}"),
            4 => format!("bob:{password}@db/{database}"),
            5 => format!("//bob:{password}@db"),
            6 => format!("postgres//bob:{password}@db"),
            7 => format!("mariadb://bob:{password}"),
            8 => format!("mariadb://bob@db:{password}/{database}"),
            9 => format!("postgres://db/{database}?password={password}"),
            10 => format!("host=db user=bob PASSWORD={password} dbname={database}"),
            11 => format!("postgres:bob:{password}@db"),
            12 => format!("  https://bob:{password}@db/{database}"),
            _ => format!("jdbc:postgresql://db/{database}?user=bob&password={password}"),
        };
        prop_assert!(!repeatable(&text).contains('§'), "{text} is repeated as {}", repeatable(&text));
        if is_address(&text) {
            // Texts that are no address are covered by the assertion above.
            prop_assert!(may_hold_password(&text), "{text} passes for an address without one");
        }
    }
}

#[test]
fn what_is_no_address_is_repeated_whole() {
    for text in [
        "speedtest",
        "./suites/x.toml",
        "sqlite:wal,cache_size=-512",
        "postgres@18/pgx:nosync",
        "--only=1,4-6",
        "sqlite@/opt/new/libsqlite3.so:wal",
        "sqlite:/var/x.db",
        "results/2026-11-22T10-00-00-kv.json",
    ] {
        assert_eq!(repeatable(text), text);
        assert!(!is_address(text) && !may_hold_password(text), "{text}");
    }
    assert!(is_address("postgres://bob@db/x") && !may_hold_password("postgres://bob@db:5432/x"));
}

#[test]
fn an_option_that_no_driver_knows_is_refused_and_not_repeated() {
    for url in
        ["postgres://h/?sslmood=hunter2", "postgres://h/?hostaddr=hunter2", "mysql://h/?sslmode=hunter2"]
    {
        let error = parse(url).unwrap_err();
        assert!(matches!(error, UrlError::Unknown(_)), "{url}: {error}");
        let message = error.to_string();
        assert!(!message.contains("hunter2") && message.contains("connect"), "{message}");
    }
}

#[test]
fn certificates_without_a_mode_ask_for_encryption() {
    let options = |url: &str| parse(url).unwrap().server.options;
    let option = |url: &str, name: &str| options(url).get(name).cloned();
    assert_eq!(option("postgres://h/?sslrootcert=/etc/passwd", "sslmode").as_deref(), Some("verify-ca"));
    assert_eq!(option("postgres://h/?sslcert=/etc/passwd", "sslmode").as_deref(), Some("require"));
    assert_eq!(option("mysql://h/?ssl_ca=/etc/passwd", "ssl-mode").as_deref(), Some("VERIFY_CA"));
    assert_eq!(option("mysql://h/?ssl-cipher=X", "ssl-mode").as_deref(), Some("REQUIRED"));
    assert_eq!(option("mysql://h/?ssl_mode=verify-identity", "ssl-mode").as_deref(), Some("VERIFY_IDENTITY"));
    assert_eq!(options("mysql://h/"), BTreeMap::new());
    // A runner may work in another folder.
    let path = option("mysql://h/?ssl-ca=Cargo.toml", "ssl-ca").unwrap();
    assert!(path.starts_with('/') && path.ends_with("/Cargo.toml"), "{path}");
}

#[test]
fn drivers_are_given_a_mode_of_encryption_where_a_url_through_a_network_names_none() {
    let options = |url: &str| parse(url).unwrap().connection("").server.options;
    assert_eq!(options("postgres://h/")["sslmode"], "prefer");
    assert_eq!(options("postgres://h/?sslmode=disable")["sslmode"], "disable");
    assert_eq!(options("postgres://h/?sslcert=/etc/passwd")["sslmode"], "require");
    assert_eq!(options("mysql://h/")["ssl-mode"], "DISABLED");
    assert_eq!(options("mysql://h/?ssl_mode=preferred")["ssl-mode"], "PREFERRED");
    let own = |url: &str| parse(url).unwrap().own_connection().options;
    assert_eq!(own("postgres://h/")["sslmode"], "prefer");
    assert_eq!(own("mysql://h/")["ssl-mode"], "PREFERRED");
    assert_eq!(own("mysql://h/?ssl-mode=DISABLED")["ssl-mode"], "DISABLED");
    for socket in ["postgres:///?host=/run/pg", "mysql:///?socket=/run/my.sock"] {
        assert_eq!(options(socket), BTreeMap::new());
        assert_eq!(own(socket), BTreeMap::new());
    }
}

#[test]
fn encryption_is_asked_for_where_the_engines_programs_look_for_it() {
    let files = [(".my.cnf", "[client]\nssl-mode=REQUIRED\n")];
    let variables = [("PGSSLMODE", "require"), ("PGSSLMINPROTOCOLVERSION", "TLSv1.3")];
    let options = |url: &str| parse_with(url, &variables, &files).unwrap().server.options;
    assert_eq!(options("postgres://h/")["sslmode"], "require");
    assert_eq!(options("postgres://h/")["ssl_min_protocol_version"], "TLSv1.3");
    assert_eq!(options("mysql://h/")["ssl-mode"], "REQUIRED");
    // The URL has the last word, and a socket leads to no other machine.
    assert_eq!(options("postgres://h/?sslmode=disable").len(), 1);
    assert_eq!(options("mysql://h/?ssl-mode=DISABLED")["ssl-mode"], "DISABLED");
    assert_eq!(options("postgres:///?host=/run/pg"), BTreeMap::new());
}
