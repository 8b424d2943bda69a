//! The way of clients to servers: `--delay` makes each round trip longer.

use std::time::Duration;

use anyhow::{Result, ensure};
use dyno_engine::Contender;
use dyno_lab::trial::Servers;
use dyno_record::Limits;

use super::site::Site;
use crate::terminal::say;

/// The servers of a run, at the distance that its limits ask for.
pub fn servers(site: &Site, limits: &Limits) -> Servers {
    let servers = site.options.servers(&site.scratch);
    match limits.round_trip_ns {
        None => servers,
        Some(added) => servers.with_round_trip(Duration::from_nanos(added)),
    }
}

/// True if clients reach its engine in another process.
fn is_apart(contender: &Contender) -> bool {
    contender.engine.has_server()
}

/// Prints which contenders have no network.
///
/// # Errors
/// None has.
pub fn check(contenders: &[Contender]) -> Result<()> {
    let shown = contenders.iter().filter(|contender| !contender.engine.harness);
    let (near, served): (Vec<_>, Vec<_>) = shown.partition(|contender| !is_apart(contender));
    ensure!(
        !served.is_empty(),
        "--delay makes the way to servers longer, and none of these contenders is a server: name one, or leave it out"
    );
    for contender in near {
        let label = &contender.label;
        say(&format!("dyno: --delay delays nothing of {label}: its engine is within the client's process"));
    }
    Ok(())
}
