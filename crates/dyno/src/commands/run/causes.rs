//! `dyno causes`: repeats the work of a run for two of its contenders, with one suspected cause of their difference
//! neutralised after another.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_engine::{Contender, Home, ServerUrl};
use dyno_lab::machine::{available_memory, is_in_memory, storage};
use dyno_lab::placement;
use dyno_lab::scratch::{MEMORY, default_parent};
use dyno_record::{Experiment, Neutralised, Run, Suspect, UntriedSuspect};
use dyno_show::report::{self, PageSource};
use dyno_suite::Cpus;
use dyno_verdict::{JointVerdict, Verdict, judge};

use super::outputs::inputs_of;
use super::request::{RunRequest, again};
use super::{Outputs, perform};
use crate::cli::{CausesArgs, OutputFormat};
use crate::commands::outcome::{AsInput, Exit, file_name, print};
use crate::commands::registry;

/// The factor by which a cache is made larger.
const LARGER: u64 = 4;
/// The trials of each contender, where the command line does not say: shares scatter more than the times that they come
/// from.
const TRIALS: u32 = 10;

/// Repeats the run that the arguments name for a pair, and prints what explains their difference.
pub fn execute(arguments: &CausesArgs) -> Result<Exit> {
    let home = Home::find()?;
    let registry = registry(&home)?;
    let run = dyno_record::load(&arguments.repeat.run).input()?;
    let pair = pair(arguments.of.as_deref(), &run).input()?;
    let CausesArgs { repeat, dir, out, .. } = arguments;
    let rerun = repeat.rerun(dir.clone(), out.clone(), repeat.quiet);
    let outputs = Outputs::open(&rerun.place, &inputs_of(&rerun.run, &run))?;
    let mut request = again(&rerun, run.clone(), &home, &registry)?;
    ensure_is_no_search(&request).input()?;
    narrow(&mut request, arguments, &pair);
    request.experiment = Some(experiment(&request, arguments, &run)?);
    perform(request, &registry, &rerun.place, outputs, |run, file| {
        let verdict = judge(run);
        let exit = if verdict.is_complete() { Exit::Done } else { Exit::Incomplete };
        shown(run, verdict, file, arguments.format)?;
        Ok(exit)
    })
}

/// Prints the causes; as a page, or as lines for spreadsheets, with all else of the run.
fn shown(run: &Run, verdict: Verdict, file: &Path, format: OutputFormat) -> Result<Exit> {
    let causes = verdict.views.causes.as_ref().context("no trial has ended, so no cause is known")?;
    print(&match format {
        OutputFormat::Table => dyno_show::causes::render(&verdict).unwrap_or_default(),
        OutputFormat::Markdown => dyno_show::causes::markdown(&verdict).unwrap_or_default(),
        OutputFormat::Json => dyno_show::pretty(causes)?,
        OutputFormat::Csv => dyno_show::render_csv(&verdict)?,
        OutputFormat::Html => {
            let source = PageSource { name: file_name(file), verdict, file: dyno_record::whole(run)? };
            report::render(&[source], &JointVerdict::default())?
        }
    })
}

/// The labels of the contender and of the one with which it is compared. Labels have commas themselves, so each comma is
/// tried.
fn pair(of: Option<&str>, run: &Run) -> Result<[String; 2]> {
    let known: Vec<&str> = run.shown_contenders().map(|(_, contender)| contender.label.as_str()).collect();
    let is_known = |label: &str| known.contains(&label);
    let names = known.join(", ");
    let Some(of) = of else {
        let other = known.iter().find(|label| **label != run.baseline);
        return match (&known[..], other) {
            ([_, _], Some(other)) => Ok([(*other).to_owned(), run.baseline.clone()]),
            _ => bail!("name two contenders of the run, as --of A,B: it has {names}"),
        };
    };
    let parts = of.match_indices(',').map(|(comma, _)| (&of[..comma], &of[comma + 1..]));
    let parts = parts.map(|(first, second)| (first.trim(), second.trim()));
    let found = parts.into_iter().find(|(first, second)| is_known(first) && is_known(second));
    let (first, second) = found
        .with_context(|| format!("--of takes two contenders of the run, as --of A,B: it has {names}"))?;
    ensure!(first != second, "--of takes two different contenders, and {first} is named twice");
    Ok([first.to_owned(), second.to_owned()])
}

fn ensure_is_no_search(request: &RunRequest) -> Result<()> {
    ensure!(
        request.schedule.sustain.is_none(),
        "the run of --sustain searches for a rate, so its trials have no times to compare: take a run without it"
    );
    Ok(())
}

/// Leaves the pair, the tests and the trials that are asked for.
fn narrow(request: &mut RunRequest, arguments: &CausesArgs, pair: &[String; 2]) {
    request.contenders.retain(|contender| pair.contains(&contender.label));
    request.contenders.sort_by_key(|contender| contender.label != pair[0]);
    request.baseline.clone_from(&pair[1]);
    if arguments.only.is_some() {
        request.only.clone_from(&arguments.only);
    }
    let schedule = &mut request.schedule;
    (schedule.latency, schedule.counts, schedule.why, schedule.round_trips) = (false, false, false, false);
    // Contenders in turns have one folder and the same CPUs.
    schedule.turns = false;
    schedule.trials = arguments.repeat.trials.or_else(|| arguments.repeat.budget.is_none().then_some(TRIALS));
    schedule.budget_ns = arguments.repeat.budget_ns();
    schedule.most_ns = None;
    if arguments.repeat.budget.is_some() {
        // Until the budget ends: the target is of times, and a share scatters more.
        schedule.target = 0.0;
    }
}

/// The experiment on the pair of a request: what is neutralised, and what cannot be.
fn experiment(request: &RunRequest, arguments: &CausesArgs, run: &Run) -> Result<Experiment> {
    let [contender, baseline] = [0, 1].map(|place| request.contenders.get(place));
    let pair = contender.zip(baseline).context("the run has no two contenders of these names")?;
    let (mut tried, mut not_tried) = (Vec::new(), Vec::new());
    for suspect in Suspect::ALL {
        let found = match suspect {
            Suspect::Disk => disk(pair, arguments.dir.as_deref())?,
            Suspect::Cache => cache(pair, request, run),
            Suspect::Processors => processors(pair, request)?,
            Suspect::Network => network(pair, request),
        };
        match found {
            Ok(how) => tried.push(how),
            Err(why) => not_tried.push(UntriedSuspect { suspect, why }),
        }
    }
    Ok(Experiment { contender: pair.0.label.clone(), tried, not_tried })
}

/// The way to neutralise a suspect, or the reason that there is no way.
type Found = std::result::Result<Neutralised, String>;

fn disk(pair: (&Contender, &Contender), dir: Option<&Path>) -> Result<Found> {
    if let Some(server) = at_url(pair) {
        return Ok(Err(format!("{server} is a server at a URL, which keeps its data where they are")));
    }
    if let Some(contender) = [pair.0, pair.1].into_iter().find(|contender| contender.file_system.is_some()) {
        return Ok(Err(format!("the data of {} are on an encrypted file system", contender.label)));
    }
    let dir = dir.map_or_else(default_parent, Path::to_owned);
    let own = storage(&dir).with_context(|| format!("cannot look at {}", dir.display())).input()?;
    if is_in_memory(&own) {
        return Ok(Err(format!(
            "the data are in memory already, in {}; --dir names a folder",
            dir.display()
        )));
    }
    Ok(match storage(Path::new(MEMORY)) {
        Ok(found) if is_in_memory(&found) => Ok(Neutralised::Disk { folder: MEMORY.to_owned() }),
        _ => Err(format!("{MEMORY} is no file system in memory here")),
    })
}

fn cache(pair: (&Contender, &Contender), request: &RunRequest, run: &Run) -> Found {
    if request.limits.cache_bytes.is_some() && !request.limits.cache_of_suite {
        return Err("the run gave every engine a cache of one size".to_owned());
    }
    let larger = |contender: &Contender| {
        let known = run.contenders.iter().find(|known| known.label == contender.label);
        let read_back = known.and_then(|known| known.cache).map(|cache| cache.bytes);
        let bytes = contender.cache_bytes(read_back).map(|bytes| bytes.saturating_mul(LARGER));
        bytes.ok_or_else(|| format!("{} has no cache whose size dyno knows and can set", contender.label))
    };
    let bytes = [larger(pair.0)?, larger(pair.1)?];
    let most = available_memory().unwrap_or(u64::MAX) / 2;
    match bytes.iter().find(|bytes| **bytes > most) {
        Some(bytes) => Err(format!(
            "four times the cache is {}, which is more than half of the memory that is free",
            dyno_show::bytes(*bytes as f64)
        )),
        None => Ok(Neutralised::Cache { bytes }),
    }
}

fn processors(pair: (&Contender, &Contender), request: &RunRequest) -> Result<Found> {
    if let Some(server) = at_url(pair) {
        return Ok(Err(format!("{server} is a server at a URL, whose CPUs are not dyno's to choose")));
    }
    let all = request.suite.cpus() == Cpus::All;
    let placement = placement::choose(request.wanted.cpus.as_deref(), request.wanted.nice);
    let placement = placement.map_err(|error| anyhow!(error)).input()?;
    let cpu = placement::further_cpu(&placement).filter(|_| !all || request.wanted.cpus.is_some());
    Ok(cpu.map_or_else(
        || Err("runners and servers may use all CPUs already".to_owned()),
        |cpu| Ok(Neutralised::Processors { cpu }),
    ))
}

fn network(pair: (&Contender, &Contender), request: &RunRequest) -> Found {
    let both = [pair.0, pair.1];
    if !both.iter().any(|contender| contender.engine.has_server()) {
        return Err("both work within their clients' processes".to_owned());
    }
    let added_ns = request.limits.round_trip_ns.unwrap_or(0);
    let by_socket = |contender: &&Contender| contender.url.as_ref().and_then(ServerUrl::by_socket).is_some();
    match (added_ns > 0 || both.iter().any(by_socket), at_url(pair)) {
        (true, _) => Ok(Neutralised::Network { added_ns }),
        (false, Some(server)) => Err(format!(
            "{server} is a server at a URL that dyno can reach in no shorter way, such as a socket of this machine"
        )),
        (false, None) => {
            Err("dyno reaches its own servers through sockets of this machine already".to_owned())
        }
    }
}

/// A server at a URL among the two.
fn at_url<'a>(pair: (&'a Contender, &'a Contender)) -> Option<&'a str> {
    [pair.0, pair.1].into_iter().find(|contender| contender.url.is_some()).map(|found| found.label.as_str())
}
