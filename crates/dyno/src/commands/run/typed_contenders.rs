//! The contenders of a command line.

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::{Contender, Registry, ServerUrl, is_address, split_list};
use dyno_suite::Suite;

use crate::cli::RunArgs;
use crate::commands::nodes::{addressed, name_nodes};
use crate::terminal::say;

/// The contenders named, or else the suite's.
pub(super) fn typed_contenders(
    arguments: &RunArgs,
    suite: &Suite,
    registry: &Registry,
) -> Result<Vec<Contender>> {
    let mut names: Vec<String> = arguments.with.iter().flat_map(|list| split_list(list)).collect();
    if is_by_suite(arguments) {
        let more = if arguments.all { suite.more_contenders() } else { &[] };
        ensure!(
            !arguments.all || !more.is_empty(),
            "{} has no further contenders: leave --all out",
            suite.name
        );
        for label in suite.contenders().into_iter().chain(more.iter().cloned()) {
            Contender::parse(&label, registry).with_context(|| suite.path.display().to_string())?;
            names.push(label);
        }
    }
    if arguments.processes {
        ensure!(
            arguments.urls.is_empty() && names.iter().all(|name| addressed(name).is_none()),
            "--processes goes with contenders that dyno starts, and a URL names a server that runs already: leave one out"
        );
        names.iter_mut().for_each(|name| name.push_str(",processes=yes"));
    }
    name_nodes(&mut names, arguments.nodes, arguments.node_delay.as_deref(), registry)?;
    let mut contenders: Vec<Contender> = Vec::new();
    let at = |url: &str| {
        let url = ServerUrl::parse(url, &registry.servers())?;
        url.warnings.iter().for_each(|warning| say(&format!("dyno: {warning}")));
        Contender::at(url, registry)
    };
    let named = names.iter().map(|name| match addressed(name) {
        None => Contender::parse(name, registry),
        Some((engine, url)) => {
            let contender = at(url)?;
            let found = &contender.engine.name;
            ensure!(engine == found, "{engine}={} names a server of {found}", contender.label);
            Ok(contender)
        }
    });
    for contender in named.chain(arguments.urls.iter().map(|url| at(url))) {
        let contender = contender?;
        if contenders.iter().any(|known| known.label == contender.label) {
            bail!("the contender {} is named twice", contender.label);
        }
        contenders.push(contender);
    }
    announce_both(&contenders);
    Ok(contenders)
}

/// Reports that a server engine is measured twice: on a private server, and on the user's.
fn announce_both(contenders: &[Contender]) {
    for own in contenders.iter().filter(|contender| contender.url.is_some()) {
        let is_private = |other: &&Contender| other.url.is_none() && other.engine.name == own.engine.name;
        if let Some(private) = contenders.iter().find(is_private) {
            say(&format!(
                "dyno: measuring both {}, a private server that dyno starts, and {}, your server; `--with {}=URL` \
                 measures yours alone",
                private.label, own.label, own.engine.name
            ));
        }
    }
}

/// The label of the contender with which to compare: the one named, or the first that is an engine.
pub(super) fn baseline(name: Option<&str>, contenders: &[Contender], registry: &Registry) -> Result<String> {
    let Some(name) = name else {
        let engine = contenders.iter().find(|contender| !contender.engine.harness).or(contenders.first());
        return Ok(engine.map_or_else(String::new, |contender| contender.label.clone()));
    };
    let is_one = |label: &str| contenders.iter().any(|contender| contender.label == label);
    if is_one(name) {
        return Ok(name.to_owned());
    }
    // Perhaps it is another spelling of one.
    let label = match is_address(name) {
        true => ServerUrl::parse(name, &registry.servers())?.label(),
        false => Contender::parse(name, registry)?.label,
    };
    if !is_one(&label) {
        let labels = contenders.iter().map(|contender| contender.label.as_str()).collect::<Vec<_>>();
        bail!("the baseline {label} is not among the contenders, which are {}", labels.join(", "));
    }
    Ok(label)
}

/// True if the suite chooses the contenders.
pub(super) fn is_by_suite(arguments: &RunArgs) -> bool {
    arguments.with.is_empty() && arguments.urls.is_empty()
}
