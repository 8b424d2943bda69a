//! The lines between dyno and its agents.

use std::time::Duration;

use dyno_protocol::Job;
use dyno_record::Machine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Ending;

/// The interval at which dyno and each agent send a line, so that the other knows that it is there. Nothing of it
/// reaches a runner.
pub const BEAT: Duration = Duration::from_secs(1);
/// The time without a line after which the other side is given up.
pub const SILENCE: Duration = Duration::from_secs(6);

/// A line to agents.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OrderLine {
    /// The names of the agents for which it is, because a launcher may send its input to all of them. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// The order.
    #[serde(flatten)]
    pub order: AgentOrder,
}

/// An order to agents.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum AgentOrder {
    /// Keep a file. Its parts come in order, one file after another.
    File {
        /// The SHA-256 of the whole file, by which jobs name it.
        sha256: String,
        /// True if it is a program.
        executable: bool,
        /// The next part of it, in base64.
        part: String,
        /// True if it is the last part.
        last: bool,
    },
    /// Remove files that were sent: no job names them any more.
    Forget {
        /// Their SHA-256.
        files: Vec<String>,
    },
    /// Start a runner.
    Start {
        /// A number that no other runner of the agent has had.
        trial: u64,
        /// The file of the program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its job, in which files stand for those that were sent ([`visit_files`](super::visit_files)).
        job: Box<Job>,
    },
    /// Pass a line to the runner.
    Input {
        /// The runner's number.
        trial: u64,
        /// The line.
        line: String,
    },
    /// End the runner's standard input.
    EndInput {
        /// The runner's number.
        trial: u64,
    },
    /// Kill the runner.
    Stop {
        /// The runner's number.
        trial: u64,
    },
    /// dyno is there.
    Beat,
}

/// A line from an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReportLine {
    /// The name that the agent has given itself: several may write to one launcher.
    pub agent: String,
    /// The number of the line, from zero: a gap shows that one was lost on its way.
    #[serde(default)]
    pub number: u64,
    /// The report.
    #[serde(flatten)]
    pub report: AgentReport,
}

/// A report of an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "kebab-case")]
pub enum AgentReport {
    /// It has started.
    Hello(Box<AgentHello<Value>>),
    /// The runner has written a line.
    Output {
        /// The runner's number.
        trial: u64,
        /// The line.
        line: String,
    },
    /// The runner has ended.
    Ended {
        /// The runner's number.
        trial: u64,
        /// Its exit code or signal.
        ending: Ending,
    },
    /// The agent cannot go on.
    Trouble {
        /// The name of its host, as the kernel has it: it may not have greeted yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// The reason, for people.
        message: String,
    },
    /// The next part of a report that is too long for a line.
    Part {
        /// The part of the report's JSON.
        json: String,
        /// True if it is the last part.
        last: bool,
    },
    /// The agent is there.
    Beat,
}

/// The description that an agent sends first. Its machine is read once its build is known to be this one: in another build's
/// description it may be written in another way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentHello<M = Machine> {
    /// The version of its dyno.
    pub version: String,
    /// The commit that it was built from, where it knows it.
    pub commit: String,
    /// The name of the host, as the kernel has it.
    pub host: String,
    /// The kernel's name of this start of the machine, by which agents on one machine are known; none where it is hidden.
    pub boot_id: Option<String>,
    /// The machine.
    pub machine: M,
}

impl AgentHello<Value> {
    /// The description of an agent of this build.
    ///
    /// # Errors
    /// Its machine is described in another way.
    pub fn read(self) -> Result<AgentHello, serde_json::Error> {
        let AgentHello { version, commit, host, boot_id, machine } = self;
        Ok(AgentHello { version, commit, host, boot_id, machine: serde_json::from_value(machine)? })
    }
}

/// Reads a line, in which a launcher may have put something before the JSON, as `srun -l` puts `0: `. None where it is
/// something else, such as a greeting of the host.
pub fn read_line<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    // The launcher's own text may have braces, too.
    let mut begins = (0..line.len()).filter(|&place| line[place] == b'{').take(BRACES);
    begins.find_map(|from| serde_json::from_slice(&line[from..]).ok())
}

/// The number of braces at which the JSON of a line may begin.
const BRACES: usize = 4;

#[cfg(test)]
impl AgentHello {
    /// An agent on a host, with the processors that it may use.
    pub(super) fn on(host: &str, boot_id: &str, cpus: &[usize]) -> AgentHello {
        let hello = serde_json::json!({
            "version": "1", "commit": "", "host": host, "boot_id": boot_id,
            "machine": {
                "cpu": {"architecture": "x86_64", "online": 8, "allowed": cpus, "caches": [], "governors": {}},
                "kernel": {"release": "6", "version": "1"},
                "virtualisation": {},
            },
        });
        serde_json::from_value(hello).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_launchers_put_before_a_line_is_cut() {
        let line = ReportLine { agent: "7".into(), number: 0, report: AgentReport::Beat };
        let line = serde_json::to_string(&line).unwrap();
        for prefix in ["", "0: ", "node1: ", "{node1}: ", "[1,0]<stdout>:", "a\t"] {
            let read: ReportLine = read_line(format!("{prefix}{line}\n").as_bytes()).unwrap();
            assert!(read.agent == "7" && matches!(read.report, AgentReport::Beat), "{prefix}");
        }
        assert!(read_line::<ReportLine>(b"Welcome to {host}\n").is_none());
        assert!(read_line::<ReportLine>(b"\n").is_none());
    }

    #[test]
    fn trouble_may_be_without_a_host() {
        let read: ReportLine = read_line(br#"{"agent":"7","report":"trouble","message":"x"}"#).unwrap();
        assert!(matches!(read.report, AgentReport::Trouble { host: None, message } if message == "x"));
        let named = AgentReport::Trouble { host: Some("n2".into()), message: "x".into() };
        let text = serde_json::to_string(&named).unwrap();
        let read = read_line(text.as_bytes());
        assert!(matches!(read, Some(AgentReport::Trouble { host: Some(_), .. })), "{text}");
    }

    #[test]
    fn an_order_is_for_those_that_it_names() {
        let order = AgentOrder::Input { trial: 3, line: "{\"order\":\"clock\"}".into() };
        let text = serde_json::to_string(&OrderLine { to: vec!["7".into()], order }).unwrap();
        let read: OrderLine = read_line(text.as_bytes()).unwrap();
        assert_eq!(read.to, ["7"]);
        assert!(matches!(read.order, AgentOrder::Input { trial: 3, line } if line.contains("clock")));
    }
}
