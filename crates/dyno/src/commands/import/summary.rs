//! The report of an import when it is done.

use std::fmt::Write;
use std::time::Duration;

use dyno_import::{Column, Course, Merged, Plan, Report, escaped};

use super::rejects;
use crate::cli::ImportArgs;

/// Shorter imports show no speed, because they spend most of their time on other things than rows.
const LONG_ENOUGH: Duration = Duration::from_millis(100);
/// Most columns that are listed.
const LISTED: usize = 20;

/// The reading of a file, as decided before.
pub struct Read {
    file: String,
    table: String,
    delimiter: String,
    delimiter_why: String,
    has_header: bool,
    header_why: String,
    is_delimited: bool,
}

impl Read {
    /// The reading that a plan has decided on.
    pub fn of(plan: &Plan) -> Read {
        let delimiter = match plan.delimiter.value {
            b'\t' => "tab".to_owned(),
            byte => format!("'{}'", char::from(byte)),
        };
        Read {
            file: match plan.request.more.len() {
                0 => plan.request.source.name(),
                more => format!("{} and {more} more", plan.request.source.name()),
            },
            table: plan.table.name.clone(),
            delimiter,
            delimiter_why: plan.delimiter.why.clone(),
            has_header: plan.header.value,
            header_why: plan.header.why.clone(),
            is_delimited: plan.is_delimited(),
        }
    }

    /// The decisions, and the options that change them.
    pub fn shape(&self) -> String {
        if !self.is_delimited {
            return format!("Names of columns: {}.", self.header_why);
        }
        let (header, otherwise) = match self.has_header {
            true => ("the first record names the columns", "--no-header loads it as data"),
            false => ("the first record is data", "--header takes names from it"),
        };
        format!(
            "Delimiter {} ({}; --delimiter names another); {header} ({}; {otherwise}).",
            self.delimiter, self.delimiter_why, self.header_why
        )
    }
}

/// The summary of an import. Its last line counts the rows, and names table and file.
pub fn summary(report: &Report, read: &Read, arguments: &ImportArgs) -> String {
    let mut text = read.shape() + "\n";
    let _ = writeln!(text, "Survives {}: {}.", report.reached.safety.name(), report.reached.by);
    text += &course(report);
    if report.widened {
        text += "A late value changed a type, so dyno read the file again; --types would have spared that.\n";
    }
    report.notes.iter().for_each(|note| {
        let _ = writeln!(text, "{note}");
    });
    if report.rejected > 0 {
        let file = rejects(arguments, &read.table);
        let (were, are) = match report.rejected {
            1 => ("1 bad row was".to_owned(), "it is"),
            count => (format!("{count} bad rows were"), "they are"),
        };
        let _ = writeln!(text, "{were} left out; {are} in {} with line and reason.", escaped(file));
    }
    text + &last_line(report, read)
}

/// Rows, columns with their types, file and table.
fn last_line(report: &Report, read: &Read) -> String {
    let Report { rows, took, bytes, .. } = report;
    let seconds = took.as_secs_f64();
    let per_second = |amount: u64| amount as f64 / seconds.max(1e-9);
    let speed = match *took >= LONG_ENOUGH {
        true => format!(
            ": {} rows/s, {}/s",
            dyno_show::significant(per_second(*rows)),
            dyno_show::bytes(per_second(*bytes))
        ),
        false => String::new(),
    };
    let (into, merged) = match report.merged {
        Some(merged) => ("merged into", outcome(merged, *rows)),
        None => ("into", String::new()),
    };
    format!(
        "{rows} row{} {into} table {} from {}{merged}, {}, in {}{speed}\n",
        if *rows == 1 { "" } else { "s" },
        read.table,
        read.file,
        columns(&report.columns),
        dyno_show::duration(seconds * 1e9),
    )
}

/// The outcome for rows that were merged by a key.
fn outcome(merged: Merged, rows: u64) -> String {
    let what = if merged.updates { "updated" } else { "skipped" };
    match merged.added {
        Some(added) => format!(" ({added} added, {} {what})", rows.saturating_sub(added)),
        None => format!(" (a row whose key is there is {what}, unless a trigger does otherwise)"),
    }
}

/// The columns with their types, or the first of them.
fn columns(columns: &[Column]) -> String {
    let mut shown: Vec<String> =
        columns.iter().take(LISTED).map(|column| format!("{} {}", column.name, column.declared)).collect();
    if columns.len() > LISTED {
        shown.push(format!("{} more", columns.len() - LISTED));
    }
    let plural = if columns.len() == 1 { "" } else { "s" };
    format!("{} column{plural} ({})", columns.len(), shown.join(", "))
}

/// The way in which the work was shared.
fn course(report: &Report) -> String {
    match report.course {
        Course::Beside(waits) => format!(
            "Parsing took {} in a separate thread; the database waited {} for it.\n",
            dyno_show::duration(waits.parsing.as_nanos() as f64),
            dyno_show::duration(waits.for_parser.as_nanos() as f64),
        ),
        Course::Pages { threads: 1 } => "One thread parsed the rows and wrote their pages.\n".to_owned(),
        Course::Pages { threads } => format!("{threads} threads parsed the rows and wrote their pages.\n"),
    }
}
