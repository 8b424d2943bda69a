//! The checks of mixes whose statements are not prepared beforehand, or are timed, and of clients that share threads.

use std::fs;

use anyhow::{Result, ensure};
use dyno_lab::trial::Trial;
use dyno_protocol::{MixWork, QueryProtocol, Test, Work};

use super::duty::{Duty, Needs};
use super::mix::{CLIENTS, CREATE, STEPS, did, mix, row, run};
use super::script::{Script, answered};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 4] = [
    ("statements that are not prepared get the same values", Needs::Simple, simple),
    ("each statement of an operation is timed where a job asks for it", Needs::StatementTimes, statements),
    (
        "clients that share threads wait for each other's locks and lose nothing",
        Needs::SharedThreads,
        threads,
    ),
    ("clients that share a thread do nothing before it is due", Needs::SharedThreads, due),
];

/// The clients that share threads.
const MANY: u32 = 8;

/// The sum that must be left of values that a statement's text must quote: all texts are `a'\`, and no sum is lost.
const CHECK: &str = "SELECT (SELECT sum(balance) FROM account), (SELECT count(*) FROM moved), \
                     (SELECT count(*) FROM moved WHERE substr(note, 1, 2) = 'a''' AND length(note) = 3), \
                     (SELECT sum(client) FROM moved)";

fn simple(script: &Script) -> Result<()> {
    // With none prepared, and with both in one connection.
    for classes in [0..2, 0..1] {
        let trial = script.run_changed(&[(&CREATE, None)], |job, folder| {
            let mut mix = mix(folder, CLIENTS, CLIENTS as usize, STEPS, |_| 0)?;
            mix.classes[classes.clone()].iter_mut().for_each(|class| class.protocol = QueryProtocol::Simple);
            // A negative number after this would begin a comment.
            mix.classes[0].statements[1].text[0] = "UPDATE account SET balance = balance -".into();
            rewrite(&mix)?;
            let work = Work::Mix(mix);
            job.tests.push(Test {
                id: "2".into(),
                setup: Vec::new(),
                work,
                check: Some(script.without_table(CHECK)),
            });
            Ok(())
        })?;
        let moved = u64::from(CLIENTS) * STEPS / 2;
        did(&trial, [moved, moved])?;
        let moved = moved as i64;
        answered(&trial, 2, &row(&[0, moved, moved, moved * 2]))?;
    }
    Ok(())
}

/// Puts values into the steps that need to be quoted: a negative number, and a quote and a backslash.
fn rewrite(mix: &MixWork) -> Result<()> {
    let bytes = mix.step_bytes() as usize;
    for steps in &mix.steps {
        let mut all = fs::read(&steps.file)?;
        for step in all.chunks_exact_mut(bytes) {
            step[24..32].copy_from_slice(&(-7_i64).to_le_bytes());
            step[bytes - 5..bytes - 2].copy_from_slice(br"a'\");
        }
        fs::write(&steps.file, all)?;
    }
    Ok(())
}

fn statements(script: &Script) -> Result<()> {
    let trial = run(script, |folder| {
        Ok(MixWork { times_statements: true, ..mix(folder, CLIENTS, CLIENTS as usize, STEPS, |_| 0)? })
    })?;
    let moved = u64::from(CLIENTS) * STEPS / 2;
    did(&trial, [moved, moved])?;
    for (class, wanted) in trial.samples[1].classes.iter().zip([5, 1]) {
        let texts: Vec<&str> = class.statements.iter().map(|statement| statement.text.as_str()).collect();
        ensure!(texts.len() == wanted, "class {} has times of {texts:?}", class.class);
        let is_transaction = wanted > 1;
        let has_brackets = texts.first() == Some(&"BEGIN") && texts.last() == Some(&"COMMIT");
        ensure!(has_brackets == is_transaction, "class {} has times of {texts:?}", class.class);
        for statement in &class.statements {
            let timed = statement.response.histogram()?.map_or(0, |histogram| histogram.len());
            ensure!(timed == moved, "{} has {timed} times of {moved}", statement.text);
        }
    }
    let moved = moved as i64;
    answered(&trial, 2, &row(&[0, moved, moved, moved * 2]))
}

fn threads(script: &Script) -> Result<()> {
    for (threads, expected) in [(1, 1), (3, 3), (MANY, MANY)] {
        let trial = run(script, |folder| {
            Ok(MixWork { threads: Some(threads), ..mix(folder, MANY, MANY as usize, STEPS, |_| 0)? })
        })?;
        moved(&trial, u64::from(MANY) * STEPS / 2, u64::from(MANY * (MANY + 1) / 2) * STEPS / 2)?;
        let used = trial.samples[1].threads;
        ensure!(used == u64::from(expected), "{MANY} clients had {used} threads of {expected}");
    }
    Ok(())
}

fn due(script: &Script) -> Result<()> {
    // All share one file, whose steps are one after another: as many at a time as the server is slow.
    const ALL: u64 = 200;
    let trial = run(script, |folder| {
        Ok(MixWork { threads: Some(1), ..mix(folder, MANY, 1, ALL, |place| 1_000_000 * (place + 1))? })
    })?;
    moved(&trial, ALL / 2, ALL / 2)?;
    let section = &trial.samples[1].section;
    ensure!(section.nanoseconds >= ALL * 1_000_000, "the last step was done before it was due");
    for class in &trial.samples[1].classes {
        let late = class.late.histogram()?.map_or(0, |histogram| histogram.len());
        ensure!(late == ALL / 2, "of {} of {} steps it is known how late they were", late, ALL / 2);
    }
    Ok(())
}

/// All operations are done and left what they must: `count` moves, by clients whose numbers have this sum.
fn moved(trial: &Trial, count: u64, clients: u64) -> Result<()> {
    did(trial, [count, count])?;
    answered(trial, 2, &row(&[0, count as i64, count as i64, clients as i64]))
}
