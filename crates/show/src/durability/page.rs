//! The page: the table, and the sentences on each subject below it.

use anyhow::Result;
use dyno_verdict::DurabilityVerdict;
use serde::Serialize;

use super::{HEADS, WITHHELD, controls, is_withheld, rows, scope, sentences};
use crate::report::set;

/// The data for the template.
#[derive(Serialize)]
struct Page<'a> {
    title: &'static str,
    dyno: &'a str,
    began: &'a str,
    seed: u64,
    storage: &'a str,
    scope: Option<String>,
    withheld: Option<&'static str>,
    heads: Vec<String>,
    rows: Vec<[String; 11]>,
    subjects: Vec<Subject<'a>>,
    controls: String,
}

/// A subject with its sentences.
#[derive(Serialize)]
struct Subject<'a> {
    label: &'a str,
    version: Option<&'a str>,
    lines: Vec<String>,
}

/// One self-contained HTML file.
///
/// # Errors
/// The page cannot be set in its template.
pub fn render(verdict: &DurabilityVerdict) -> Result<String> {
    let is_withheld = is_withheld(verdict);
    let subjects = verdict.subjects.iter().filter(|_| !is_withheld).map(|subject| Subject {
        label: &subject.observed.label,
        version: subject.observed.hello.as_ref().map(|hello| hello.engine_version.as_str()),
        lines: sentences::of(verdict, subject),
    });
    set(
        "prove.html",
        &Page {
            title: "What survives power cuts and kills",
            dyno: &verdict.about.dyno,
            began: &verdict.about.began,
            seed: verdict.about.seed,
            storage: &verdict.about.storage,
            scope: scope(verdict),
            withheld: is_withheld.then_some(WITHHELD),
            heads: HEADS.iter().map(|head| head.replace('\n', " ")).collect(),
            rows: if is_withheld { Vec::new() } else { rows(verdict) },
            subjects: subjects.collect(),
            controls: controls(verdict.about.controls.as_ref()),
        },
    )
}
