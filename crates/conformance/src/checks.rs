//! The checks of the contract and of statements, one duty each.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{Hello, PROTOCOL, Setting, Value, Work};

use super::duty::{Duty, Needs};
use super::script::{Script, answered, failed, finished};

/// Every check of the contract itself and of the model `statements`, with the duty that it looks at.
pub const ALL: [Duty; 21] = [
    ("a job without tests is answered with hello and bye", Needs::Nothing, probe),
    ("hello names the protocol, the runner and the engine's version", Needs::Nothing, introduces_itself),
    ("every setting asked for is read back", Needs::Settings, reads_back),
    ("what the job wants read back is read back, and no list of the runner's own", Needs::Engine, reads_list),
    ("a setting that does not exist is a failure", Needs::Engine, unknown_setting),
    ("samples count operations and come in the tests' order", STATEMENTS, counts),
    ("the time of a sample lies within the time of its trial", STATEMENTS, time_is_plausible),
    ("later tests see what earlier ones did", SQL, state_stays),
    ("a trial begins with an empty database", SQL, begins_empty),
    ("rows of statements are the answer, with their types", SQL, answers_with_types),
    ("a check's rows are the answer, and only they", SQL, check_is_the_answer),
    ("a large answer arrives whole", SQL, large_answer),
    ("what a test left is there when the database was closed and opened again", SQL, read_again),
    ("what ends with the connection is missed then", SQL, missed),
    ("a statement that fails is named, with the engine's words", SQL, failing_statement),
    ("the runner reports a check that fails", SQL, failing_check),
    ("the runner reports an input that is missing", STATEMENTS, missing_input),
    ("the runner reports an input that is cut short", STATEMENTS, truncated_input),
    ("the runner reports an input with fewer statements than promised", STATEMENTS, short_count),
    ("another version of the protocol is refused", Needs::Nothing, other_protocol),
    ("a job that is no job is refused", Needs::Nothing, nonsense_job),
];

/// Checks that the harness passes too.
const STATEMENTS: Needs = Needs::Models(&["statements"]);
/// Checks of what an engine stores and answers.
const SQL: Needs = Needs::Stored(&["statements"]);

const CREATE: &str = "CREATE TABLE t(a INTEGER, b VARCHAR(100))";
const INSERT: &str = "INSERT INTO t VALUES(1,'one')";

fn probe(script: &Script) -> Result<()> {
    let trial = script.run(&[])?;
    finished(&trial)?;
    ensure!(trial.hello.is_some() && trial.samples.is_empty(), "there was no hello, or a sample");
    Ok(())
}

fn introduces_itself(script: &Script) -> Result<()> {
    let hello = script.run(&[])?.hello.context("there was no hello")?;
    ensure!(hello.protocol == PROTOCOL, "it names protocol {}", hello.protocol);
    for (what, text) in [("runner", &hello.runner), ("engine_version", &hello.engine_version)] {
        ensure!(!text.trim().is_empty(), "{what} is empty");
    }
    Ok(())
}

fn reads_back(script: &Script) -> Result<()> {
    let trial = script.run(&[])?;
    finished(&trial)?;
    let hello = trial.hello.context("there was no hello")?;
    let contender = script.contender;
    let differences = contender.engine.differences(&contender.settings, &hello.settings);
    match differences.first() {
        Some(difference) => bail!("{difference}"),
        None => Ok(()),
    }
}

fn reads_list(script: &Script) -> Result<()> {
    let listed = &script.contender.engine.read_back;
    let hello = |names: &[&str]| -> Result<Hello> {
        let mut contender = script.contender.clone();
        contender.engine.read_back = names.iter().map(|name| (*name).to_owned()).collect();
        let trial = script.with(&contender).run(&[])?;
        finished(&trial)?;
        trial.hello.context("there was no hello")
    };
    let reports = |hello: &Hello, name: &str| hello.settings.iter().any(|known| known.name == name);
    let (none, unknown) = (hello(&[])?, hello(&["no_such_setting"])?);
    ensure!(!reports(&unknown, "no_such_setting"), "it reads back a setting that does not exist");
    let asked = |name: &str| script.contender.settings.iter().any(|setting| setting.name == name);
    let unasked: Vec<&str> = listed.iter().map(String::as_str).filter(|name| !asked(name)).collect();
    if let Some(name) = unasked.iter().find(|name| reports(&none, name)) {
        bail!("it reports {name}, which the job does not ask for");
    }
    // An engine has not all that is listed for its versions.
    for name in &unasked {
        if reports(&hello(&[name])?, name) {
            return Ok(());
        }
    }
    ensure!(unasked.is_empty(), "it reads back none of {}", unasked.join(", "));
    Ok(())
}

fn unknown_setting(script: &Script) -> Result<()> {
    let setting = Setting { name: "no_such_setting".into(), value: "1".into() };
    let mut contender = script.contender.clone();
    contender.settings.push(setting);
    let trial = script.with(&contender).run(&[])?;
    failed(&trial, None, &["no_such_setting"])
}

fn counts(script: &Script) -> Result<()> {
    let trial = script.run(&[(&[CREATE, INSERT, INSERT], None), (&[INSERT], None)])?;
    finished(&trial)?;
    let operations: Vec<u64> = trial.samples.iter().map(|sample| sample.operations).collect();
    ensure!(operations == [3, 1], "the operations are {operations:?} and should be [3, 1]");
    Ok(())
}

fn time_is_plausible(script: &Script) -> Result<()> {
    let inserts = vec![INSERT; 200];
    let began = Instant::now();
    let trial = script.run(&[(&[CREATE], None), (&inserts, None)])?;
    let whole = began.elapsed().as_nanos() as u64;
    finished(&trial)?;
    let times: Vec<u64> = trial.samples.iter().map(|sample| sample.section.nanoseconds).collect();
    ensure!(times.iter().all(|&time| time > 0), "a sample took no time: {times:?}");
    ensure!(times.iter().sum::<u64>() < whole, "samples of {times:?} ns in a trial of {whole} ns");
    Ok(())
}

fn state_stays(script: &Script) -> Result<()> {
    let trial = script.run(&[(&[CREATE, INSERT], None), (&["SELECT a, b FROM t"], None)])?;
    finished(&trial)?;
    answered(&trial, 2, &[vec![Value::Integer(1), Value::Text("one".into())]])
}

fn begins_empty(script: &Script) -> Result<()> {
    for _ in 0..2 {
        // The second time it fails if the first left its table.
        finished(&script.run(&[(&[CREATE, INSERT], None)])?)?;
    }
    Ok(())
}

fn answers_with_types(script: &Script) -> Result<()> {
    let statements = ["SELECT 7, -9007199254740993, 0.5, 'it''s ünï', CAST(NULL AS CHAR)", "SELECT 2"]
        .map(|query| script.without_table(query));
    let trial = script.run(&[(&statements.each_ref().map(String::as_str), None)])?;
    finished(&trial)?;
    let row = vec![
        Value::Integer(7),
        Value::Integer(-9_007_199_254_740_993),
        Value::Real(0.5),
        Value::Text("it's ünï".into()),
        Value::Null,
    ];
    answered(&trial, 1, &[row, vec![Value::Integer(2)]])
}

pub(super) fn check_is_the_answer(script: &Script) -> Result<()> {
    let statements = [CREATE, INSERT, INSERT, "SELECT a FROM t"];
    let trial = script.run(&[(&statements, Some("SELECT count(*), sum(a) FROM t"))])?;
    finished(&trial)?;
    answered(&trial, 1, &[vec![Value::Integer(2), Value::Integer(2)]])
}

fn large_answer(script: &Script) -> Result<()> {
    let inserts: Vec<String> = (0..100).map(|i| format!("INSERT INTO t VALUES({i},'row {i}')")).collect();
    let statements: Vec<&str> = [CREATE].into_iter().chain(inserts.iter().map(String::as_str)).collect();
    let query = "SELECT x.a, y.b FROM t x CROSS JOIN t y ORDER BY x.a, y.a";
    let trial = script.run(&[(&statements, None), (&[query], None)])?;
    finished(&trial)?;
    let row = |x: i64, y: i64| vec![Value::Integer(x), Value::Text(format!("row {y}"))];
    let rows: Vec<_> = (0..100).flat_map(|x| (0..100).map(move |y| row(x, y))).collect();
    answered(&trial, 2, &rows)
}

fn read_again(script: &Script) -> Result<()> {
    finished(&script.run_whole(&[(&[CREATE, INSERT], Some("SELECT a, b FROM t"))])?)
}

fn missed(script: &Script) -> Result<()> {
    // Another kind of temporary table lasts there, with no rows.
    let (create, gone) = match script.contender.engine.dialect.as_str() {
        "derby" => ("DECLARE GLOBAL TEMPORARY TABLE SESSION.gone(a INTEGER) NOT LOGGED", "SESSION.gone"),
        "hsqldb" => ("DECLARE LOCAL TEMPORARY TABLE gone(a INTEGER)", "gone"),
        _ => ("CREATE TEMPORARY TABLE gone(a INTEGER)", "gone"),
    };
    let trial = script.run_whole(&[(&[create], Some(&format!("SELECT COUNT(*) FROM {gone}")))])?;
    let hello = trial.hello.as_ref().context("there was no hello")?;
    // A database that ends with its process is closed and not opened again.
    match hello.settings.iter().any(|setting| setting.name == "database" && setting.value != "file") {
        true => finished(&trial),
        false => failed(&trial, None, &["test 1", "gone"]),
    }
}

fn failing_statement(script: &Script) -> Result<()> {
    let bad = "INSERT INTO no_such_table VALUES(1)";
    let trial = script.run(&[(&[CREATE], None), (&[INSERT, bad, INSERT], None), (&[INSERT], None)])?;
    failed(&trial, Some("2"), &["no_such_table", "statement 2"])?;
    ensure!(trial.samples.len() == 1, "the samples before the failure must stand, and only they");
    Ok(())
}

fn failing_check(script: &Script) -> Result<()> {
    let trial = script.run(&[(&[CREATE], Some("SELECT * FROM no_such_table"))])?;
    failed(&trial, None, &["no_such_table"]).or_else(|_| failed(&trial, Some("1"), &["no_such_table"]))
}

fn missing_input(script: &Script) -> Result<()> {
    let trial = script.run_changed(&[(&[CREATE], None)], |job, folder| {
        let file = folder.join("nothing here");
        job.tests[0].work = Work::Statements { file, count: 1 };
        Ok(())
    })?;
    failed(&trial, Some("1"), &["nothing here"])
}

fn truncated_input(script: &Script) -> Result<()> {
    let trial = script.run_changed(&[(&[CREATE, INSERT], None)], |_, folder| {
        let file = folder.join("1.statements");
        let text = fs::read(&file)?;
        Ok(fs::write(&file, &text[..text.len() - 4])?)
    })?;
    failed(&trial, Some("1"), &["1.statements"])
}

fn short_count(script: &Script) -> Result<()> {
    let trial = script.run_changed(&[(&[CREATE, INSERT], None)], |job, folder| {
        let file = folder.join("1.statements");
        job.tests[0].work = Work::Statements { file, count: 3 };
        Ok(())
    })?;
    failed(&trial, Some("1"), &["3", "2"])
}

fn other_protocol(script: &Script) -> Result<()> {
    for version in [PROTOCOL - 1, PROTOCOL + 1] {
        let trial = script.run_changed(&[], |job, _| {
            job.protocol = version;
            Ok(())
        })?;
        failed(&trial, None, &[&version.to_string(), &PROTOCOL.to_string()])?;
    }
    Ok(())
}

fn nonsense_job(script: &Script) -> Result<()> {
    for text in ["", "{", "[1,2,3]", "{\"protocol\":1}"] {
        let trial = script.run_text(text)?;
        failed(&trial, None, &[]).with_context(|| format!("given the job {text:?}"))?;
    }
    Ok(())
}
