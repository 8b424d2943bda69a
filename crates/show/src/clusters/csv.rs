//! A line for each contender and kind of fault, for programs.

use anyhow::{Context, Result};
use csv::WriterBuilder;
use dyno_record::ClusterSubject;
use dyno_verdict::{ClusterVerdict, FaultJudgement};

use crate::csv_column::{Column, Field};

/// All faults, with a header. Absent figures are empty fields.
///
/// # Errors
/// A line cannot be written.
pub fn render(verdict: &ClusterVerdict) -> Result<String> {
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let mut is_first = true;
    for (subject, judged) in verdict.record.subjects.iter().zip(&verdict.subjects) {
        for fault in &judged.faults {
            let line = line(verdict, subject, fault);
            if std::mem::take(&mut is_first) {
                writer.write_record(line.iter().map(|(name, _)| name)).context("cannot write CSV")?;
            }
            let fields: Vec<&Field> = line.iter().map(|(_, field)| field).collect();
            writer.serialize(fields).context("cannot write CSV")?;
        }
    }
    let bytes = writer.into_inner().context("cannot write CSV")?;
    String::from_utf8(bytes).context("cannot write CSV")
}

fn line(verdict: &ClusterVerdict, subject: &ClusterSubject, fault: &FaultJudgement) -> Vec<Column> {
    vec![
        ("contender", subject.name().as_str().into()),
        ("control", subject.is_control.into()),
        ("nodes", subject.shape.map(|shape| u64::from(shape.nodes)).into()),
        ("seed", verdict.record.seed.into()),
        ("sound", verdict.is_sound.into()),
        ("promises", fault.promises.into()),
        ("fault", fault.fault.name().into()),
        ("tried", fault.tried.into()),
        ("at_risk", fault.at_risk.into()),
        ("lost", fault.lost.into()),
        ("most_lost", fault.most_lost.into()),
        ("troubled", fault.troubled.into()),
        ("stall_ms", fault.stall_ms.into()),
        ("rate_before", fault.rates[0].into()),
        ("rate_after", fault.rates[1].into()),
        ("disproved", fault.disproves.into()),
        ("missed_leader", fault.missed_leader.into()),
    ]
}
