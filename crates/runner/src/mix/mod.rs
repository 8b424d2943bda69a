//! Many clients: the model `mix`.
//!
//! [`Prepared`] executes prepared statements for a session, [`Steps`] are the files that say what a client does and
//! when, [`Recorder`] counts the operations. `program` is the order of a class's statements and the values of their
//! parameters, `kept` holds the rows that an operation keeps for later statements. `client` is the loop of one client,
//! `visitor` that of one that comes and goes, `life` is the code of a client before and after its loop, `section`
//! starts all clients of a process at once, `processes` those of several processes. `doer` is the interface that
//! executes an operation's statements, `store` implements it for a store of keys and values, and `invariants` checks
//! that store afterwards. `told` reports when each operation begins and ends.

mod client;
mod doer;
mod invariants;
mod kept;
mod life;
mod processes;
mod program;
mod recorder;
mod reporter;
mod section;
mod statements;
mod steps;
mod store;
#[cfg(test)]
mod tests;
mod told;
mod visitor;

pub use invariants::read_back;
pub(crate) use processes::{CLIENT, be_client};
pub use program::Values;
pub use section::perform;
pub use statements::{NoStatements, Prepared, Statement, statements};
pub use steps::{Step, Steps, Value};
pub use visitor::Door;
