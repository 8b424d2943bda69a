//! Checks that the limit on open files allows the files and connections of all clients of a run.

use anyhow::{Result, bail};
use dyno_plan::{Selection, chosen_mixes};
use dyno_record::Parameters;
use dyno_suite::Suite;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The largest number of files that a client has open: a database, its log, and one to spare.
const EACH: u64 = 3;
/// Open files of the rest of a runner, or of dyno.
const OTHERS: u64 = 100;

/// Lets dyno, and the processes that it starts, open as many files as the clients need.
///
/// # Errors
/// The system allows fewer, or the suite's numbers make no sense.
pub fn allow(suite: &Suite, parameters: &Parameters, selection: &[Selection]) -> Result<()> {
    let mixes = chosen_mixes(suite, parameters, selection)?;
    let most = mixes.iter().map(|(_, mix)| u64::from(mix.clients)).max().unwrap_or(0);
    let needed = most * EACH + OTHERS;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if most <= 1 || needed <= soft {
        return Ok(());
    }
    if needed > hard {
        bail!(
            "{most} clients may need {needed} open files, and this system allows a process {hard}: take fewer clients, or \
             raise the limit (`ulimit -Hn`, as root or in /etc/security/limits.conf)"
        );
    }
    Ok(setrlimit(Resource::RLIMIT_NOFILE, needed, hard)?)
}
