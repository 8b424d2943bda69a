//! The checks of mixes whose statements depend on each other: parameters from rows, statements that are repeated, and
//! operations that end otherwise than by a commit.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use dyno_lab::trial::Trial;
use dyno_protocol::{
    LoopSource, MixClass, MixLoop, MixRows, MixStatement, MixValue, MixWork, Purpose, StepField, StepFile,
    StepKind, StepList, Test, Value, Work,
};

use super::duty::{Duty, Needs};
use super::script::{Script, answered, finished};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 4] = [
    ("values of rows are parameters of later statements", Needs::StoredClients, rows),
    ("statements are repeated for the items of a list, and for rows", Needs::StoredClients, repeated),
    ("an operation without a row that it needs has failed", Needs::StoredClients, missing),
    ("an operation is undone where that is planned", Needs::StoredClients, undone),
];

const CLIENTS: u32 = 2;
/// Steps of each client.
const STEPS: u64 = 8;
const CREATE: [&str; 5] = [
    "CREATE TABLE source(id INTEGER NOT NULL PRIMARY KEY, n BIGINT, r DOUBLE PRECISION, t VARCHAR(400))",
    "CREATE TABLE copied(id INTEGER NOT NULL, n BIGINT, r DOUBLE PRECISION, t VARCHAR(400))",
    "CREATE TABLE line(id INTEGER NOT NULL, number INTEGER NOT NULL)",
    "INSERT INTO source VALUES(1, 5000000000, 0.1, 'one ''word'''), (2, NULL, NULL, NULL)",
    "INSERT INTO source VALUES(3, -7, -2.5e10, \
     'a long text of more bytes than anybody has made room for before it came, so that it has to be fetched once more, \
     by itself, from wherever the library has put it, as bytes that lie one after another up to their end, which is \
     farther away than two hundred and fifty-six bytes: here it is, at last')",
];
const CHECK: &str = "SELECT \
    (SELECT count(*) FROM copied), \
    (SELECT count(*) FROM copied JOIN source ON source.id = copied.id \
     WHERE (copied.n = source.n OR (copied.n IS NULL AND source.n IS NULL)) \
     AND (copied.r = source.r OR (copied.r IS NULL AND source.r IS NULL)) \
     AND (copied.t = source.t OR (copied.t IS NULL AND source.t IS NULL))), \
    (SELECT count(*) FROM line), (SELECT coalesce(sum(number), 0) FROM line)";
/// The fields of a step: an id of a source, whether it is rolled back, the number of items, and the items.
const FIELDS: [&str; 6] = ["id", "undo", "line, count", "line.number, 1", "line.number, 2", "line.number, 3"];

fn statement(text: &[&str], parameters: &[MixValue]) -> MixStatement {
    let text = text.iter().map(|piece| (*piece).to_owned()).collect();
    MixStatement { text, parameters: parameters.to_vec(), ..MixStatement::default() }
}

fn keeping(columns: usize, all: bool, may_miss: bool, statement: MixStatement) -> MixStatement {
    MixStatement { keeps: Some(MixRows { columns, all, may_miss }), ..statement }
}

const ID: MixValue = MixValue::Field(0);

/// A trial of a class whose steps go through the sources, with 0 to 3 items.
fn run(script: &Script, class: MixClass, undo: u64) -> Result<Trial> {
    let file = |number: u32, folder: &Path| -> Result<StepFile> {
        let file = folder.join(format!("{number}.steps"));
        let step =
            |place: u64| [0, 0, place % 3 + 1, undo, place % 4, 1, 2, 3].map(u64::to_le_bytes).concat();
        fs::write(&file, (0..STEPS).map(step).collect::<Vec<_>>().concat())?;
        Ok(StepFile { file, count: STEPS })
    };
    script.run_changed(&[(&CREATE, None)], |job, folder| {
        let field = |name: &str| StepField { name: name.into(), kind: StepKind::Integer, bytes: 8 };
        let work = Work::Mix(MixWork {
            classes: vec![MixClass { name: "rows".into(), transaction: Some(Purpose::Write), ..class }],
            fields: FIELDS.map(field).into(),
            lists: vec![StepList { name: "line".into(), count: 2, first: 3, columns: 1, most: 3 }],
            clients: CLIENTS,
            steps: (1..=CLIENTS).map(|number| file(number, folder)).collect::<Result<_>>()?,
            patience_ns: 20_000_000_000,
            ..MixWork::default()
        });
        job.tests.push(Test {
            id: "2".into(),
            setup: Vec::new(),
            work,
            check: Some(script.without_table(CHECK)),
        });
        Ok(())
    })
}

/// The class must report these numbers of operations done, rolled back and failed.
fn did(trial: &Trial, wanted: (u64, u64, u64)) -> Result<()> {
    finished(trial)?;
    let class = &trial.samples[1].classes[0];
    let found = (class.done, class.undone, class.failed);
    ensure!(found == wanted, "(done, undone, failed) are {found:?} and should be {wanted:?}");
    Ok(())
}

fn row(numbers: [i64; 4]) -> Vec<Vec<Value>> {
    vec![numbers.map(Value::Integer).into()]
}

/// Copies the source that the step names.
fn copying(may_miss: bool, from: &str) -> Vec<MixStatement> {
    let read = statement(&["SELECT n, r, t FROM source WHERE id = ", from], &[ID]);
    let column = |column| MixValue::Row { statement: 0, column };
    let insert = ["INSERT INTO copied(id, n, r, t) VALUES(", ", ", ", ", ", ", ")"];
    vec![keeping(3, false, may_miss, read), statement(&insert, &[ID, column(0), column(1), column(2)])]
}

fn rows(script: &Script) -> Result<()> {
    let trial = run(script, MixClass { statements: copying(false, ""), ..MixClass::default() }, 0)?;
    did(&trial, (16, 0, 0))?;
    answered(&trial, 2, &row([16, 16, 0, 0]))
}

fn repeated(script: &Script) -> Result<()> {
    let all = statement(&["SELECT id FROM source WHERE id <= ", " ORDER BY id"], &[ID]);
    let class = MixClass {
        statements: vec![
            statement(
                &["INSERT INTO line(id, number) VALUES(", ", ", ")"],
                &[ID, MixValue::Item { item: 0 }],
            ),
            keeping(1, true, false, all),
            statement(&["INSERT INTO copied(id) VALUES(", ")"], &[MixValue::Row { statement: 1, column: 0 }]),
        ],
        loops: vec![
            MixLoop { first: 0, count: 1, over: LoopSource::List(0) },
            MixLoop { first: 2, count: 1, over: LoopSource::Rows(1) },
        ],
        ..MixClass::default()
    };
    let trial = run(script, class, 0)?;
    did(&trial, (16, 0, 0))?;
    // Eight steps have 0, 1, 2, 3, 0, 1, 2, 3 items, whose numbers are 0, 1, 3, 6 together, and 1, 2, 3, 1, 2, 3, 1, 2 rows.
    // Of the rows without values only the second source's are alike.
    answered(&trial, 2, &row([30, 10, 24, 40]))
}

fn missing(script: &Script) -> Result<()> {
    // The third source is not found.
    let from = " AND id < 3";
    let trial = run(script, MixClass { statements: copying(false, from), ..MixClass::default() }, 0)?;
    did(&trial, (12, 0, 4))?;
    let failure = &trial.samples[1].classes[0].failure;
    ensure!(failure.contains("no row came of"), "the failure says '{failure}'");
    answered(&trial, 2, &row([12, 12, 0, 0]))?;
    let trial = run(script, MixClass { statements: copying(true, from), ..MixClass::default() }, 0)?;
    did(&trial, (16, 0, 0))?;
    answered(&trial, 2, &row([12, 12, 0, 0]))
}

fn undone(script: &Script) -> Result<()> {
    let class = MixClass { statements: copying(false, ""), rollback_if: Some(1), ..MixClass::default() };
    let trial = run(script, class, 1)?;
    did(&trial, (16, 16, 0))?;
    answered(&trial, 2, &row([0, 0, 0, 0]))
}
