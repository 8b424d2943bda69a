//! The functions that a section executed, by the instructions of each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The instructions of a section by function. The functions with the most are kept; `instructions` among the section's
/// counts is the sum of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCounts {
    /// By file and then by the function's name: the instructions that the function executed, without those of functions
    /// that it called. The file is `library` for the engine's library, `runner` for the runner's program, and otherwise
    /// the name of a file. The empty name stands for all functions of the file whose names are not known.
    pub files: BTreeMap<String, BTreeMap<String, u64>>,
    /// The most instructions of a function that was left out; 0 if none was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_at_most: u64,
}

impl FunctionCounts {
    /// The file name that stands for the engine's library.
    pub const LIBRARY: &str = "library";
    /// The file name that stands for the runner's program.
    pub const RUNNER: &str = "runner";

    /// Each function with its file, its name and its instructions.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.files.iter().flat_map(|(file, functions)| {
            functions.iter().map(move |(name, count)| (file.as_str(), name.as_str(), *count))
        })
    }

    /// True if a file is part of the build: the engine's library, or the runner's program.
    pub fn is_of_build(file: &str) -> bool {
        file == FunctionCounts::LIBRARY || file == FunctionCounts::RUNNER
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
