//! The databases that `--keep` keeps: which can be, and where they are at the end.

use anyhow::{Result, ensure};
use dyno_engine::Contender;
use dyno_lab::key;
use dyno_lab::run::{KeptDatabases, Place};
use dyno_plan::Plan;
use dyno_record::Run;

use super::outputs::file_time;

/// Refuses a contender whose database could not be used after the run.
///
/// # Errors
/// Its server, its file system or its key goes with the run.
pub fn check(contender: &Contender) -> Result<()> {
    let label = &contender.label;
    ensure!(
        !contender.engine.has_server() || contender.url.is_some(),
        "--keep keeps databases in files and those on a server that --url names; the server of {label} is one that dyno \
         starts and removes: leave --keep or {label} out, or name a server"
    );
    ensure!(
        contender.file_system.is_none(),
        "--keep keeps no database on a file system that dyno makes for the run, as that of {label}: leave one of the two out"
    );
    ensure!(
        !contender.encrypts() || contender.url.is_some() || !contender.key.as_ref().is_some_and(key::is_made),
        "--keep would keep a database of {label} that cannot be opened: dyno makes a key for the run and forgets it; give one \
         by --key-file or DYNO_KEY"
    );
    Ok(())
}

/// Moves databases to where the user finds them. Returns a line about each contender.
///
/// # Errors
/// They cannot be moved.
pub fn hand_over(left: KeptDatabases, run: &Run, plan: &Plan) -> Result<Vec<String>> {
    let stem = format!("{}-{}-databases", file_time(&run.started), run.suite.name);
    let places = left.hand_over(plan, &stem)?;
    let line = |index: usize, label: &str| match places.get(&index) {
        Some(Place::Folder(folder)) => format!("The database of {label} is kept in {}.", folder.display()),
        Some(Place::Server(name)) => {
            format!(
                "The database of {label} is kept on its server, as {name}; DROP DATABASE {name} removes it."
            )
        }
        Some(Place::Nowhere) => format!("{label} left no file: there is no database to keep."),
        None => format!("No database of {label} is kept: none of its trials left one."),
    };
    let named = run.shown_contenders();
    Ok(named.map(|(index, contender)| line(index, &contender.label)).collect())
}
