//! The most that rows survive on the storage of a SQLite database, whatever SQLite and dyno do there.

use dyno_import::{Reached, Safety};
use dyno_lab::machine;

use super::target::file;
use crate::cli::ImportArgs;

/// Lowers the safety that was reached to what the storage allows, as dyno does for every engine. The storage of a server is
/// not known.
pub fn cap(reached: &mut Reached, arguments: &ImportArgs) {
    let Some(database) = file(&arguments.into) else { return };
    let Ok(storage) = machine::storage(database) else { return };
    // No storage allows less than surviving a crash of the process.
    if let Some((_, why)) = machine::cap(&storage).filter(|_| reached.safety == Safety::PowerLoss) {
        reached.safety = Safety::ProcessCrash;
        reached.by += &format!(", but {why}");
    }
}
