//! `dyno site`: many runs, of many machines, as one static folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context, Result, ensure};
use dyno_engine::{Home, Registry};
use dyno_files::HeldFolder;
use dyno_record::Run;
use dyno_show::report::{PageSource, render};
use dyno_show::site::{SiteRun, index, runs_json};
use dyno_verdict::{JointVerdict, NamedRun, cohorts};
use sha2::{Digest, Sha256};

use super::outcome::{AsInput, Exit, file_name};
use super::registry;
use super::report::{self, stem};
use super::{overwriting, show, verify};
use crate::cli::SiteArgs;
use crate::terminal::say;

/// The index for people, and the same for programs.
const INDEX: &str = "index.html";
const LIST: &str = "runs.json";
/// The names of those, without their endings: no page of a run has one.
const RESERVED: [&str; 2] = ["index", "runs"];
/// As many digits of a commit are shown.
const COMMIT: usize = 12;

/// A run of the site with its text.
struct SiteMember {
    listed: SiteRun,
    run: Option<Run>,
    text: String,
}

/// Writes the site.
pub fn execute(arguments: &SiteArgs) -> Result<Exit> {
    let home = Home::find().input()?;
    let registry = registry(&home)?;
    let members = arguments.runs.iter().map(|path| member(path, &home, &registry));
    let members: Vec<SiteMember> = members.collect::<Result<_>>()?;
    let (mut members, withheld): (Vec<SiteMember>, Vec<SiteMember>) =
        members.into_iter().partition(|member| member.unpublished(&registry).is_empty());
    name_apart(&mut members);
    check_outputs(arguments, &members).input()?;
    // Over no link that another user may have put there.
    HeldFolder::named(&arguments.out)
        .with_context(|| format!("cannot make the folder {}", arguments.out.display()))
        .input()?;
    for member in &mut members {
        if let (Some(run), Some(page)) = (&member.run, &member.listed.page) {
            let source = packed(member, run)?;
            write(&arguments.out.join(page), &render(slice::from_ref(&source), &JointVerdict::default())?)?;
            member.listed.sensitivity = source.verdict.detectable.and_then(|found| found.mean);
        }
    }
    let shown = members.iter().filter(|member| member.listed.withdrawn.is_none());
    let shown = shown.filter_map(|member| Some((member.listed.name.clone(), member.run.clone()?)));
    let shown: Vec<NamedRun> = shown.map(|(name, run)| NamedRun { name, run }).collect();
    let cohorts = cohorts(&shown, |engine| is_published(engine, &registry));
    let listed: Vec<SiteRun> = members.into_iter().map(|member| member.listed).collect();
    write(&arguments.out.join(INDEX), &index(&cohorts, &listed)?)?;
    write(&arguments.out.join(LIST), &runs_json(&cohorts, &listed)?)?;
    for member in &withheld {
        let engines = member.unpublished(&registry).join(", ");
        let name = &member.listed.name;
        say(&format!("{name} is left out: the licence forbids publishing measurements of {engines}"));
    }
    Ok(conclude(&listed, withheld.len(), &arguments.out))
}

/// Says which runs are refused, and how many runs are where.
fn conclude(listed: &[SiteRun], left_out: usize, folder: &Path) -> Exit {
    let refused = listed.iter().filter(|run| !run.refused.is_empty()).count();
    for run in listed.iter().filter(|run| !run.refused.is_empty()) {
        say(&format!("{} is refused: {}", run.name, dyno_show::one_line(&run.refused.join("; "))));
    }
    let (count, out) = (listed.len() - refused, folder.display());
    let runs = if count == 1 { "1 run is".to_owned() } else { format!("{count} runs are") };
    let left_out = if left_out == 0 { String::new() } else { format!("; {left_out} are left out") };
    say(&format!("{runs} in {out}/{INDEX}; {refused} are refused{left_out}."));
    if refused > 0 { Exit::Incomplete } else { Exit::Done }
}

/// False if the licence of an engine forbids publishing measurements.
fn is_published(engine: &str, registry: &Registry) -> bool {
    registry.engine(engine).map_or(true, |engine| engine.publish)
}

/// Refuses a site whose files would replace the runs that it is made of.
fn check_outputs(arguments: &SiteArgs, members: &[SiteMember]) -> Result<()> {
    let pages = members.iter().filter_map(|member| member.listed.page.as_deref());
    for file in pages.chain([INDEX, LIST]) {
        overwriting::check_inputs(&arguments.out.join(file), &arguments.runs)?;
    }
    Ok(())
}

impl SiteMember {
    /// The engines of which the licence forbids publishing measurements. The page of a run packs all of its samples, also
    /// those of contenders that are not shown.
    fn unpublished(&self, registry: &Registry) -> Vec<&str> {
        let contenders = self.run.iter().flat_map(|run| &run.contenders);
        let engines: BTreeSet<&str> = contenders.map(|contender| contender.engine.as_str()).collect();
        engines.into_iter().filter(|engine| !is_published(engine, registry)).collect()
    }
}

fn member(path: &Path, home: &Home, registry: &Registry) -> Result<SiteMember> {
    let text = show::read(path).input()?;
    let refused = verify::refusals(&text, path, home, registry)?;
    let run = if refused.is_empty() { dyno_record::parse(&text, path).ok() } else { None };
    let name = file_name(path);
    let page = run.is_some().then(|| format!("{}.html", stem(&name)));
    let known = |words: fn(&Run) -> String| run.as_ref().map(words).unwrap_or_default();
    let shown = |run: &Run| run.shown_contenders().map(|(_, contender)| contender.label.clone()).collect();
    Ok(SiteMember {
        listed: SiteRun {
            page,
            sha256: Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect(),
            suite: known(|run| run.suite.name.clone()),
            started: known(|run| run.started.clone()),
            dyno: known(program),
            made_by: run.as_ref().and_then(|run| run.made_by.as_ref()).map(ToString::to_string),
            contenders: run.as_ref().map(shown).unwrap_or_default(),
            sensitivity: None,
            withdrawn: withdrawn(path)?,
            refused,
            name,
        },
        run,
        text,
    })
}

fn program(run: &Run) -> String {
    let commit = run.program.as_ref().and_then(|program| program.commit.as_deref());
    let short = |commit: &str| commit.chars().take(COMMIT).collect::<String>();
    commit.map_or(run.dyno.clone(), |commit| format!("{} ({})", run.dyno, short(commit)))
}

/// The reason in `RUN.withdrawn`, with which a maker takes back a run that stays in the list.
fn withdrawn(path: &Path) -> Result<Option<String>> {
    let file = PathBuf::from(format!("{}.withdrawn", path.display()));
    if !file.exists() {
        return Ok(None);
    }
    let text =
        dyno_files::read_found(&file).with_context(|| format!("cannot read {}", file.display())).input()?;
    Ok(Some(text.trim().to_owned()))
}

/// Runs whose pages would have one name, such as those of one name in several folders, get numbers, so that no page
/// replaces another.
fn name_apart(members: &mut [SiteMember]) {
    // Names are compared as where the case of letters does not count: a site may be copied to such a file system.
    let page = |name: &str| stem(name).to_lowercase();
    let mut taken: BTreeSet<String> = RESERVED.map(str::to_owned).into();
    for SiteMember { listed, .. } in members {
        let numbered = |number: usize| match number {
            1 => listed.name.clone(),
            _ => format!("{number}-{}", listed.name),
        };
        // Of one name more than there are names taken, one is free.
        let mut names = (1..=taken.len() + 1).map(numbered);
        let Some(name) = names.find(|name| !taken.contains(&page(name))) else { continue };
        taken.insert(page(&name));
        listed.page = listed.page.as_ref().map(|_| format!("{}.html", stem(&name)));
        listed.name = name;
    }
}

/// A run for its page, as `dyno report` makes it.
fn packed(member: &SiteMember, run: &Run) -> Result<PageSource> {
    let mut source = report::packed(&member.listed.name, member.text.clone(), run)?;
    source.name = format!("{}.jsonl", stem(&member.listed.name));
    Ok(source)
}

/// Writes a file of the site; one of that name is replaced, and nothing but a regular file.
fn write(path: &Path, text: &str) -> Result<()> {
    if let Ok(found) = fs::symlink_metadata(path) {
        ensure!(found.is_file(), "{} is no regular file, so it is not replaced", path.display());
    }
    let mut output = dyno_files::Output::open(path).input()?;
    output.write(text.as_bytes()).map(drop)
}
