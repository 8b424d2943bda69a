//! Many clients: the model `mix`.
//!
//! [`Prepared`] executes prepared statements for a session, [`Steps`] are the files that say what a client does and
//! when. `recorder` keeps the operations, which `totals` counts: `counts` by class, `board` by second. `program` is the
//! order of a class's statements and the values of their parameters, `kept` holds the rows that an operation keeps for
//! later statements. `client` is the loop of one client, `short_session` that of one that comes and goes, `client_thread`
//! is the code of clients before and after their loops, `section` starts all clients of a process at once. `suspension`
//! is how a client waits, and `scheduler` runs others on its thread meanwhile. `executor` is the interface that executes
//! operations, each try of one an `attempt`; `store` implements it for a store of keys and values, and `invariants`
//! checks that store afterwards. `reporting` reports when each operation begins and ends, `timing` times each statement, and `text` puts
//! values into the text of statements that are not prepared.

mod attempt;
mod board;
mod classes;
mod client;
mod client_thread;
mod counts;
mod executor;
mod invariants;
mod kept;
mod program;
mod recorder;
mod reporter;
mod reporting;
mod scheduler;
mod section;
mod short_session;
mod statements;
mod steps;
mod store;
mod suspension;
#[cfg(test)]
mod tests;
mod text;
mod timing;
mod totals;

pub use invariants::read_back;
pub use program::Values;
pub use section::perform;
pub use short_session::Connector;
pub use statements::{NoStatements, Prepared, Statement, statements};
pub use steps::{Step, Steps, Value};
pub use text::TextStatement;
