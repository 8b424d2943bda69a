//! Many clients: the model `mix`.
//!
//! [`Prepared`] is what a session does with prepared statements, [`Steps`] the files that say what a client does and
//! when, [`Recorder`] what became of it. `client` is the loop of one client, `section` lets all of them go at once.

mod client;
mod recorder;
mod section;
mod statements;
mod steps;
#[cfg(test)]
mod tests;

pub use section::perform;
pub use statements::{NoStatements, Prepared, Statement, statements};
pub use steps::{Step, Steps, Value};
