//! The types of parameters of statements that are not prepared, which the library wants with the values. A program has
//! them in its source; this one asks the server for them, once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use tokio_postgres::types::Type;

use crate::{Session, said};

/// The types that are known, by the texts of the statements. All sessions share them, as those that come and go would ask
/// within the clock.
#[derive(Debug, Default)]
pub struct ParameterTypes(Mutex<BTreeMap<String, Arc<[Type]>>>);

impl ParameterTypes {
    /// The types of a statement's parameters.
    ///
    /// # Errors
    /// The server refuses the statement.
    pub fn of(&self, session: &Session, sql: &str) -> Result<Arc<[Type]>> {
        let known = self.lock().get(sql).cloned();
        if let Some(types) = known {
            return Ok(types);
        }
        let types = ask(session, sql)?;
        self.lock().insert(sql.to_owned(), types.clone());
        Ok(types)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<[Type]>>> {
        // No thread panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the server prepare a statement to learn the types that it infers, and closes it.
fn ask(session: &Session, sql: &str) -> Result<Arc<[Type]>> {
    session.runtime.block_on(async {
        let statement = session.client.prepare(sql).await.map_err(said)?;
        let types: Arc<[Type]> = statement.params().into();
        drop(statement);
        // The library sends the end of a statement together with the next request, which is to be this one and not one
        // that is timed.
        session.client.check_connection().await.map_err(said)?;
        Ok(types)
    })
}
