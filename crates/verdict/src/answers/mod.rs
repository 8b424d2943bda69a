//! The check of answers: every contender's rows, digested, compared and judged.
//!
//! Pure functions of rows. Nothing here knows what a run is or how long anything took.

mod compare;
mod judge;

pub use compare::{Mismatch, compare, shown};
pub use judge::{AnswerVerdict, Given, Judgement, Reference, judge};
