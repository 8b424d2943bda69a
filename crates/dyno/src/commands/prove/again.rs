//! Looks again at a disk that was kept, by the same subject as before.

use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_prove::evidence::RecheckFacts;
use dyno_prove::proof::ProofContext;
use dyno_prove::subject::Subject;
use dyno_show::durability;

use super::maker::Maker;
use crate::cli::ProveArgs;
use crate::commands::outcome::{AsInput, Exit, print};

/// A subject with its name.
type Named = (String, Box<dyn Subject>);

/// All subjects that the command line names.
pub fn subjects(
    arguments: &ProveArgs,
    contenders: &[Contender],
    imports: Vec<Named>,
    maker: &Maker,
) -> Result<Vec<Named>> {
    let mut subjects = imports;
    if let (Some(command), Some(check)) = (&arguments.command, &arguments.check) {
        let label = arguments.label.as_ref().unwrap_or(command);
        subjects.push((label.clone(), Box::new(maker.program(command, check))));
    }
    for contender in contenders {
        let subject = maker.subject(contender, arguments)?;
        subjects.push((contender.label.clone(), subject));
    }
    Ok(subjects)
}

/// Says what is wrong on the disk in a folder; it is done if something is.
pub fn look(folder: &Path, context: &ProofContext, subjects: Vec<Named>) -> Result<Exit> {
    let about = RecheckFacts::read(folder).input()?;
    let subject = subjects.iter().find(|(label, _)| *label == about.label);
    let (label, subject) = subject
        .with_context(|| format!("the disk is one of {}: name it with --with", about.label))
        .input()?;
    let harm = context.again(subject.as_ref(), folder, &about)?.harm();
    let acknowledged = about.acknowledged.len();
    let said = match harm.is_none() {
        true => "nothing is wrong".to_owned(),
        false => durability::what(&harm),
    };
    print(&format!("{label}: {}; {acknowledged} commits were acknowledged: {said}\n", about.cut))?;
    Ok(if harm.is_none() { Exit::Incomplete } else { Exit::Done })
}
