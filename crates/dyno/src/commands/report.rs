//! `dyno report`: the page of a run, or of several side by side.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use dyno_files::Output;
use dyno_record::{ClusterRecord, DurabilityRecord, Run};
use dyno_show::report::{self, PageSource};
use dyno_show::safe;
use dyno_verdict::{judge_clusters, judge_durability};

use super::outcome::{AsInput, Exit, file_name};
use super::{overwriting, show};
use crate::cli::ReportArgs;
use crate::terminal::say;

/// The endings of pages, and of pages that are HTML. A stream needs none.
const ENDINGS: [&str; 3] = ["html", "htm", MARKDOWN];
const HTML_ENDINGS: [&str; 2] = ["html", "htm"];
const MARKDOWN: &str = "md";

/// Writes the page of the runs named, or of the newest one.
pub fn execute(arguments: &ReportArgs) -> Result<Exit> {
    let mut paths = arguments.runs.clone();
    if paths.is_empty() {
        paths.push(show::newest(&dyno_record::results_folder()).input()?);
    }
    let last = &paths[paths.len() - 1];
    let out = arguments.out.clone().unwrap_or_else(|| last.with_extension("html"));
    overwriting::check_inputs(&out, &paths).input()?;
    let mut output = open(&out, &ENDINGS).context("cannot write the page").input()?;
    let texts = read(&paths)?;
    match proof(&texts, &out)? {
        Some(page) => output.write(page.as_bytes()).context("cannot write the page").map(drop)?,
        None => write_texts(texts, &mut output, arguments.margin)?,
    }
    say(&format!("The page is in {}.", out.display()));
    if arguments.open {
        // The reason is a process's status, which helps no one.
        let started = open::that_detached(&out);
        started.map_err(|_| anyhow!("no browser could be started here; open {} in one", out.display()))?;
    }
    Ok(Exit::Done)
}

/// The place of the page of a run.
///
/// # Errors
/// Nothing can be written there, or the ending of its name is not that of a page.
pub(super) fn open_page(path: &Path) -> Result<Output> {
    open(path, &ENDINGS)
}

/// The place of the page of what `dyno prove` observed, which is HTML.
///
/// # Errors
/// As for [`open_page`].
pub(super) fn open_proof_page(path: &Path) -> Result<Output> {
    open(path, &HTML_ENDINGS)
}

fn open(path: &Path, endings: &[&str]) -> Result<Output> {
    let output = Output::open(path)?;
    if !output.is_stream() && !endings.iter().any(|ending| has_ending(path, ending)) {
        bail!("{} ends in none of .{}: name a file that does", path.display(), endings.join(", ."));
    }
    Ok(output)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The text of each file. A file may be a pipe, so it is read once.
fn read(paths: &[PathBuf]) -> Result<Vec<(&Path, String)>> {
    paths.iter().map(|path| Ok((path.as_path(), show::read(path)?))).collect::<Result<_>>().input()
}

/// The page of what `dyno prove` kept, if the one file named is that; `out` is the file of the page.
fn proof(texts: &[(&Path, String)], out: &Path) -> Result<Option<String>> {
    let [(path, text)] = texts else { return Ok(None) };
    let page = match (DurabilityRecord::parse(text, path), ClusterRecord::parse(text, path)) {
        (Some(record), _) => dyno_show::durability::page(&judge_durability(record.input()?))?,
        (None, Some(record)) => dyno_show::clusters::page(&judge_clusters(record.input()?))?,
        (None, None) => return Ok(None),
    };
    if is_markdown(out) {
        let advice = "the page of what dyno prove kept is HTML: name a file that ends in .html";
        return Err(anyhow!("{}: {advice}", out.display())).input();
    }
    Ok(Some(page))
}

fn is_markdown(path: &Path) -> bool {
    has_ending(path, MARKDOWN)
}

/// Writes the page of runs by their files, the subject last. `margin` stands in for those of the run files.
pub(super) fn write_files(paths: &[PathBuf], output: &mut Output, margin: Option<f64>) -> Result<()> {
    write_texts(read(paths)?, output, margin)
}

fn write_texts(texts: Vec<(&Path, String)>, output: &mut Output, margin: Option<f64>) -> Result<()> {
    let sources = texts.into_iter().map(|(path, text)| source(path, text, margin));
    write(&sources.collect::<Result<Vec<PageSource>>>().input()?, output)
}

/// Writes the page of a run whose file cannot be read again: it went to a pipe.
pub(super) fn write_run(run: &Run, path: &Path, output: &mut Output) -> Result<()> {
    let file = dyno_record::whole(run)?;
    write(&[PageSource { name: file_name(path), verdict: dyno_verdict::judge(run), file }], output)
}

fn write(sources: &[PageSource], output: &mut Output) -> Result<()> {
    let named: Vec<_> = sources.iter().map(|source| (source.name.as_str(), &source.verdict)).collect();
    let beside = dyno_verdict::beside(&named).input()?;
    let page = match is_markdown(output.path()) {
        // Read in a terminal as often as not.
        true => safe(&report::markdown(sources, &beside)?).into_owned(),
        false => report::render(sources, &beside)?,
    };
    output.write(page.as_bytes()).context("cannot write the page").map(drop)
}

/// A run of the page: what may be said about it, and its file as it is.
fn source(path: &Path, text: String, margin: Option<f64>) -> Result<PageSource> {
    let mut run = dyno_record::parse(&text, path)?;
    run.schedule.margin = margin.unwrap_or(run.schedule.margin);
    packed(&file_name(path), text, &run)
}

/// A run of a page, with the text of its file: of a page, that of the run within it. `name` is the name of the file.
///
/// # Errors
/// The run within the page cannot be unpacked.
pub(super) fn packed(name: &str, text: String, run: &Run) -> Result<PageSource> {
    let verdict = dyno_verdict::judge(run);
    if !dyno_record::is_page(&text) {
        return Ok(PageSource { name: name.to_owned(), verdict, file: text.into_bytes() });
    }
    let within = dyno_record::packed_runs(&text)?.pop().context("no run is packed in this page")?;
    Ok(PageSource { name: format!("{}.jsonl", stem(name)), verdict, file: within.text.into_bytes() })
}

/// The name of a run file or of a page without its endings.
pub(super) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let mut endings = [".jsonl", ".json", ".html", ".htm"].iter();
    endings.find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}
