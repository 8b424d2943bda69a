//! The output of `dyno causes`, for the terminal and for a comment on a change.

use dyno_verdict::{Causes, Verdict};

use super::{table, words};
use crate::report::words::counted;
use crate::table_options::TableOptions;
use crate::{markdown as marked, wrapped};

/// The output for the terminal: heading, sentences, table and notes. `None` if the run is no experiment.
pub fn render(verdict: &Verdict) -> Option<String> {
    let causes = verdict.views.causes.as_ref()?;
    let mut texts = vec![wrapped(&heading(verdict, causes), "", "  ")];
    texts.extend(table::tables(verdict, TableOptions::default()));
    texts.extend(notes(verdict).map(|note| wrapped(&note, "", "  ")));
    Some(texts.join("\n\n") + "\n")
}

/// The same as Markdown. `None` if the run is no experiment.
pub fn markdown(verdict: &Verdict) -> Option<String> {
    let causes = verdict.views.causes.as_ref()?;
    let paragraphs = table::sentences(causes).into_iter().map(|sentences| sentences.join(" "));
    let first: Vec<String> = [heading(verdict, causes) + "."].into_iter().chain(paragraphs).collect();
    Some(marked::comparison(&first, &[table::shares(causes)], &notes(verdict).collect::<Vec<_>>()))
}

/// `speedtest: sqlite compared with sqlite:wal, 20 blocks`
fn heading(verdict: &Verdict, causes: &Causes) -> String {
    let blocks = causes.differences.iter().map(|found| found.blocks).max().unwrap_or(0);
    format!(
        "{}: {} compared with {}, {}",
        verdict.about.suite.name,
        causes.contender,
        causes.baseline,
        counted(blocks, "block")
    )
}

/// The trials that failed, and the notes of the view.
fn notes(verdict: &Verdict) -> impl Iterator<Item = String> {
    let failures = verdict.failures.iter().map(|failures| {
        let label = verdict.label(failures.contender);
        format!("{label} failed in {} of {} trials: {}", failures.failed, failures.trials, failures.message)
    });
    failures.chain(words::notes(verdict)).map(|note| format!("{note}."))
}
