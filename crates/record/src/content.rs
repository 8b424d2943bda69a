//! Files that were executed, known by their content: a path and a version do not say which of two builds ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Digits of a digest that are shown where people read it.
const SHOWN: usize = 12;

/// The identity of a file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Content {
    /// Its SHA-256, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

impl Content {
    /// The first digits of the digest.
    pub fn short(&self) -> &str {
        self.sha256.get(..SHOWN).unwrap_or(&self.sha256)
    }
}

/// The program that wrote a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// The commit that it was built from, with `-dirty` where a source file differed from it; absent where that was not
    /// known when it was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The features of its package, as `dyno --version` prints them; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<String>,
    /// Its file; absent where it could not be read.
    #[serde(flatten)]
    pub content: Option<Content>,
}

/// The files that the trials of a contender executed. Each is absent where dyno could not see which it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// The file that holds the engine: the program of a server that dyno started, the library that `hello` names and
    /// the runner had mapped, or the runner's program where the engine is linked into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Content>,
    /// The client library of a server that `hello` names and the runner had mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Content>,
    /// The program of the runner; in a language with an interpreter, that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Content>,
}

impl Executed {
    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Executed::default()
    }

    /// The files of the process in which a runner works: the engine or the client of one, and the runner's program.
    pub(crate) fn counted(&self) -> [Option<&Content>; 2] {
        [self.client.as_ref().or(self.engine.as_ref()), self.runner.as_ref()]
    }
}
