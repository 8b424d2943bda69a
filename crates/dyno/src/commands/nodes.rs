//! The nodes of clusters on a command line.

use anyhow::{Result, ensure};
use dyno_engine::{Contender, Registry, is_address};

/// Gives a setting to the names of clusters that do not name it, as the option `--OPTION` asks for.
///
/// # Errors
/// None of the names is that of a cluster.
fn name_setting(names: &mut [String], (option, value): (&str, &str), registry: &Registry) -> Result<()> {
    let setting = option.replace('-', "_");
    let mut clusters = 0;
    for name in names.iter_mut().filter(|name| addressed(name).is_none()) {
        if Contender::parse(name, registry)?.cluster.is_some() {
            clusters += 1;
            if !name.contains(&format!(",{setting}=")) {
                name.push_str(&format!(",{setting}={value}"));
            }
        }
    }
    let known: Vec<&str> = registry
        .engines
        .iter()
        .filter(|engine| engine.cluster().is_some())
        .map(|engine| engine.name.as_str())
        .collect();
    ensure!(clusters > 0, "--{option} is for clusters, and no contender is one: {}", known.join(", "));
    Ok(())
}

/// Gives the number of nodes and the delay between them to the names of clusters that do not name them.
///
/// # Errors
/// None of the names is that of a cluster.
pub(super) fn name_nodes(
    names: &mut [String],
    nodes: Option<u32>,
    delay: Option<&str>,
    registry: &Registry,
) -> Result<()> {
    let nodes = nodes.map(|nodes| nodes.to_string());
    let options = [("nodes", nodes.as_deref()), ("node-delay", delay)];
    let mut named = options.into_iter().filter_map(|(option, value)| Some((option, value?)));
    named.try_for_each(|option| name_setting(names, option, registry))
}

/// The engine and the address of a contender written as `postgres=postgres://me@host/database`.
pub(super) fn addressed(name: &str) -> Option<(&str, &str)> {
    name.split_once('=').filter(|(engine, url)| !engine.contains([',', ':']) && is_address(url))
}
