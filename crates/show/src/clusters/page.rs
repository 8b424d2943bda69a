//! The page: the tables, the commits of each try over time with its fault, and the sentences on each contender.

use anyhow::Result;
use dyno_record::ClusterSubject;
use dyno_verdict::{ClusterJudgement, ClusterVerdict};
use serde::Serialize;

use super::seconds::TryChart;
use super::{FAULTS, READS, WITHHELD, fault_rows, name, read_rows, sentences};
use crate::report::set;

/// The data for the template.
#[derive(Serialize)]
struct Page<'a> {
    title: &'static str,
    dyno: &'a str,
    began: &'a str,
    seed: u64,
    clients: u64,
    withheld: Option<&'static str>,
    tables: Vec<PageTable>,
    subjects: Vec<SubjectSection<'a>>,
    scope: String,
}

/// A table whose first cells are headings.
#[derive(Serialize)]
struct PageTable {
    anchor: &'static str,
    title: &'static str,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl PageTable {
    fn new<const N: usize>(
        (anchor, title): (&'static str, &'static str),
        heads: &[&str; N],
        rows: impl Iterator<Item = [String; N]>,
    ) -> PageTable {
        let heads = heads.iter().map(|head| head.replace('\n', " ")).collect();
        PageTable { anchor, title, heads, rows: rows.map(Vec::from).collect() }
    }
}

/// A contender with its tries and its sentences.
#[derive(Serialize)]
struct SubjectSection<'a> {
    name: String,
    version: Option<&'a str>,
    charts: Vec<TryChart>,
    lines: Vec<String>,
}

/// One self-contained HTML file.
///
/// # Errors
/// The page cannot be set in its template.
pub fn render(verdict: &ClusterVerdict) -> Result<String> {
    let each = || verdict.record.subjects.iter().zip(&verdict.subjects);
    let faults =
        each().filter(|_| verdict.is_sound).flat_map(|(subject, judged)| fault_rows(subject, judged));
    let reads = each().flat_map(|(subject, _)| read_rows(subject));
    let tables = vec![
        PageTable::new(("faults", "Faults"), &FAULTS, faults),
        PageTable::new(("reads", "How late reads are"), &READS, reads),
    ];
    set(
        "clusters.html",
        &Page {
            title: "What clusters keep when a node is lost",
            dyno: &verdict.record.dyno,
            began: &verdict.record.began,
            seed: verdict.record.seed,
            clients: verdict.record.clients,
            withheld: (!verdict.is_sound).then_some(WITHHELD),
            tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
            subjects: each().map(|(subject, judged)| section(verdict, subject, judged)).collect(),
            scope: sentences::scope(verdict),
        },
    )
}

fn section<'a>(
    verdict: &ClusterVerdict,
    subject: &'a ClusterSubject,
    judged: &ClusterJudgement,
) -> SubjectSection<'a> {
    let charts = subject.tries.iter().enumerate().map(|(place, tried)| {
        let before = subject.tries[..place].iter().filter(|other| other.fault == tried.fault);
        TryChart::new(before.count(), tried)
    });
    SubjectSection {
        name: name(subject),
        version: subject.hello.as_ref().map(|hello| hello.engine_version.as_str()),
        charts: charts.collect(),
        lines: sentences::of(verdict, subject, judged),
    }
}
