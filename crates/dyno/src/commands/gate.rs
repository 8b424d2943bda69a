//! `--gate`: whether any test is worse than is allowed.

use anyhow::Result;
use dyno_show::escape_markdown;
use dyno_verdict::Gate;

use super::outcome::{Exit, print};
use crate::cli::OutputFormat;
use crate::terminal::say;

/// Prints what exceeds a limit, and in the last line what the gate rests on. It stands below the table, so that it
/// stays the last line where both outputs go to one pipe or file. What programs read on standard output has no such
/// lines.
///
/// # Errors
/// Standard output cannot be written.
pub fn judge(gate: &Gate, format: OutputFormat, exit: Exit) -> Result<Exit> {
    let lines: Vec<String> = gate.exceeded.iter().cloned().chain([gate.to_string()]).collect();
    match format {
        OutputFormat::Table => print(&format!("\n{}\n", lines.join("\n"))).map(drop)?,
        OutputFormat::Markdown => {
            // Each is a paragraph, so that the last line stays one.
            let paragraphs: Vec<String> = lines.iter().map(|line| escape_markdown(line)).collect();
            print(&format!("\n{}\n", paragraphs.join("\n\n"))).map(drop)?;
        }
        OutputFormat::Csv | OutputFormat::Json | OutputFormat::Html => say(&lines.join("\n")),
    }
    Ok(match exit {
        Exit::Signal(_) => exit,
        _ if !gate.exceeded.is_empty() => Exit::Slower,
        Exit::Incomplete => exit,
        _ if gate.is_decided() => Exit::Done,
        _ => Exit::Undecided,
    })
}
