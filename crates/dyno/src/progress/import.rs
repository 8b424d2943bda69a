//! Progress of an import on a terminal: rows per second, bytes, time left. Nothing elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::Instant;

use dyno_import::Watch;
use dyno_lab::trial::Interrupts;
use dyno_show::units;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far an import is, and passes on that somebody wants it to stop.
pub struct ImportProgress {
    bar: ProgressBar,
    began: Instant,
    interrupts: Interrupts,
}

impl ImportProgress {
    /// Progress through a file of so many bytes, if they are known.
    pub fn new(quiet: bool, bytes: Option<u64>, interrupts: Interrupts) -> ImportProgress {
        let bar = match quiet || !stderr().is_terminal() {
            true => ProgressBar::hidden(),
            false => bar(bytes),
        };
        ImportProgress { bar, began: Instant::now(), interrupts }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for ImportProgress {
    fn stops(&self) -> bool {
        self.interrupts.signal().is_some()
    }

    fn reached(&self, rows: u64, bytes: u64) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position(bytes);
        let rate = rows as f64 / self.began.elapsed().as_secs_f64().max(1e-3);
        self.bar.set_message(format!("{rows} rows, {} rows/s", units::significant(rate)));
    }

    fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }
}

fn bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{bar:24} {bytes} of {total_bytes}, {eta} left, {wide_msg}"),
        None => (ProgressBar::no_length(), "{bytes}, {wide_msg}"),
    };
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
