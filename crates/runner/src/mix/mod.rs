//! Many clients: the model `mix`.
//!
//! [`Prepared`] is what a session does with prepared statements, [`Steps`] the files that say what a client does and
//! when, [`Recorder`] what became of it. `program` is the order of a class's statements and what their parameters are,
//! `kept` what an operation keeps of rows for later statements. `client` is the loop of one client, `section` lets all of
//! them go at once.

mod client;
mod kept;
mod program;
mod recorder;
mod section;
mod statements;
mod steps;
#[cfg(test)]
mod tests;

pub use program::Values;
pub use section::perform;
pub use statements::{NoStatements, Prepared, Statement, statements};
pub use steps::{Step, Steps, Value};
