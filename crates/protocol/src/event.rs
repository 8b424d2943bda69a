//! The answers of a runner: events, one JSON object a line.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Class, Sample};

/// One line of a runner's standard output.
///
/// The order is `hello`, then per test `progress`, in jobs with turns `waiting` before each turn, `sample`, any number
/// of `answer`, then `bye`. In a mix of several processes `ready` and `done` come between `progress` and `sample`. In a
/// job with `answers_only` there is no `sample`. A `failed` may stand wherever the next event would; only `bye` may
/// follow it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The database is open and the settings are applied.
    Hello(Hello),
    /// A test is about to start. Written before the clock starts, never while it runs.
    Progress {
        /// The test's id.
        test: String,
    },
    /// The clock stands, and the runner waits for a turn at the test that it is about. Only in jobs with turns.
    Waiting(Waiting),
    /// The clients of this process are connected and prepared, and wait for the order to begin. Only where several
    /// processes do a mix.
    Ready(ClientsReady),
    /// The clients of this process have done their part, and stay connected until the order to go on.
    Done {},
    /// An operation of a mix begins, or is done. Sent only if the mix asks for it by `reports`; from several clients in
    /// any order.
    Operation(Operation),
    /// Work of clients of a mix in an interval. Only where the mix asks for intervals.
    Interval(Interval),
    /// A test has ended and this is what it took.
    Sample(Sample),
    /// Rows of the test's answer; large answers come as several events, in order.
    Answer {
        /// The test's id.
        test: String,
        /// Rows of values.
        rows: Vec<Vec<Value>>,
    },
    /// Something went wrong; the trial ends here and the samples before it stand.
    Failed(Failed),
    /// The database is closed; nothing follows.
    Bye {},
}

/// The identity of the runner, and the settings in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The version of the contract that the runner speaks.
    pub protocol: u32,
    /// The runner's name and version, as `sqlite 0.1.0`.
    pub runner: String,
    /// The engine's version as the engine itself gives it, as `3.40.1`. Empty for servers, which dyno asks by
    /// `read_back`.
    pub engine_version: String,
    /// The driver's version.
    pub driver_version: String,
    /// Further facts that identify the build: source id, library file, compile options, as the engine reports them.
    #[serde(default)]
    pub build: BTreeMap<String, Vec<String>>,
    /// The settings in force that the runner itself sets and reads. In the run file these are all settings that were
    /// asked for or bear on speed or safety.
    pub settings: Vec<InForce>,
    /// The rows of the job's `read_back`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_back: Vec<ReadBackAnswer>,
}

/// The engine's answer to a query of the job's `read_back`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBackAnswer {
    /// The query's name.
    pub name: String,
    /// Its rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<Value>>,
    /// The engine's error, where it refused the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<EngineRefusal>,
}

/// An error that an engine reported for a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineRefusal {
    /// The engine's code, as `42704`; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Its message.
    pub message: String,
}

/// A setting as the engine says it is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InForce {
    /// The engine's own name of the setting.
    pub name: String,
    /// The value read back, as the engine spells it.
    pub value: String,
}

/// The progress of a test whose runner waits for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// Operations done so far.
    pub done: u64,
    /// Operations of the whole test; 1 if it cannot be divided.
    pub of: u64,
    /// Time that the operations done so far took, in nanoseconds.
    pub nanoseconds: u64,
}

/// The clock of a process whose clients are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientsReady {
    /// A reading of the process's own monotonic clock, the one of `began_ns`, in nanoseconds.
    pub clock_ns: u64,
}

/// The progress of an operation of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// The number that its step says of it.
    pub number: i64,
    /// True if it is done, with success; else it is about to begin, for the first time or once more.
    pub done: bool,
}

/// Recent work of clients of a mix: the operations that they have reported since the interval before. A client reports
/// those of a second with its first operation that ends after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The time for which the mix has been measured, in nanoseconds.
    pub elapsed_ns: u64,
    /// The length of the interval, in nanoseconds.
    pub nanoseconds: u64,
    /// The classes within it. Two digits are enough for their histograms.
    pub classes: Vec<Class>,
}

/// A failure of the trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// The test in which it happened; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The error message for people: what happened, where, and what to do next. Never contains a secret.
    pub message: String,
    /// The engine's code, where it refused a statement of `on_connect` or of the maintenance.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The name of that statement.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub statement: String,
}

/// One value of an answer.
///
/// Numbers of every SQL type are JSON numbers (a decimal is written with its digits), so that an
/// average compares across engines that type it differently. Text that is not UTF-8 is a blob.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number. Infinities and NaN are text, because JSON cannot express them.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes, as an object with one key.
    Blob {
        /// The bytes in hexadecimal, two lower-case digits a byte.
        blob: String,
    },
}

impl Value {
    /// A blob value from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Value {
        use std::fmt::Write;
        let mut blob = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(blob, "{byte:02x}");
        }
        Value::Blob { blob }
    }

    /// A text value where the bytes are UTF-8, else a blob.
    pub fn from_text(bytes: &[u8]) -> Value {
        match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::from_bytes(bytes),
        }
    }

    /// A number, or its name as text where JSON has no spelling for it.
    pub fn from_real(number: f64) -> Value {
        if number.is_finite() { Value::Real(number) } else { Value::Text(number.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_kind_through_json() {
        let row = vec![
            Value::Null,
            Value::Integer(-7),
            Value::Real(0.5),
            Value::from_text(b"one"),
            Value::from_text(&[0xff]),
        ];
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(json, r#"[null,-7,0.5,"one",{"blob":"ff"}]"#);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap(), row);
    }

    #[test]
    fn an_event_names_itself() {
        let event = Event::Progress { test: "3".into() };
        assert_eq!(serde_json::to_string(&event).unwrap(), r#"{"event":"progress","test":"3"}"#);
        let bye: Event = serde_json::from_str(r#"{"event":"bye"}"#).unwrap();
        assert_eq!(bye, Event::Bye {});
    }
}
