//! A line for each subject, for programs.

use anyhow::{Context, Result};
use csv::WriterBuilder;
use dyno_record::Tally;
use dyno_verdict::{DurabilityVerdict, SubjectVerdict};

use crate::csv_column::{Column, Field};

/// All subjects, with a header. Absent figures are empty fields.
///
/// # Errors
/// A line cannot be written.
pub fn render(verdict: &DurabilityVerdict) -> Result<String> {
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    for (place, subject) in verdict.subjects.iter().enumerate() {
        let line = line(verdict, subject);
        if place == 0 {
            writer.write_record(line.iter().map(|(name, _)| name)).context("cannot write CSV")?;
        }
        let fields: Vec<&Field> = line.iter().map(|(_, field)| field).collect();
        writer.serialize(fields).context("cannot write CSV")?;
    }
    let bytes = writer.into_inner().context("cannot write CSV")?;
    String::from_utf8(bytes).context("cannot write CSV")
}

fn line(verdict: &DurabilityVerdict, subject: &SubjectVerdict) -> Vec<Column> {
    let observed = &subject.observed;
    let proof = observed.proof.as_ref();
    let is_cut = verdict.about.no_cuts.is_none();
    let failed = proof.and_then(|proof| proof.failed_devices());
    let mut line = vec![
        ("subject", observed.label.as_str().into()),
        ("seed", verdict.about.seed.into()),
        ("storage", verdict.about.storage.as_str().into()),
        ("controls_behaved", verdict.controls_behaved.into()),
        ("promised", observed.promised.as_ref().map(|promised| promised.level.name()).into()),
        ("kept", subject.kept.into()),
        ("breaches", subject.breaches.len().into()),
        ("commits", proof.map(|proof| proof.observed.commits).into()),
        ("flushes", proof.filter(|_| is_cut).map(|proof| proof.observed.flushes).into()),
        ("sync_calls", proof.and_then(|proof| proof.calls.as_ref()).map(|seen| seen.calls).into()),
        ("unflushed", proof.filter(|_| is_cut).map(|proof| proof.observed.unflushed).into()),
    ];
    line.extend(tally(["cuts", "cuts_survived", "cuts_lost", "cuts_broken"], proof.map(|proof| proof.cuts)));
    line.extend(tally(["torn", "torn_survived", "torn_lost", "torn_broken"], proof.map(|proof| proof.torn)));
    line.extend(tally(
        ["kills", "kills_survived", "kills_lost", "kills_broken"],
        proof.map(|proof| proof.kills),
    ));
    line.extend(tally(
        ["device_failures", "device_failures_survived", "device_failures_lost", "device_failures_broken"],
        failed,
    ));
    line.push(("not_proved", observed.why_not.as_deref().into()));
    line
}

fn tally(names: [&'static str; 4], tally: Option<Tally>) -> [Column; 4] {
    let [tried, survived, lost, broken] = names;
    [
        (tried, tally.map(|tally| tally.tried).into()),
        (survived, tally.map(|tally| tally.survived).into()),
        (lost, tally.map(|tally| tally.lost).into()),
        (broken, tally.map(|tally| tally.broken).into()),
    ]
}
