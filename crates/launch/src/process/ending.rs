//! The end of a process, in words for people.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use dyno_record::Others;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

/// The end of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// True if it ended unprompted, with success.
    pub success: bool,
    /// The end in words for people, with what it wrote to standard error.
    pub description: String,
    /// The time that others took of the machine meanwhile, where an agent has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

impl Ending {
    pub(super) fn of(status: Option<ExitStatus>, errors: &str, capped: bool, patience: Duration) -> Ending {
        let how = match status {
            None => format!("did not end within {} s and was killed", patience.as_secs()),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, Some(signal)) => match Signal::try_from(signal) {
                    Ok(Signal::SIGKILL) if capped => {
                        "was killed, as the kernel does where more memory is needed than --memory allows"
                            .into()
                    }
                    Ok(Signal::SIGBUS) => {
                        "was killed by SIGBUS, as the kernel does where a mapped file cannot grow: is the \
                         file system full?"
                            .into()
                    }
                    Ok(name) => format!("was killed by {name}"),
                    Err(_) => format!("was killed by signal {signal}"),
                },
                (None, None) => "ended".into(),
            },
        };
        let description = match errors.trim() {
            "" => how,
            errors => format!("{how}; it wrote: {errors}"),
        };
        Ending { success: status.is_some_and(|status| status.success()), description, others: None }
    }
}
