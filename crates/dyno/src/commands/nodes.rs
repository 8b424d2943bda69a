//! The nodes of clusters on a command line.

use anyhow::{Result, ensure};
use dyno_engine::{Contender, Registry, is_address};

/// Gives a number of nodes to the names of clusters that have none.
///
/// # Errors
/// None of the names is that of a cluster.
pub(super) fn name_nodes(names: &mut [String], nodes: u32, registry: &Registry) -> Result<()> {
    let mut clusters = 0;
    for name in names.iter_mut().filter(|name| addressed(name).is_none()) {
        if Contender::parse(name, registry)?.cluster.is_some() {
            clusters += 1;
            if !name.contains(",nodes=") {
                name.push_str(&format!(",nodes={nodes}"));
            }
        }
    }
    let known: Vec<&str> = registry
        .engines
        .iter()
        .filter(|engine| engine.cluster().is_some())
        .map(|engine| engine.name.as_str())
        .collect();
    ensure!(clusters > 0, "--nodes is for clusters, and no contender is one: {}", known.join(", "));
    Ok(())
}

/// The engine and the address of a contender written as `postgres=postgres://me@host/database`.
pub(super) fn addressed(name: &str) -> Option<(&str, &str)> {
    name.split_once('=').filter(|(engine, url)| !engine.contains([',', ':']) && is_address(url))
}
