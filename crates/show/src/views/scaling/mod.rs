//! Runs of several sizes: how fast each contender is as one parameter grows.

pub mod page;
pub mod table;
mod words;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { pages: page::page, ..NOTHING };
