//! `dyno agent`: serves a dyno on another machine.

use anyhow::Result;
use dyno_launch::agents::ExpectedBuild;

use super::outcome::Exit;

/// Serves until standard input ends.
pub fn execute() -> Result<Exit> {
    let ExpectedBuild { version, commit } = this_build();
    Ok(dyno_lab::agent::serve(&version, &commit)?.map_or(Exit::Done, Exit::Signal))
}

/// The build of this dyno, which its agents must have too.
pub fn this_build() -> ExpectedBuild {
    ExpectedBuild {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("DYNO_COMMIT_OR_UNKNOWN").to_owned(),
    }
}
