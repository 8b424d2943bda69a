//! The table of what drivers did.

use std::fmt;

use super::{DriverFault, DriverOutcome, FaultFinding};

/// The characters of an error that are shown.
const SHOWN: usize = 200;

/// The reaction of each driver to each fault.
#[derive(Debug)]
pub struct FaultTable {
    /// The contenders by label, with a finding for each fault, in their order.
    pub lines: Vec<(String, Vec<FaultFinding>)>,
}

impl FaultTable {
    /// True if every fault was tried, and no driver lost or repeated a commit.
    pub fn is_sound(&self) -> bool {
        self.lines.iter().flat_map(|(_, findings)| findings).all(|finding| {
            let is_tried = !matches!(finding.outcome, DriverOutcome::Untried(_));
            is_tried && finding.lost.is_empty() && finding.repeated.is_empty()
        })
    }

    /// The faults that could not be tried to their end, each with its driver and the reason, in words.
    pub fn untried(&self) -> Vec<String> {
        let findings = self
            .lines
            .iter()
            .flat_map(|(label, findings)| findings.iter().map(move |finding| (label, finding)));
        let why = |(label, finding): (&String, &FaultFinding)| match &finding.outcome {
            DriverOutcome::Untried(why) => Some(format!("{label}, {}: {why}", finding.fault.name())),
            _ => None,
        };
        findings.filter_map(why).collect()
    }
}

/// The words of a cell.
fn cell(finding: &FaultFinding) -> String {
    let outcome = match finding.outcome {
        DriverOutcome::GoesOn => "goes on",
        DriverOutcome::Reports(_) => "reports",
        DriverOutcome::Hangs => "hangs",
        DriverOutcome::NotApplicable => "–",
        DriverOutcome::Untried(_) => "not tried",
    };
    let kept = finding.kept.map(|kept| if kept { "kept" } else { "not kept" }.to_owned());
    let commits =
        |what: &str, commits: &[u64]| (!commits.is_empty()).then(|| format!("{} {what}", commits.len()));
    [Some(outcome.to_owned()), kept, commits("lost", &finding.lost), commits("repeated", &finding.repeated)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// The beginning of a message, in one line.
fn shortened(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl fmt::Display for FaultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header =
            ["driver".to_owned()].into_iter().chain(DriverFault::ALL.map(|fault| fault.name().to_owned()));
        let row = |(label, findings): &(String, Vec<FaultFinding>)| -> Vec<String> {
            [label.clone()].into_iter().chain(findings.iter().map(cell)).collect()
        };
        let rows: Vec<Vec<String>> =
            [header.collect()].into_iter().chain(self.lines.iter().map(row)).collect();
        let columns = rows.first().map_or(0, Vec::len);
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        for (label, findings) in &self.lines {
            for finding in findings {
                if let DriverOutcome::Reports(message) | DriverOutcome::Untried(message) = &finding.outcome {
                    write!(f, "\n{label}, {}: {}", finding.fault.name(), shortened(message))?;
                }
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_the_driver_did_and_what_became_of_commits() {
        let finding = |outcome, lost: &[u64], repeated: &[u64], kept| FaultFinding {
            fault: DriverFault::CutAfter,
            outcome,
            lost: lost.to_vec(),
            repeated: repeated.to_vec(),
            kept,
        };
        let reports = finding(DriverOutcome::Reports("gone\n at once".into()), &[], &[], Some(true));
        assert_eq!(cell(&reports), "reports, kept");
        assert_eq!(cell(&finding(DriverOutcome::Hangs, &[], &[], Some(false))), "hangs, not kept");
        let bad = finding(DriverOutcome::GoesOn, &[2, 3], &[4], None);
        assert_eq!(cell(&bad), "goes on, 2 lost, 1 repeated");
        let table = FaultTable { lines: vec![("pg".into(), vec![reports.clone(); 5])] };
        assert!(table.is_sound());
        assert!(table.to_string().contains("pg, cut after commit: gone at once"), "{table}");
        assert!(!FaultTable { lines: vec![("pg".into(), vec![bad; 5])] }.is_sound());
        let untried = finding(DriverOutcome::Untried("no server".into()), &[], &[], None);
        let table = FaultTable { lines: vec![("pg".into(), [vec![untried], vec![reports; 4]].concat())] };
        assert!(!table.is_sound());
        assert_eq!(table.untried(), ["pg, cut after commit: no server"]);
        let text = table.to_string();
        assert!(text.contains("not tried") && text.contains("pg, cut after commit: no server"), "{text}");
    }
}
