//! `dyno site`: many runs, of many machines, as one static folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_engine::{Home, Registry};
use dyno_record::Run;
use dyno_show::report::{self, PageSource};
use dyno_show::site::{SiteRun, index, runs_json};
use dyno_verdict::{JointVerdict, NamedRun, cohorts};
use sha2::{Digest, Sha256};

use super::outcome::{AsInput, Exit, file_name};
use super::{show, verify};
use crate::cli::SiteArgs;
use crate::terminal::say;

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
    let registry = Registry::load(&home).input()?;
    let members = arguments.runs.iter().map(|path| member(path, &home, &registry));
    let mut members: Vec<SiteMember> = members.collect::<Result<_>>()?;
    name_apart(&mut members);
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot make the folder {}", arguments.out.display()))?;
    for member in &members {
        if let (Some(run), Some(page)) = (&member.run, &member.listed.page) {
            write(&arguments.out.join(page), &page_of(member, run)?)?;
        }
    }
    let shown = members.iter().filter(|member| member.listed.withdrawn.is_none());
    let shown = shown.filter_map(|member| Some((member.listed.name.clone(), member.run.clone()?)));
    let shown: Vec<NamedRun> = shown.map(|(name, run)| NamedRun { name, run }).collect();
    let cohorts = cohorts(&shown, |engine| registry.engine(engine).map_or(true, |engine| engine.publish));
    let listed: Vec<SiteRun> = members.into_iter().map(|member| member.listed).collect();
    write(&arguments.out.join("index.html"), &index(&cohorts, &listed)?)?;
    write(&arguments.out.join("runs.json"), &runs_json(&cohorts, &listed)?)?;
    let refused = listed.iter().filter(|run| !run.refused.is_empty()).count();
    for run in listed.iter().filter(|run| !run.refused.is_empty()) {
        say(&format!("{} is refused: {}", run.name, run.refused.join("; ")));
    }
    let (count, out) = (listed.len() - refused, arguments.out.display());
    let runs = if count == 1 { "1 run is".to_owned() } else { format!("{count} runs are") };
    say(&format!("{runs} in {out}/index.html; {refused} are refused."));
    Ok(if refused > 0 { Exit::Incomplete } else { Exit::Done })
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

/// The name of a run file without its endings.
fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    [".jsonl", ".json", ".html"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Runs of one name in several folders get numbers, so that no page replaces another.
fn name_apart(members: &mut [SiteMember]) {
    for place in 0..members.len() {
        let (before, own) = members.split_at_mut(place);
        let own = &mut own[0].listed;
        let is_taken = |name: &str| before.iter().any(|member| member.listed.name == name);
        if !is_taken(&own.name) {
            continue;
        }
        let name = own.name.clone();
        let number = (2..).find(|number| !is_taken(&format!("{number}-{name}"))).unwrap_or(place);
        own.name = format!("{number}-{name}");
        own.page = own.page.as_ref().map(|page| format!("{number}-{page}"));
    }
}

/// The page of a run, as `dyno report` makes it.
fn page_of(member: &SiteMember, run: &Run) -> Result<String> {
    let file = match dyno_record::is_page(&member.text) {
        true => dyno_record::packed_runs(&member.text)?.pop().map(|run| run.text).unwrap_or_default(),
        false => member.text.clone(),
    };
    let name = format!("{}.jsonl", stem(&member.listed.name));
    let source = PageSource { name, verdict: dyno_verdict::judge(run), file: file.into_bytes() };
    report::render(&[source], &JointVerdict::default())
}

/// Writes a file of the site; one of that name is replaced, and nothing but a regular file.
fn write(path: &Path, text: &str) -> Result<()> {
    if let Ok(found) = fs::symlink_metadata(path) {
        ensure!(found.is_file(), "{} is no regular file, so it is not replaced", path.display());
    }
    let mut output = dyno_files::Output::open(path).input()?;
    output.write(text.as_bytes()).map(drop)
}
