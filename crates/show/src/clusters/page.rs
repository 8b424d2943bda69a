//! The page: the tables, the commits of each try over time with its fault, and the sentences on each contender.

use anyhow::Result;
use dyno_record::ClusterSubject;
use dyno_verdict::{ClusterJudgement, ClusterVerdict};

use super::seconds::TryChart;
use super::{FAULTS, READS, fault_rows, name, read_rows, sentences};
use crate::prove_page::{ClosingSection, PageTable, ProvePage, SubjectSection, WITHHELD};

/// The meaning of the drawings.
const BARS: &str = "Bars are the rate of acknowledged commits in tenths of a second, or longer parts of a long try; times \
                    count from the fault.";

/// One self-contained HTML file.
///
/// # Errors
/// The page cannot be set in its template.
pub fn render(verdict: &ClusterVerdict) -> Result<String> {
    let each = || verdict.record.subjects.iter().zip(&verdict.subjects);
    let faults =
        each().filter(|_| verdict.is_sound).flat_map(|(subject, judged)| fault_rows(subject, judged));
    let reads = each().flat_map(|(subject, _)| read_rows(subject));
    let tables = [
        PageTable::new(("faults", "Faults"), &FAULTS, faults),
        PageTable::new(("reads", "How late reads are"), &READS, reads),
    ];
    let record = &verdict.record;
    let page = ProvePage {
        title: "What clusters keep when a node is lost",
        dyno: &record.dyno,
        answers: (!verdict.is_sound).then(|| WITHHELD.to_owned()).into_iter().collect(),
        facts: vec![
            ("Clients", record.clients.to_string()),
            ("Begun", record.began.clone()),
            ("Seed", record.seed.to_string()),
        ],
        tables: tables.into_iter().filter(|table| !table.is_empty()).collect(),
        subjects: each().map(|(subject, judged)| section(verdict, subject, judged)).collect(),
        closing: ClosingSection {
            anchor: "scope",
            title: "Conditions and controls",
            paragraphs: vec![BARS.to_owned(), sentences::scope(verdict)],
        },
    };
    page.render()
}

fn section(
    verdict: &ClusterVerdict,
    subject: &ClusterSubject,
    judged: &ClusterJudgement,
) -> SubjectSection<TryChart> {
    let charts = subject.tries.iter().enumerate().map(|(place, tried)| {
        let before = subject.tries[..place].iter().filter(|other| other.fault == tried.fault);
        TryChart::new(before.count(), tried)
    });
    SubjectSection {
        name: name(subject),
        version: subject.hello.as_ref().map(|hello| hello.engine_version.clone()),
        charts: charts.collect(),
        lines: sentences::of(verdict, subject, judged),
    }
}
