use super::*;

const LINES: &str = r"# a comment
db.example:5432:shop:ann:first
db.example:*:*:ann:second:with\:colons\\
localhost:5432:*:*:of the socket
\*:1:*:*:starred
*:*:*:*:any
";

fn found(wanted: [&str; 4]) -> Option<String> {
    LINES.lines().filter(|line| !line.starts_with('#')).find_map(|line| matching_password(line, wanted))
}

fn groups(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_first_matching_line_of_pgpass_counts() {
    for (wanted, password) in [
        (["db.example", "5432", "shop", "ann"], "first"),
        (["db.example", "5433", "shop", "ann"], r"second:with:colons\"),
        (["/var/run/postgresql", "5432", "shop", "bob"], "of the socket"),
        (["*", "1", "shop", "bob"], "starred"),
        (["other", "1", "shop", "bob"], "any"),
    ] {
        assert_eq!(found(wanted).as_deref(), Some(password), "{wanted:?}");
    }
    assert_eq!(matching_password("a:b:c", ["a", "b", "c", "d"]), None);
}

#[test]
fn a_pgpass_that_others_may_read_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".pgpass");
    fs::write(&file, "*:*:*:*:geheim\n").unwrap();
    let read = |mode| {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let mut warnings = Vec::new();
        (pgpass(&file, ["h", "1", "d", "u"], &mut warnings), warnings)
    };
    assert_eq!(read(0o600), (Some(Secret::new("geheim")), vec![]));
    let (password, warnings) = read(0o640);
    assert_eq!(password, None);
    assert!(warnings[0].contains("chmod 600") && !warnings[0].contains("geheim"), "{warnings:?}");
}

#[test]
fn a_fifo_is_no_file_of_passwords_and_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("fifo");
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut warnings = Vec::new();
    assert_eq!(pgpass(&file, ["h", "1", "d", "u"], &mut warnings), None);
    assert_eq!(MyCnf::read(&file, &groups(&["client"]), &mut warnings).value("password"), None);
    assert_eq!(warnings, [(); 2].map(|()| format!("{} is not used: it is no plain file", file.display())));
}

#[test]
fn my_cnf_is_read_as_mysql_reads_it() {
    let text = r#"
[mysqld]
user = mysql
[client]
; a comment
user = ann   # the rest is a comment
password = "two # three\"\s"
default_character-set=utf8mb4
socket='/run/my.sock'
port
[client-mariadb]
user = maria
"#;
    let options = MyCnf::parse(text, &groups(&["client"]));
    assert_eq!(options.value("user").unwrap(), "ann");
    assert_eq!(options.value("password").unwrap(), "two # three\" ");
    assert_eq!(options.value("socket").unwrap(), "/run/my.sock");
    assert_eq!(options.value("default-character-set").unwrap(), "utf8mb4");
    assert_eq!(options.value("port"), None);
    assert!(!format!("{options:?}").contains("three"));
    assert_eq!(MyCnf::parse(text, &groups(&["client", "client-mariadb"])).value("user").unwrap(), "maria");
}

#[test]
fn a_my_cnf_that_anybody_may_write_to_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".my.cnf");
    fs::write(&file, "[client]\npassword=geheim\n").unwrap();
    let read = |mode| {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let mut warnings = Vec::new();
        (MyCnf::read(&file, &groups(&["client"]), &mut warnings).value("password"), warnings.len())
    };
    assert_eq!(read(0o644), (Some("geheim".to_owned()), 0));
    assert_eq!(read(0o666), (None, 1));
}
