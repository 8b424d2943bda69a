//! The traffic of an operation, as rows of text: a table for each class of each test.

use dyno_record::SentStatement;
use dyno_verdict::{CountRange, TrafficLine, TrafficTest, Verdict};

use crate::grid::Grid;
use crate::layout::{cut_line, width};
use crate::plain::{SHORT_TITLE, plain};
use crate::table_options::TableOptions;
use crate::units;

/// The headers of the columns after the contender.
pub const COLUMNS: [&str; 6] =
    ["round trips", "statements", "prepares", "sends", "bytes sent", "bytes received"];
/// The most characters of a statement's text that a table shows.
const SHOWN: usize = 70;
/// The columns of a statement's count, with what separates it from those next to it.
const COUNT: usize = 14;

/// The tables; with notes also the statements of each contender.
pub fn tables(verdict: &Verdict, options: TableOptions) -> Vec<String> {
    let tests = verdict.views.traffic.iter();
    let grids = tests.flat_map(|test| {
        let shown = SHOWN.min(room_for_statements(verdict, test));
        let statements =
            options.notes.then(|| statements(verdict, test, shown)).filter(|rows| !rows.is_empty());
        let listed = statements.map(|rows| Grid {
            header: ["", &format!("{}: contender", name(test)), "each", "statement"]
                .map(String::from)
                .to_vec(),
            rows,
        });
        [counts(verdict, test)].into_iter().chain(listed)
    });
    grids.map(|grid| plain(&grid)).collect()
}

/// The columns that are left next to the contender and the count.
fn room_for_statements(verdict: &Verdict, test: &TrafficTest) -> usize {
    let labels = test.lines.iter().map(|line| verdict.label(line.contender).chars().count());
    let heading = name(test).chars().count() + ": contender".len();
    let taken = labels.chain([heading]).max().unwrap_or(0) + COUNT;
    width().saturating_sub(taken).max(SHORT_TITLE)
}

fn counts(verdict: &Verdict, test: &TrafficTest) -> Grid {
    let about = format!("{}: for each operation", name(test));
    Grid {
        header: ["", &about].into_iter().chain(COLUMNS).map(String::from).collect(),
        rows: test.lines.iter().map(|line| row(verdict, line)).collect(),
    }
}

/// A test, and its class if it has some.
pub fn name(test: &TrafficTest) -> String {
    match &test.class {
        Some(class) => format!("{}, {class}", test.test),
        None => test.test.clone(),
    }
}

/// The row of a contender, the first cell of which is empty.
pub fn row(verdict: &Verdict, line: &TrafficLine) -> Vec<String> {
    let cells = match &line.each {
        None => COLUMNS.map(|_| "–".to_owned()),
        Some(share) => {
            let read = |range: &CountRange| match line.unread {
                Some(_) => "–".to_owned(),
                None => shown(range),
            };
            [
                shown(&share.round_trips),
                read(&share.executed),
                read(&share.prepares),
                shown(&share.sends),
                shown(&share.sent_bytes),
                shown(&share.received_bytes),
            ]
        }
    };
    [String::new(), verdict.label(line.contender).to_owned()].into_iter().chain(cells).collect()
}

/// A row for each statement of each contender of a test, texts cut where they are long.
pub fn statements(verdict: &Verdict, test: &TrafficTest, most: usize) -> Vec<Vec<String>> {
    let of_line = |line: &TrafficLine| {
        let operations = line.operations.max(1) as f64;
        let label = verdict.label(line.contender).to_owned();
        let row = move |(place, sent): (usize, &SentStatement)| {
            let first = if place == 0 { label.clone() } else { String::new() };
            vec![String::new(), first, number(sent.count as f64 / operations), cut_line(&sent.text, most)]
        };
        line.statements.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    test.lines.iter().flat_map(of_line).collect()
}

/// A count, or where passes did not agree the lowest and the highest.
fn shown(range: &CountRange) -> String {
    match range.exact() {
        Some(count) => number(count),
        None => format!("{}–{}", number(range.low), number(range.high)),
    }
}

/// A number with at most two digits behind the point.
fn number(number: f64) -> String {
    if number.fract() == 0.0 {
        return units::whole(number as u64);
    }
    match format!("{number:.2}") {
        little if little == "0.00" => "< 0.01".to_owned(),
        text => text,
    }
}

/// The meaning of the figures, and what could not be counted.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let tests = &verdict.views.traffic;
    if tests.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "Round trips: how often one client waited for its server in an operation, counted in two passes through a recording \
         proxy (--round-trips); two numbers are those of passes that differ. Of a mix these are the counts that the second \
         half of a session adds: those of an earlier session that does the first half alone are subtracted. So what each session \
         does once, as connecting, cancels out; on a busy machine a count may miss an operation. A statement is one that the server \
         saw executed; `dyno show --notes [FILE]` lists their texts. A send is a write to the socket, or several in quick succession."
            .to_owned(),
    ];
    for test in tests {
        for line in &test.lines {
            let lacks = lacks(verdict.label(line.contender), line);
            notes.extend(lacks.iter().map(|what| format!("Test {}: {what}.", name(test))));
        }
    }
    notes
}

/// Describes the counts that a contender lacks.
fn lacks(label: &str, line: &TrafficLine) -> Vec<String> {
    let unread = line.unread.iter().map(|why| format!("the statements of {label} could not be read: {why}"));
    let failed = line.failed.iter().map(|why| match line.each {
        None => format!("nothing was counted of {label}: {why}"),
        Some(_) => format!("the counts of {label} are of one pass alone, without the other: {why}"),
    });
    let unrepeated = line.unrepeated.then(|| {
        format!("the counts of {label} are of one pass that was not repeated, since dyno was interrupted")
    });
    unread.chain(failed).chain(unrepeated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_to_the_digit() {
        let range = |low, high| shown(&CountRange { low, high });
        assert_eq!(
            (range(7.0, 7.0), range(0.02, 0.02), range(2.0, 2.5)),
            ("7".into(), "0.02".into(), "2–2.50".into())
        );
        assert_eq!(
            (number(0.0), number(0.001), number(34.126)),
            ("0".into(), "< 0.01".into(), "34.13".into())
        );
    }

    #[test]
    fn a_pass_that_was_interrupted_is_no_failure() {
        let line = |failed: Option<&str>| TrafficLine {
            contender: 0,
            operations: 5,
            each: None,
            statements: Vec::new(),
            unread: None,
            failed: failed.map(str::to_owned),
            unrepeated: failed.is_none(),
        };
        assert_eq!(lacks("pg", &line(Some("gone"))), ["nothing was counted of pg: gone"]);
        let said = "the counts of pg are of one pass that was not repeated, since dyno was interrupted";
        assert_eq!(lacks("pg", &line(None)), [said]);
    }
}
