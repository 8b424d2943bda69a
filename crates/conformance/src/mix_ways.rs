//! The checks of mixes whose statements are not prepared beforehand, or are timed.

use std::fs;

use anyhow::{Result, ensure};
use dyno_protocol::{MixWork, QueryProtocol, Test, Work};

use super::duty::{Duty, Needs};
use super::mix::{CLIENTS, CREATE, STEPS, did, mix, row, run};
use super::script::{Script, answered};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 2] = [
    ("statements that are not prepared get the same values", Needs::Simple, simple),
    ("each statement of an operation is timed where a job asks for it", Needs::StatementTimes, statements),
];

/// What must be left of values that a statement's text must quote: all texts are `a'\`, and no sum is lost.
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
            job.tests.push(Test { id: "2".into(), setup: Vec::new(), work, check: Some(CHECK.into()) });
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
