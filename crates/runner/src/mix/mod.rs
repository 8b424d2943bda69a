//! Many clients: the model `mix`.
//!
//! [`Prepared`] is what a session does with prepared statements, [`Steps`] the files that say what a client does and
//! when, [`Recorder`] what became of it. `program` is the order of a class's statements and what their parameters are,
//! `kept` what an operation keeps of rows for later statements. `client` is the loop of one client, `visitor` that of one
//! that comes and goes, `life` is what one does before and after, `section` lets all clients of a process go at once,
//! `processes` those of several processes. `doer` is who does an operation's statements, `store` does them on a store of
//! keys and values, and `invariants` looks at that store afterwards. `told` says of each operation when it begins and
//! ends.

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
