//! The page: the table, and the sentences on each subject below it.

use anyhow::Result;
use dyno_verdict::DurabilityVerdict;

use super::{HEADS, controls, is_withheld, rows, scope, sentences};
use crate::prove_page::{ClosingSection, PageTable, ProvePage, SubjectSection, WITHHELD};

/// One self-contained HTML file.
///
/// # Errors
/// The page cannot be set in its template.
pub fn render(verdict: &DurabilityVerdict) -> Result<String> {
    let is_withheld = is_withheld(verdict);
    let table = PageTable::new(
        ("overview", "At a glance"),
        &HEADS,
        if is_withheld { Vec::new() } else { rows(verdict) },
    );
    let subjects = verdict.subjects.iter().filter(|_| !is_withheld).map(|subject| SubjectSection::<()> {
        name: subject.observed.label.clone(),
        version: subject.observed.hello.as_ref().map(|hello| hello.engine_version.clone()),
        charts: Vec::new(),
        lines: sentences::of(verdict, subject),
    });
    let about = &verdict.about;
    let page = ProvePage {
        title: "What survives power cuts and kills",
        dyno: &about.dyno,
        answers: scope(verdict).into_iter().chain(is_withheld.then(|| WITHHELD.to_owned())).collect(),
        facts: vec![
            ("Data on", about.storage.clone()),
            ("Begun", about.began.clone()),
            ("Seed", about.seed.to_string()),
        ],
        tables: Some(table).into_iter().filter(|table| !table.is_empty()).collect(),
        subjects: subjects.collect(),
        closing: ClosingSection {
            anchor: "controls",
            title: "Controls",
            paragraphs: vec![controls(about.controls.as_ref())],
        },
    };
    page.render()
}
