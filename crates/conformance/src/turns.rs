//! The checks of turns: a test that is done in slices does what it does in one piece, and a turn is no longer than it
//! was given.

use anyhow::{Result, ensure};
use dyno_protocol::Waiting;

use super::duty::{Duty, Needs};
use super::script::{Script, answered, failed, finished};
use super::{checks, kv, rows};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 6] = [
    ("in turns, a runner does as many statements as it may", Needs::Turns(&["statements"]), parts_statements),
    ("in turns, a statement that fails is named", Needs::StoredTurns(&["statements"]), fails),
    ("in turns, a check's rows are the answer", Needs::StoredTurns(&["statements"]), |script| {
        checks::check_is_the_answer(&in_turns(script))
    }),
    ("in turns, rows are inserted to the last byte", Needs::StoredTurns(&["insert-rows"]), |script| {
        rows::inserts(&in_turns(script))
    }),
    ("in turns, pairs are put and found", Needs::StoredTurns(&["kv-put", "kv-get"]), |script| {
        kv::puts(&in_turns(script))
    }),
    ("in turns, pairs are deleted", Needs::StoredTurns(&["kv-put", "kv-delete"]), |script| {
        kv::deletes(&in_turns(script))
    }),
];

/// The number of operations of a turn: few enough that transactions are split, and no divisor of their sizes.
const TURN: u64 = 7;

fn in_turns<'a>(script: &'a Script) -> Script<'a> {
    Script { turn: Some(TURN), ..*script }
}

fn parts_statements(script: &Script) -> Result<()> {
    const STATEMENTS: [&str; 20] = ["SELECT 1"; 20];
    let mut waits: Vec<Waiting> = Vec::new();
    let trial = script.run_giving(&[(&STATEMENTS, None), (&["SELECT 2"], None)], |waiting| {
        waits.push(waiting);
        TURN
    })?;
    finished(&trial)?;
    let far: Vec<(u64, u64)> = waits.iter().map(|waiting| (waiting.done, waiting.of)).collect();
    ensure!(far == [(0, 20), (7, 20), (14, 20), (0, 1)], "it waited at {far:?} of turns of {TURN}");
    let elapsed: Vec<u64> = waits.iter().map(|waiting| waiting.nanoseconds).collect();
    ensure!(
        elapsed[0] == 0 && elapsed[0] < elapsed[1] && elapsed[1] < elapsed[2] && elapsed[3] == 0,
        "it waited after {elapsed:?} ns, which should be what the test has taken"
    );
    let operations: Vec<u64> = trial.samples.iter().map(|sample| sample.operations).collect();
    ensure!(operations == [20, 1], "the operations are {operations:?} and should be [20, 1]");
    let whole = trial.samples[0].section.nanoseconds;
    ensure!(elapsed[2] < whole, "a sample of {whole} ns had taken {} ns before its last turn", elapsed[2]);
    if script.contender.engine.harness {
        return Ok(());
    }
    answered(&trial, 1, &vec![vec![dyno_protocol::Value::Integer(1)]; 20])
}

fn fails(script: &Script) -> Result<()> {
    let mut statements = ["SELECT 1"; 20];
    statements[9] = "SELECT * FROM no_such_table";
    let trial = script.run_giving(&[(&statements, None)], |_| TURN)?;
    failed(&trial, Some("1"), &["no_such_table", "statement 10"])
}
