//! Many clients: the model `mix`.
//!
//! [`Prepared`] executes prepared statements for a session, [`Steps`] are the files that say what a client does and
//! when, [`Recorder`] counts the operations. `program` is the order of a class's statements and the values of their
//! parameters, `kept` holds the rows that an operation keeps for later statements. `client` is the loop of one client,
//! `visitor` that of one that comes and goes, `life` is the code of a client before and after its loop, `section`
//! starts all clients of a process at once. `doer` is the interface that
//! executes an operation's statements, `store` implements it for a store of keys and values, and `invariants` checks
//! that store afterwards. `reporting` reports when each operation begins and ends, `timing` times each statement, and `text`
//! puts values into the text of statements that are not prepared.

mod client;
mod client_thread;
mod executor;
mod invariants;
mod kept;
mod program;
mod recorder;
mod reporter;
mod reporting;
mod section;
mod short_session;
mod statements;
mod steps;
mod store;
#[cfg(test)]
mod tests;
mod text;
mod timing;

pub use invariants::read_back;
pub use program::Values;
pub use section::perform;
pub use short_session::Connector;
pub use statements::{NoStatements, Prepared, Statement, statements};
pub use steps::{Step, Steps, Value};
pub use text::TextStatement;
