//! The check of answers: every contender's rows, digested, compared and judged.
//!
//! Pure functions of rows. Nothing here knows what a run is or how long anything took.

mod answer;
mod columns;
mod compare;
mod judge;

pub use answer::Answer;
pub use compare::{Mismatch, compare};
pub use judge::{AnswerVerdict, Judgement, Reference, judge};
