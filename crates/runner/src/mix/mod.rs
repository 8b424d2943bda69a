//! Many clients: the model `mix`.
//!
//! [`Prepared`] is what a session does with prepared statements, [`Steps`] the files that say what a client does and
//! when, [`Recorder`] what became of it. `program` is the order of a class's statements and what their parameters are,
//! `kept` what an operation keeps of rows for later statements. `client` is the loop of one client, `section` lets all of
//! them go at once. `doer` is who does an operation's statements, `store` does them on a store of keys and values, and
//! `invariants` looks at that store afterwards. `told` says of each operation when it begins and ends.

mod client;
mod doer;
mod invariants;
mod kept;
mod program;
mod recorder;
mod section;
mod statements;
mod steps;
mod store;
#[cfg(test)]
mod tests;
mod told;

pub use invariants::read_back;
pub use program::Values;
pub use section::perform;
pub use statements::{NoStatements, Prepared, Statement, statements};
pub use steps::{Step, Steps, Value};
