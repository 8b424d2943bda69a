//! Looks again at a disk that was kept, by the same subject as before. If another user may have kept it, dyno asks first.

use std::path::Path;

use anyhow::{Context, Result};
use dyno_engine::Contender;
use dyno_prove::context::ProofContext;
use dyno_prove::evidence::KeptEvidence;
use dyno_prove::subject::Subject;
use dyno_show::durability;

use super::maker::Maker;
use crate::cli::ProveArgs;
use crate::commands::outcome::{AsInput, Exit, print};
use crate::commands::run::trust::{Origin, confirm};

/// The use that dyno would make of evidence, for the question whether the user trusts it.
const USE: &str = "data that another user can have written: dyno mounts their disk, and the engine opens them; those of a \
                   server can name programs to start";

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

/// Opens a folder of evidence.
///
/// # Errors
/// It cannot be opened, or others than the user can have written what is there, and the user does not trust them.
pub fn open(folder: &Path, trust: bool) -> Result<KeptEvidence> {
    let kept = KeptEvidence::open(folder).input()?;
    if !kept.is_own()? {
        let origin = Origin { name: folder.display().to_string(), contenders: false, suite: false };
        confirm(&[USE.to_owned()], &origin, trust)?;
    }
    Ok(kept)
}

/// Says what is wrong on the disk that was kept; it is done if something is.
pub fn look(kept: &KeptEvidence, context: &ProofContext, subjects: Vec<Named>) -> Result<Exit> {
    let facts = kept.facts().input()?;
    let subject = subjects.iter().find(|(label, _)| *label == facts.label);
    let (label, subject) = subject
        .with_context(|| format!("the disk is one of {}: name it with --with", facts.label))
        .input()?;
    let harm = context.again(subject.as_ref(), kept, &facts)?.harm();
    let acknowledged = facts.acknowledged.len();
    let said = match harm.is_none() {
        true => "nothing is wrong".to_owned(),
        false => durability::what(&harm),
    };
    print(&format!("{label}: {}; {acknowledged} commits were acknowledged: {said}\n", facts.cut))?;
    Ok(if harm.is_none() { Exit::Incomplete } else { Exit::Done })
}
