//! The price of encryption, as people ask for it: proofs by what lies on the disk, a library that only says that
//! it encrypts, keys that must appear nowhere, and keys that are none.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::{Place, read_json};

const SMALL: &str = "run encryption --scale 0.01 --trials 1 --no-warm-up --quiet -o run.json";
/// 256 bits each; tests that run at once must not find each other's.
const KEY: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
const OTHER_KEY: &str = "243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89";

fn proof<'a>(run: &'a Value, label: &str) -> &'a Value {
    let contenders = run["contenders"].as_array().unwrap();
    let found = contenders.iter().find(|contender| contender["label"] == label);
    &found.unwrap_or_else(|| panic!("no {label}"))["proof"]
}

/// True if the files of an encrypted contender show nothing and the engine refuses to open them without the key.
fn assert_proved(run: &Value, label: &str) {
    let proof = proof(run, label);
    assert_eq!((&proof["encrypts"], &proof["marker_in"]), (&true.into(), &Value::Array(vec![])), "{proof}");
    assert!(proof["key_in"].is_null() && proof["failure"].is_null(), "{proof}");
    assert_eq!(proof["own_key"]["said"], "gave the marked rows", "{proof}");
    assert!(proof["entropy"].as_f64().unwrap() > 7.5, "{proof}");
    for attempt in ["without_key", "wrong_key"] {
        assert_eq!(proof[attempt]["refused"], true, "{proof}");
    }
}

#[test]
fn what_encrypts_is_proved_and_what_does_not_is_the_control() {
    let place = Place::new();
    let encrypted = [
        "sqlite@sqlcipher:encrypted",
        "sqlite@sqlcipher:raw-key",
        "sqlite@sqlcipher:encrypted,cipher_use_hmac=OFF",
        "sqlite@mc:encrypted,cipher=chacha20",
        "sqlite@mc:encrypted,cipher=aes256cbc",
        "sqlite@mc:encrypted,cipher=ascon128",
    ];
    let contenders = format!("sqlite:plain,{}", encrypted.join(","));
    let result = place.dyno(&format!("{SMALL} --only open,1-2 --with {contenders} --notes"));
    let result = result.exits(0).without_panic();
    let result = result.prints("more time than unencrypted").prints("kdf_iter=256000");
    result.prints("Plain: sqlite:plain: the marker planted in its data is in dyno.db, dyno.db-journal");
    let run = read_json(&place.path("run.json"));
    encrypted.iter().for_each(|label| assert_proved(&run, label));
    // A cipher's page is as large as any, and the record says which cipher it was.
    let read_back = proof(&run, "sqlite@mc:encrypted,cipher=ascon128")["cipher"].to_string();
    assert!(read_back.contains("ascon128"), "{read_back}");
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    let verdict = verdict.get("verdict").unwrap_or(&verdict);
    assert_eq!(verdict["overheads"].as_array().unwrap().len(), encrypted.len());
    place
        .dyno("show run.json --format markdown")
        .exits(0)
        .prints("more time than unencrypted")
        .prints("Encrypted: ");
    place.assert_clean();
}

#[test]
fn the_price_is_counted_over_the_plain_one_with_the_same_settings() {
    let place = Place::new();
    let contenders = "sqlite:plain,locking_mode=EXCLUSIVE,sqlite:plain,sqlite@mc:raw-key,\
                      sqlite@mc:raw-key,locking_mode=EXCLUSIVE";
    place.dyno(&format!("{SMALL} --only 1 --with {contenders}")).exits(0);
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    let verdict = verdict.get("verdict").unwrap_or(&verdict);
    let pairs: Vec<_> = verdict["overheads"].as_array().unwrap().iter().collect();
    assert_eq!((&pairs[0]["contender"], &pairs[0]["over"]), (&2.into(), &1.into()));
    assert_eq!((&pairs[1]["contender"], &pairs[1]["over"]), (&3.into(), &0.into()));
    assert!(pairs.iter().all(|pair| pair["same_level"] == true), "{pairs:?}");
}

#[test]
fn a_price_over_one_that_is_not_equally_safe_says_so() {
    let place = Place::new();
    let result = place.dyno(&format!("{SMALL} --only 1 --with sqlite:nosync,sqlite@mc:raw-key"));
    result.exits(0).prints("‡ over sqlite").prints("a part of the price is not that of encryption");
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    let verdict = verdict.get("verdict").unwrap_or(&verdict);
    assert_eq!(verdict["overheads"][0]["same_level"], false);
}

#[test]
fn the_journal_of_every_mode_is_looked_through() {
    let place = Place::new();
    let contenders =
        "sqlite:wal,sqlite@mc:raw-key,journal_mode=WAL,sqlite@sqlcipher:raw-key,journal_mode=WAL";
    place.dyno(&format!("{SMALL} --only 1 --with {contenders}")).exits(0);
    let run = read_json(&place.path("run.json"));
    assert!(proof(&run, "sqlite:wal")["marker_in"].to_string().contains("dyno.db-wal"));
    assert_proved(&run, "sqlite@mc:raw-key,journal_mode=WAL");
    assert_proved(&run, "sqlite@sqlcipher:raw-key,journal_mode=WAL");
}

/// The plain SQLite with what makes it look like one that encrypts: it takes any key and does nothing with it.
fn liar(place: &Place) -> PathBuf {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let source = place.write(
        "liar.c",
        "int sqlite3_key(void *db, const void *key, int n) { return 0; }\n\
         const char *sqlite3mc_version(void) { return \"none\"; }\n",
    );
    let library = place.path("liar.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(&library).arg(source);
    compiler.arg(programs.join("libdyno_sqlite3.so")).arg(format!("-Wl,-rpath,{}", programs.display()));
    assert!(compiler.status().unwrap().success(), "no C compiler");
    library
}

#[test]
fn a_library_that_only_says_that_it_encrypts_leaves_the_ranking() {
    let place = Place::new();
    let label = format!("sqlite@{}:encrypted", liar(&place).display());
    let contenders = format!("sqlite:plain,{label},sqlite@mc:encrypted");
    let result = place.dyno(&format!("{SMALL} --only 1-2 --with {contenders}")).exits(3).without_panic();
    let result = result.prints("not encrypted").prints("Not encrypted: ").prints("the marker is in dyno.db");
    result.prints("opened without a key, it gave the marked rows");
    let run = read_json(&place.path("run.json"));
    assert_proved(&run, "sqlite@mc:encrypted");
    let csv = place.dyno("show run.json --format csv").exits(3).stdout;
    let lines = csv.lines().filter(|line| line.contains("liar.so"));
    assert!(
        lines.clone().count() == 2 && lines.clone().all(|line| line.contains(",not-encrypted,")),
        "{csv}"
    );
    // The others are ranked as if it were not there.
    let verdict = place.dyno("show run.json --format json").exits(3).json();
    let verdict = verdict.get("verdict").unwrap_or(&verdict);
    let mean = |place: usize| verdict["summaries"][place]["geometric_mean"].clone();
    assert!(mean(1).is_null() && mean(2).is_object(), "{verdict}");
}

#[test]
fn berkeley_dbs_cipher_is_proved_and_what_its_environment_shows_is_reported() {
    let place = Place::new();
    let shared = "bdb:transactional,key=passphrase";
    let contenders = format!("bdb:private,bdb:encrypted,{shared}");
    let only = "run kv --n 500 --trials 1 --quiet -o run.json --only insert-blob,select-blob,delete";
    let result = place.dyno(&format!("{only} --with {contenders}")).exits(3).without_panic();
    result.prints("more time than unencrypted").prints("Not encrypted: bdb,key=passphrase");
    let run = read_json(&place.path("run.json"));
    assert_proved(&run, "bdb:encrypted");
    assert!(proof(&run, "bdb:private")["marker_in"].to_string().contains("marked.db"));
    // Files that processes share hold the cache, and the key, as they are.
    let key_in = proof(&run, "bdb,key=passphrase")["key_in"].to_string();
    assert!(key_in.contains("__db."), "{key_in}");
    place.assert_clean();
}

#[test]
fn a_server_runs_on_an_encrypted_file_system_without_another_server() {
    let place = Place::new();
    let result = place
        .dyno("run speedtest --scale 0.02 --only 1 --trials 1 --no-warm-up --with postgres,file_system=gocryptfs")
        .without_panic();
    let missing = ["is not installed", "cannot be opened, so no file system", "no server of"];
    if let Some(missing) = missing.into_iter().find(|missing| result.stderr.contains(missing)) {
        eprintln!("not run: {missing}");
        return;
    }
    result.exits(0).prints("postgres,file_system=gocryptfs");
    place.assert_clean();
}

#[test]
fn mariadb_and_file_systems_are_proved_too() {
    let place = Place::new();
    let contenders = "mariadb,mariadb:encrypted,sqlite:plain,sqlite:plain,file_system=gocryptfs";
    let result = place.dyno(&format!("{SMALL} --only 1,5 --with {contenders} --notes")).without_panic();
    let missing = ["is not installed", "cannot be opened, so no file system", "no server of"];
    if let Some(missing) = missing.into_iter().find(|missing| result.stdout.contains(missing)) {
        assert_eq!(result.code, Some(3));
        eprintln!("not run whole: {missing}");
        return;
    }
    let result = result.exits(0).prints("with a wrong key it was not mounted; on gocryptfs");
    result.prints("innodb_encrypt_tables=FORCE");
    let run = read_json(&place.path("run.json"));
    assert_proved(&run, "mariadb:encrypted");
    assert!(proof(&run, "mariadb")["marker_in"].to_string().contains("marked.ibd"));
    let mounted = proof(&run, "sqlite:plain,file_system=gocryptfs");
    assert!(mounted["marker_in"] == Value::Array(vec![]) && mounted["failure"].is_null(), "{mounted}");
    place.assert_clean();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&place.path("data").display().to_string()), "{mounts}");
}

#[test]
fn a_column_is_encrypted_and_the_statements_hold_no_key() {
    let place = Place::new();
    // The right answers are known for all rows: decrypted they are the plain ones, and no text can be read.
    let result = place.dyno("run pgcrypto --trials 1 --no-warm-up --quiet -o run.json").without_panic();
    if result.stdout.contains("is not installed") || result.stderr.contains("is not installed") {
        eprintln!("not run: PostgreSQL is not installed");
        return;
    }
    result.exits(0).prints("search-pgcrypto");
    let statements = read_json(&place.path("run.json"))["suite"].to_string();
    assert!(statements.contains("current_setting('dyno.key')"), "{statements}");
    place.assert_clean();
}

/// The command lines and environments of all processes, where they hold a text; but not the environment of one.
fn seen_in_processes(text: &str, but: Option<u32>) -> Vec<String> {
    let mut seen = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        for what in ["cmdline", "environ"] {
            let bytes = fs::read(entry.path().join(what)).unwrap_or_default();
            let own = Some(pid) == but && what == "environ";
            if !own && bytes.windows(text.len()).any(|piece| piece == text.as_bytes()) {
                seen.push(format!("{what} of {pid}"));
            }
        }
    }
    seen
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read(file).unwrap_or_default().windows(text.len()).any(|piece| piece == text.as_bytes())
}

/// Runs with a key and looks for it wherever a key could leak to.
fn assert_secret(place: &Place, arguments: &str, key: &str, in_environment: bool) {
    let mut command = place.command();
    command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if in_environment {
        command.env("DYNO_KEY", key);
    }
    let mut child = command.spawn().unwrap();
    // The variable stands in dyno's own environment for the moment until dyno wipes it out.
    let mut but = in_environment.then_some(child.id());
    let mut looks = 0;
    while child.try_wait().unwrap().is_none() {
        let seen = seen_in_processes(key, but);
        assert!(seen.is_empty(), "{seen:?}");
        // Processes that dyno starts come after it has made its folder.
        if fs::read_dir(place.path("data")).unwrap().next().is_some() {
            but = None;
        }
        looks += 1;
        thread::sleep(Duration::from_millis(5));
    }
    assert!(looks > 3, "it was over before anybody looked");
    let result = crate::common::Result::from(child.wait_with_output().unwrap()).without_panic();
    for (what, text) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
        assert!(!text.contains(key), "the key is in {what}");
    }
    assert!(result.stdout.contains("Encrypted: "), "{}\n{}", result.stdout, result.stderr);
    let run = place.path("run.json");
    assert!(run.is_file() && !holds(&run, key), "the key is in the run file");
    for format in ["table", "markdown", "json", "csv"] {
        assert!(!place.dyno(&format!("show run.json --format {format}")).stdout.contains(key), "{format}");
    }
    place.assert_clean();
}

#[test]
fn a_key_of_the_environment_is_nowhere_else() {
    let contenders = "sqlite@sqlcipher:raw-key,sqlite@mc:encrypted,mariadb:encrypted";
    assert_secret(&Place::new(), &format!("{SMALL} --only 1 --with {contenders}"), KEY, true);
}

#[test]
fn a_key_of_a_file_is_nowhere_else() {
    let place = Place::new();
    let file = PathBuf::from(place.write("key", OTHER_KEY));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let arguments = format!("{SMALL} --only 1 --with sqlite@sqlcipher:raw-key --key-file key");
    assert_secret(&place, &arguments, OTHER_KEY, false);
    // A failure quotes what it can, and never that: here the key is that of another form.
    fs::write(&file, format!("{OTHER_KEY}{OTHER_KEY}")).unwrap();
    let result = place.dyno(&arguments).exits(2).says("does not fit the cipher");
    assert!(!result.stderr.contains(OTHER_KEY), "{}", result.stderr);
}

#[test]
fn keys_that_are_none_are_refused() {
    let place = Place::new();
    let with = |contender: &str| format!("{SMALL} --only 1 --with {contender}");
    let file = |name: &str, text: &str, mode| {
        let file = place.write(name, text);
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    file("empty", "\n", 0o600);
    file("short", "hunter2", 0o600);
    file("open", KEY, 0o644);
    for (arguments, message) in [
        ("--key-file empty", "is empty"),
        ("--key-file short", "too short for the cipher"),
        ("--key-file open", "chmod 600"),
        ("--key-file missing", "missing"),
        ("--key-file data", "not a regular file"),
    ] {
        let arguments = format!("{} {arguments}", with("sqlite@mc:encrypted"));
        let result = place.dyno(&arguments).exits(2).says(message).without_panic();
        assert!(!result.stderr.contains("hunter2") && !result.stderr.contains(KEY), "{}", result.stderr);
    }
    for engine in ["sqlite@mc:raw-key", "mariadb:encrypted"] {
        let arguments = format!("{} --key-file short", with(engine));
        place.dyno(&arguments).exits(2).says("64 hexadecimal digits").without_panic();
    }
    let mut command = place.command();
    command.args(with("sqlite@mc:encrypted").split_whitespace()).env("DYNO_KEY", "");
    crate::common::Result::from(command.output().unwrap()).exits(2).says("the key of DYNO_KEY is empty");
    for contender in ["sqlite@mc,key=hunter2", "sqlite@sqlcipher,hexkey=hunter2", "mariadb,password=hunter2"]
    {
        let result = place.dyno(&with(contender)).exits(2).says("holds a key");
        assert!(!result.stderr.contains("hunter2"), "{}", result.stderr);
    }
    place
        .dyno(&with("sqlite,key=raw"))
        .exits(2)
        .says("has no encryption; sqlite@sqlcipher and sqlite@mc have");
    place.dyno(&with("sqlite@mc:raw-key,cipher=aes256cbc")).exits(2).says("takes no raw key");
    place.dyno(&with("sqlite,file_system=zfs")).exits(2).says("gocryptfs or left out");
}

#[test]
fn the_tests_are_those_of_the_speed_comparison() {
    let place = Place::new();
    place.dyno("run encryption --trials 1 --quiet --only open,15 --with sqlite:nosync -o run.json").exits(0);
    place.dyno("run speedtest --trials 1 --quiet --only 15 --with sqlite:nosync -o speed.json").exits(0);
    let [run, speed] = ["run.json", "speed.json"].map(|file| read_json(&place.path(file)));
    let tests = run["tests"].as_array().unwrap();
    assert_eq!((&tests[0]["id"], &tests[0]["model"]), (&"open".into(), &"reopen".into()));
    // The same statements to the last literal, and the published figures next to the right ones.
    assert_eq!(&tests[1..], speed["tests"].as_array().unwrap());
    assert!(tests[0]["published"].is_null());
    place.dyno("show run.json --published").exits(0).prints("SQLcrypt 3.0.7");
    // The run file holds both suites' text.
    place.dyno("rerun run.json --quiet -o again.json").exits(0);
    assert_eq!(read_json(&place.path("again.json"))["tests"], run["tests"]);
}
