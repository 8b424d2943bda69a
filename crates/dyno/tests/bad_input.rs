//! Bad input, as a person or a suite from elsewhere gives it: refused at once, without a password, without a letter
//! that steers the terminal, and with nothing left behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::common::{Place, Result, read_json, repository};

/// A suite of one test, whose keys are written as they stand here.
fn suite(name: &str, title: &str, statements: &str) -> String {
    format!(
        "name = \"{name}\"\ntitle = \"{title}\"\nstory = \"\"\ncontenders = [\"sqlite:memory\"]\n\n[[test]]\nid = \"1\"\n\
         title = \"{title}\"\nshows = \"\"\nmodel = \"statements\"\nstatements = \"\"\"\n{statements}\n\"\"\"\n"
    )
}

const DOUBLES: &str = "{% set ns = namespace(x='abcdefgh') %}
{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}
SELECT 1;";
const LOOPS: &str = "{% for i in range(1000000000) %}{{ 'what a long loop writes over and over' * 100000 if i == 1000000 }}{{ i % 2 }}{% endfor %}";
/// Templates that would take all day or all memory, each with a word of the message.
const ENDLESS: [(&str, &str); 5] = [
    ("{% for i in range(10**12) %}{{ i }}{% endfor %}", "loop without end"),
    (
        "{% for i in range(10**6) %}{% for j in range(10**6) %}{% set b = i %}{% endfor %}{% endfor %}",
        "loop without end",
    ),
    (
        "{% for i in range(10**6) %}{% for j in range(10**6) %}{% if j == 99 %}x{% endif %}{% endfor %}{% endfor %}",
        "without end",
    ),
    ("{{ 'ab' * 10**11 }}", "too large"),
    ("{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}", "recursion"),
];

#[test]
fn a_template_without_end_is_refused_with_its_line() {
    let place = Place::new();
    for (template, why) in ENDLESS {
        place.write("endless.toml", &suite("endless", "Endless", template));
        for command in ["run ./endless.toml --trials 1 --quiet", "list ./endless.toml"] {
            let result = place.dyno(command).exits(2).without_panic();
            result.says("endless.toml:").says("test 1").says(why);
            place.assert_clean();
        }
    }
}

#[test]
fn a_template_that_doubles_a_text_is_given_up() {
    let place = Place::new();
    place.write("doubles.toml", &suite("doubles", "Doubles", DOUBLES));
    for arguments in ["run ./doubles.toml --trials 1 --quiet", "list ./doubles.toml"] {
        // With less memory than the machine has, so that the test takes little of it.
        let dyno = place.command();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v 2000000; exec \"$0\" {arguments}")]);
        command.arg(dyno.get_program()).current_dir(dyno.get_current_dir().unwrap());
        command.env("TMPDIR", place.path("data")).env_remove("DYNO_HOME");
        let result: Result = command.output().unwrap().into();
        result
            .exits(2)
            .without_panic()
            .says("doubles.toml:12: test 1: its text takes more than")
            .says("does a loop double it?");
        place.assert_clean();
    }
}

#[test]
fn a_signal_is_heard_while_a_template_loops() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let place = Place::new();
        place.write("loops.toml", &suite("loops", "Loops", LOOPS));
        let result = place.interrupted("run ./loops.toml --trials 1 --quiet", "lock", signal);
        result.exits(code).says("interrupted before the first trial").without_panic();
        place.assert_clean();
        assert!(!place.path("results").exists());
    }
}

#[test]
fn a_signal_is_heard_while_inputs_are_written() {
    let place = Place::new();
    let arguments = "run kv --n 20M --with sqlite/c --only insert-int --trials 1";
    let result = place.interrupted(arguments, "inputs/data/intkey.keys", Signal::SIGINT);
    result.exits(130).says("The inputs of this run take").says("interrupted before the first trial");
    place.assert_clean();
}

#[test]
fn inputs_that_cannot_be_had_are_refused_at_once() {
    let place = Place::new();
    place
        .dyno("run intuition --rows 1e13 --quiet")
        .exits(2)
        .says("the inputs of this run take 5600000.0 GB")
        .says("they do not fit into")
        .says("free. Take less (--n, --rows");
    place.dyno("run kv --n 5G --quiet").exits(2).says("sorts at most 4294967295 of them, not 5000000000");
    place.dyno("run import --rows 0 --quiet").exits(2);
    place.assert_clean();
}

#[test]
fn a_suite_writes_nothing_beside_its_run() {
    let place = Place::new();
    for name in ["../../x", "x/y", "..", "", "a b", "x\\u001b[31m"] {
        place.write("named.toml", &suite(name, "X", "SELECT 1;"));
        place.dyno("run ./named.toml --trials 1 --quiet").exits(2).says("named.toml:1: the suite's name");
    }
    let text = suite("x", "X", "SELECT 1;").replace("id = \"1\"", "id = \"../1\"");
    place.write("named.toml", &text);
    place.dyno("run ./named.toml --trials 1 --quiet").exits(2).says("named.toml:8: the test's id \"../1\"");
    place.write("included.toml", "include = \"../../etc/x\"\nname = \"x\"\ntitle = \"\"\nstory = \"\"\n");
    place.dyno("run ./included.toml").exits(2).says("include = \"../../etc/x\" is not a name");
    place.dyno("run /dev/zero").exits(2).says("longer than 16 MiB");
    assert!(!place.path("results").exists());
    place.assert_clean();
}

#[test]
fn a_name_mistyped_gets_the_nearest() {
    let place = Place::new();
    for (arguments, message) in [
        ("run spedtest", "there is no suite 'spedtest'; did you mean speedtest?"),
        ("run speedtest --with sqlight", "there is no engine 'sqlight'; did you mean sqlite?"),
        ("run speedtest --with sqlite:wal-norml", "did you mean wal-normal?"),
        ("run speedtest --with sqlite/sqlit3", "did you mean sqlite3?"),
        ("run kv --with sqlite/c+multrow", "did you mean multirow?"),
        ("run speedtest --with sqlite@sqlcypher", "did you mean sqlcipher?"),
        ("run speedtest --set scal=2", "this suite has no parameter 'scal'; did you mean scale?"),
        ("run intuition --only insert-narow", "no test 'insert-narow'; did you mean insert-narrow?"),
        ("run speedtest --with sqlite,jornal_mode=wal --quiet", "did you mean journal_mode?"),
        ("run speedtest --with sqlite,per_comit=10 --quiet", "did you mean per_commit?"),
        ("run speedtest --with sqlite --baseline sqlite:wall", "did you mean wal?"),
        ("list sqlight", "there is no engine and no suite 'sqlight'; did you mean sqlite?"),
        ("list sqlite:wal", "is a contender, and dyno lists engines and suites: `dyno list sqlite`"),
        ("conformance sqlight", "did you mean sqlite?"),
        ("engines install foo", "it installs versions of PostgreSQL, such as postgres@18"),
        ("engines install mysql@9", "scripts/install-mysql.sh"),
        ("shwo", "'show'"),
        ("run speedtest --wiht sqlite", "'--with'"),
    ] {
        place.dyno(arguments).exits(2).says(message).without_panic();
    }
    place.assert_clean();
}

#[test]
fn a_password_in_the_wrong_place_is_not_repeated() {
    let place = Place::new();
    let addresses = [
        "postgres://bob:hunter2@db/x",
        "postgres:/bob:hunter2@db/x",
        "bob:hunter2@db/x",
        "mysql://bob:hunter2",
        "postgres:bob:hunter2@db",
        "mariadb://db/x?password=hunter2",
        "host=db password=hunter2",
    ];
    for address in addresses {
        for arguments in [
            &[address][..],
            &["run", address],
            &["run", "speedtest", "--with", address],
            &["run", "speedtest", &format!("--with=sqlite,{address}")],
            &["run", "speedtest", "--baseline", address],
            &["run", "speedtest", "--only", address],
            &["run", "speedtest", "--set", &format!("scale={address}")],
            &["run", "speedtest", "--trials", address],
            &["run", "speedtest", "--file", address],
            &["run", "speedtest", "--urls", address],
            &["show", address],
            &["compare", address, "x.json"],
            &["report", "x.json", address],
            &["history", address],
            &["engines", "install", address],
            &["import", address, "--into", "x.db"],
            &["conformance", address],
        ] {
            let result: Result = place.command().args(arguments).output().unwrap().into();
            assert_ne!(result.code, Some(0), "{arguments:?}");
            let all = format!("{}{}", result.stdout, result.stderr);
            assert!(!all.contains("hunter2"), "{arguments:?}: {all}");
            assert!(!result.stderr.is_empty(), "{arguments:?}");
        }
    }
    place.write("x.csv", "a,b\n1,2\n");
    for into in
        ["postgres:/bob:hunter2@db/x", "MySQL:/bob:hunter2@db/x", "postgresql+psycopg://bob:hunter2@db/x"]
    {
        let result =
            place.dyno(&format!("import x.csv --into {into}")).exits(2).says("--into: the URL begins with");
        assert!(!result.stderr.contains("hunter2"), "{}", result.stderr);
    }
    place
        .dyno("run speedtest --with postgres://bob:hunter2@db")
        .exits(2)
        .says("takes a server's address after --url");
    place.assert_clean();
}

/// Nothing of what dyno printed can steer a terminal.
fn assert_plain(result: &Result) {
    for text in [&result.stdout, &result.stderr] {
        let steers = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
        assert!(!text.contains(steers) && !text.contains('\u{202e}'), "{text:?}");
    }
}

#[test]
fn control_characters_are_spelled_out() {
    let place = Place::new();
    let title = "X\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\r\\u202Ex";
    place.write("steers.toml", &suite("steers", title, "SELECT 'a\\u001b[31m';"));
    for format in ["table", "markdown", "csv", "json"] {
        let out = format!("{format}.json");
        let result = place
            .dyno(&format!("run ./steers.toml --trials 1 --format {format} -o {out}"))
            .exits(0)
            .prints("owned");
        assert_plain(&result);
        assert_plain(
            &place.dyno(&format!("show {out} --format {format} --costs --tax")).exits(0).prints("owned"),
        );
    }
    // JSON spells them so that programs get what the suite says.
    let shown = place.dyno("show json.json --format json").json();
    assert_eq!(shown["verdict"]["tests"][0]["title"], "X\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\u{202e}x");
    for arguments in [
        &["run", "./x\u{1b}[31m.toml"][..],
        &["run", "speedtest", "--with", "sqlite\u{1b}[31m:x"],
        &["show", "x\u{9b}31m\r.json"],
        &["history", "x\u{1b}[31m"],
        &["run", "speedtest", "--set", "sc\u{7}ale=1"],
        &["r\u{1b}[31mun\r"],
        &["run", "speedtest", "--trials", "1\u{1b}[31m\r"],
    ] {
        let result: Result = place.command().args(arguments).output().unwrap().into();
        assert_plain(&result.exits(2));
    }
    place.assert_clean();
}

#[test]
fn a_run_file_cannot_steer_the_terminal() {
    let place = Place::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json");
    let mut run = read_json(&golden);
    let nasty = "x\u{1b}[2J\r\u{9b}31m";
    run["suite"]["name"] = nasty.into();
    run["suite"]["title"] = nasty.into();
    run["machine"]["kernel"]["release"] = nasty.into();
    run["tests"][0]["title"] = nasty.into();
    let label = run["contenders"][0]["label"].as_str().unwrap().to_owned();
    run["contenders"][0]["label"] = nasty.into();
    if run["baseline"] == label.as_str() {
        run["baseline"] = nasty.into();
    }
    run["contenders"][0]["hello"]["engine_version"] = nasty.into();
    run["trials"][0]["failure"] = serde_json::json!({ "message": nasty });
    run["contenders"][1]["reason"] = "right \u{202e} to left".into();
    fs::create_dir(place.path("results")).unwrap();
    place.write("results/run.json", &run.to_string());
    for arguments in [
        "show results/run.json --costs",
        "show results/run.json --format markdown",
        "show results/run.json --format csv",
        "show results/run.json --format json",
        "compare results/run.json results/run.json",
        "history",
        "history another",
    ] {
        let result = place.dyno(arguments).without_panic();
        assert!(!format!("{}{}", result.stdout, result.stderr).is_empty(), "{arguments}");
        assert_plain(&result);
    }
    for page in ["page.html", "page.md"] {
        place.dyno(&format!("report results/run.json -o {page}")).exits(0);
        let text = fs::read_to_string(place.path(page)).unwrap();
        let steering = text.chars().find(|letter| dyno_show::steers(*letter));
        assert_eq!(steering, None, "{page} holds a character that steers a terminal");
    }
    // A recorded run whose name is invalid is not run again.
    run["suite"]["text"] = fs::read_to_string(repository().join("suites/speedtest.toml"))
        .unwrap()
        .replacen("name = \"speedtest\"", "name = \"../../x\"", 1)
        .into();
    place.write("again.json", &run.to_string());
    assert_plain(&place.dyno("rerun again.json").exits(2).says("the suite's name \"../../x\""));
    place.assert_clean();
}
