//! The live view on a terminal: a bar, what runs now, and the table as it fills in.
//!
//! It is drawn only when a test begins or a trial ends, so that it takes no processor time from a
//! trial. What it shows are medians so far; the verdict comes at the end.

use std::time::Duration;

use console::{Term, style};
use dyno_record::Run;
use dyno_show::{WIDTH, safe, units};
use dyno_verdict::statistics::median;
use indicatif::{ProgressBar, ProgressStyle};

use super::copies::by_number;

/// The width of a contender's column.
const COLUMN: usize = 15;
/// The width in columns at which a test's title is cut.
const TITLE: usize = 30;

/// The work in progress: a contender and a test, each by its position in the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Now {
    /// The contender.
    pub contender: Option<usize>,
    /// The test.
    pub test: Option<usize>,
    /// The block.
    pub block: u32,
}

/// The view.
#[derive(Debug)]
pub struct Live {
    bar: ProgressBar,
    /// The medians so far as text: a row for each test shown, a cell for each contender shown.
    cells: Vec<Vec<String>>,
}

impl Live {
    /// An empty view.
    pub fn new() -> Live {
        let style = ProgressStyle::with_template("{bar:24} {prefix}\n{msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Live { bar: ProgressBar::new(1).with_style(style), cells: Vec::new() }
    }

    /// A line above the view, which stays.
    pub fn say(&self, line: &str) {
        self.bar.println(safe(line));
    }

    /// A separate line, before there is a table.
    pub fn prepares(&self, line: &str, share: f64) {
        let (_, width) = Term::stderr().size();
        self.bar.set_prefix(cut(line, usize::from(width).clamp(40, WIDTH) - 26));
        self.bar.set_length(1000);
        self.bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
        self.bar.tick();
    }

    /// Takes the view away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Takes the samples of the run into the table.
    pub fn fill(&mut self, run: &Run) {
        let cell = |contender: usize, test: &str| {
            let trials = run.trials.iter().filter(|trial| trial.contender == contender && !trial.is_extra());
            let samples = trials.flat_map(|trial| trial.samples.iter().map(|sample| (trial.block, sample)));
            let of_test = samples.filter(|(_, sample)| sample.sample.test == test);
            let all: Vec<(u32, f64)> = of_test.map(|(block, sample)| (block, sample.duration_ns())).collect();
            let measured: Vec<f64> = all.iter().filter(|(block, _)| *block > 0).map(|(_, ns)| *ns).collect();
            match (median(&measured), all.first()) {
                (Some(median), _) => units::duration(median),
                // Of the warm-up, which takes part in no figure.
                (None, Some((_, warm_up))) => format!("({})", units::duration(*warm_up)),
                (None, None) => "·".into(),
            }
        };
        self.cells = run
            .shown_tests()
            .map(|test| run.shown_contenders().map(|(index, _)| cell(index, &test.id)).collect())
            .collect();
    }

    /// Draws it. `share` is how much of the run is done, `left` how long it may still take.
    pub fn draw(&mut self, run: &Run, now: Now, share: f64, left: Option<Duration>) {
        if self.cells.is_empty() {
            self.fill(run);
        }
        let (height, width) = Term::stderr().size();
        self.bar.set_length(1000);
        self.bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
        let width = usize::from(width).max(40);
        self.bar.set_prefix(cut(&headline(run, now, left), width.saturating_sub(26)));
        self.bar.set_message(self.table(run, now, usize::from(height).saturating_sub(4).max(3), width));
        // Not by the clock: a line that is left out for being early would stand wrong for the whole test.
        self.bar.force_draw();
    }

    /// As many lines as fit, around the test that runs now.
    fn table(&self, run: &Run, now: Now, height: usize, width: usize) -> String {
        let columns = (width.saturating_sub(TITLE + 6) / COLUMN).max(1);
        let contenders: Vec<(usize, &str)> =
            run.shown_contenders().map(|(index, contender)| (index, contender.label.as_str())).collect();
        let at = contenders.iter().position(|(index, _)| Some(*index) == now.contender).unwrap_or(0);
        // The page of columns on which the contender that runs now stands.
        let first_column = at / columns * columns;
        let shown = first_column..(first_column + columns).min(contenders.len());
        let header: String = contenders[shown.clone()]
            .iter()
            .map(|(index, label)| {
                let text = format!("{:>COLUMN$}", cut(&by_number(label), COLUMN - 1));
                if Some(*index) == now.contender { strong(&text) } else { text }
            })
            .collect();
        let current =
            now.test.and_then(|test| run.shown_tests().position(|shown| shown.id == run.tests[test].id));
        let rows = self.cells.len().min(height.saturating_sub(1));
        let first = current.unwrap_or(0).saturating_sub(rows / 2).min(self.cells.len() - rows);
        let mut lines = vec![format!("{:1$}{header}", "", TITLE + 5)];
        for (place, test) in run.shown_tests().enumerate().skip(first).take(rows) {
            let name = format!("{:<3} {:<TITLE$} ", cut(&test.id, 3), cut(&test.title, TITLE));
            let cells: String =
                self.cells[place][shown.clone()].iter().map(|cell| format!("{cell:>COLUMN$}")).collect();
            let line = format!("{name}{cells}");
            lines.push(if current == Some(place) { strong(&line) } else { line });
        }
        lines.join("\n")
    }
}

/// `block 3, sqlite:wal, test 6 of 15; 0:42 left`.
fn headline(run: &Run, now: Now, left: Option<Duration>) -> String {
    let mut parts = vec![if now.block == 0 { "warm-up".to_owned() } else { format!("block {}", now.block) }];
    parts.extend(now.contender.map(|contender| by_number(&run.contenders[contender].label)));
    parts.extend(now.test.map(|test| format!("test {} of {}", test + 1, run.tests.len())));
    let about = if run.schedule.trials.is_some() { "about" } else { "at most" };
    parts.extend(left.map(|left| format!("{about} {}:{:02} left", left.as_secs() / 60, left.as_secs() % 60)));
    parts.join(", ")
}

/// Bold, where the terminal has it and NO_COLOR is not set.
fn strong(text: &str) -> String {
    style(text).for_stderr().bold().to_string()
}

/// The beginning of a text, on one line.
fn cut(text: &str, longest: usize) -> String {
    let text = safe(text).replace(['\n', '\t'], " ");
    if text.chars().count() <= longest {
        return text;
    }
    text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

impl Default for Live {
    fn default() -> Live {
        Live::new()
    }
}
