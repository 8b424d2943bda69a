//! Reports on their way from an agent to dyno, in lines that launchers pass on whole.

use std::collections::HashMap;
use std::io::{self, Write};

use super::wire::{AgentReport, ReportLine, read_line};

/// The most bytes of a report's JSON in one line. Within a string each of them may take two, and the rest of the line takes
/// at most a hundred: `srun` and `slurmd` pass lines of up to 1,024 bytes on in one piece, and longer ones in several, with
/// what other agents write between them (`MAX_MSG_LEN` in `src/slurmd/slurmstepd/io.c` of Slurm 22.05).
const PART: usize = 440;

/// Writes the reports of an agent.
pub struct ReportWriter<W> {
    agent: String,
    lines: u64,
    output: W,
}

impl<W: Write> ReportWriter<W> {
    /// Writes under the name that the agent has given itself.
    pub fn new(agent: &str, output: W) -> ReportWriter<W> {
        ReportWriter { agent: agent.to_owned(), lines: 0, output }
    }

    /// Writes a report, in parts if it is long.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn write(&mut self, report: AgentReport) -> io::Result<()> {
        let json = serde_json::to_string(&report)?;
        if json.len() <= PART {
            self.write_line(report)?;
        } else {
            let mut rest = json.as_str();
            while !rest.is_empty() {
                let (part, others) = rest.split_at(end_of_part(rest));
                rest = others;
                self.write_line(AgentReport::Part { json: part.to_owned(), last: rest.is_empty() })?;
            }
        }
        self.output.flush()
    }

    fn write_line(&mut self, report: AgentReport) -> io::Result<()> {
        let line = ReportLine { agent: self.agent.clone(), number: self.lines, report };
        self.lines += 1;
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        self.output.write_all(&text)
    }
}

/// The number of bytes of the longest part that begins a text and ends with a whole character.
fn end_of_part(text: &str) -> usize {
    (0..=PART.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(text.len())
}

/// Reads the reports of agents.
#[derive(Debug, Default)]
pub struct ReportReader(HashMap<String, Heard>);

/// The longest report in parts, in bytes: more is no report of an agent.
const LONGEST_REPORT: usize = 256 << 20;

/// The lines of an agent until now.
#[derive(Debug, Default)]
struct Heard {
    lines: u64,
    parts: String,
}

/// A line of an agent was lost or changed on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLost;

impl ReportReader {
    /// The report in a line, with the name that its agent has given itself. A part of one that is not the last counts as a
    /// sign of life ([`AgentReport::Beat`]). None where the line is something else, such as a greeting of the host.
    pub fn read(&mut self, line: &[u8]) -> Option<(String, Result<AgentReport, LineLost>)> {
        let ReportLine { agent, number, report } = read_line(line)?;
        let heard = self.0.entry(agent.clone()).or_default();
        let is_next = number == heard.lines;
        heard.lines = number + 1;
        let report = match report {
            _ if !is_next => Err(LineLost),
            AgentReport::Part { json, .. } if heard.parts.len() + json.len() > LONGEST_REPORT => {
                heard.parts = String::new();
                Err(LineLost)
            }
            AgentReport::Part { json, last } => {
                heard.parts.push_str(&json);
                match last {
                    true => serde_json::from_str(&std::mem::take(&mut heard.parts)).map_err(|_| LineLost),
                    false => Ok(AgentReport::Beat),
                }
            }
            whole => Ok(whole),
        };
        Some((agent, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of an agent that reports the lines of a runner.
    fn lines(agent: &str, written: &[&str]) -> Vec<String> {
        let mut output = Vec::new();
        let mut writer = ReportWriter::new(agent, &mut output);
        for line in written {
            writer.write(AgentReport::Output { trial: 7, line: (*line).to_owned() }).unwrap();
        }
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    fn read<'a>(lines: impl IntoIterator<Item = &'a String>) -> Vec<(String, Result<String, LineLost>)> {
        let mut reader = ReportReader::default();
        let output = |(agent, report)| match report {
            Ok(AgentReport::Output { line, .. }) => Some((agent, Ok(line))),
            Ok(_) => None,
            Err(lost) => Some((agent, Err(lost))),
        };
        lines.into_iter().filter_map(|line| output(reader.read(line.as_bytes())?)).collect()
    }

    #[test]
    fn reports_of_any_length_come_whole_in_lines_that_are_short() {
        let long = ["x", "\"\\", "ü€𝄞", "\u{1}\n", "{\"ns\":[1,2]}"].map(|text| text.repeat(3000));
        let texts: Vec<&str> = ["", "short"].into_iter().chain(long.iter().map(String::as_str)).collect();
        let (one, other) = (lines("0123456789abcdef", &texts), lines("b", &texts));
        assert!(one.iter().all(|line| line.len() < 1000), "{:?}", one.iter().map(String::len).max());
        // The lines of one come between those of the other.
        let mut mixed: Vec<&String> = Vec::new();
        for place in 0..one.len().max(other.len()) {
            mixed.extend(one.get(place).into_iter().chain(other.get(place)));
        }
        let read = read(mixed);
        for agent in ["0123456789abcdef", "b"] {
            let came: Vec<&str> = read
                .iter()
                .filter(|(name, _)| name == agent)
                .map(|(_, line)| line.as_deref().unwrap())
                .collect();
            assert_eq!(came, texts);
        }
    }

    #[test]
    fn a_line_that_is_missing_doubled_or_out_of_its_place_is_noticed() {
        let long = "x".repeat(2000);
        let all = lines("a", &["short", &long, "short"]);
        for place in 0..all.len() {
            let mut missing = all.clone();
            missing.remove(place);
            // After the last line there is no other that could show the gap.
            let is_noticed = read(&missing).iter().any(|(_, line)| line.is_err());
            assert_eq!(is_noticed, place + 1 < all.len(), "{place}");
            let mut doubled = all.clone();
            doubled.insert(place, all[place].clone());
            assert!(read(&doubled).iter().any(|(_, line)| line.is_err()), "{place}");
        }
        let mut swapped = all;
        swapped.swap(1, 2);
        assert!(read(&swapped).iter().any(|(_, line)| line.is_err()));
    }
}
