//! Progress of an import on a terminal: rows per second, bytes, time left. Nothing elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_import::ImportObserver;
use dyno_launch::Interrupts;
use dyno_show::units;
use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal::say;

/// Shows the progress of an import, and passes on interrupts.
pub struct ImportProgress {
    bar: ProgressBar,
    began: Instant,
    interrupts: Interrupts,
    quiet: bool,
    /// The lock that was reported last.
    reported: Mutex<String>,
}

impl ImportProgress {
    /// Progress through a file of `bytes` bytes, if its size is known.
    pub fn new(quiet: bool, bytes: Option<u64>, interrupts: Interrupts) -> ImportProgress {
        let bar = match quiet || !stderr().is_terminal() {
            true => ProgressBar::hidden(),
            false => bar(bytes),
        };
        ImportProgress { bar, began: Instant::now(), interrupts, quiet, reported: Mutex::default() }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl ImportObserver for ImportProgress {
    fn stops(&self) -> bool {
        self.interrupts.signal().is_some()
    }

    fn reached(&self, rows: u64, bytes: u64) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position(bytes);
        self.bar.set_message(message(rows, bytes, self.bar.length(), self.began.elapsed()));
    }

    fn doing(&self, what: &str) {
        self.bar.set_message(format!(", {what}"));
        self.bar.tick();
    }

    /// Prints a lock once, not only on a terminal: the import may wait for hours.
    fn waits(&self, for_what: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet && *reported != for_what {
            self.bar.suspend(|| say(&format!("dyno: {for_what}: waiting; --wait SECONDS limits the time")));
            for_what.clone_into(&mut reported);
        }
    }
}

fn bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{bar:24} {bytes} of {total_bytes}{wide_msg}"),
        None => (ProgressBar::no_length(), "{bytes}{wide_msg}"),
    };
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The time before which a rate says nothing of the rest.
const EARLY: Duration = Duration::from_secs(1);

/// The progress of an import. A rate and the time left are shown once they mean something: the first rows come behind
/// the file's beginning, which is read for its shape.
fn message(rows: u64, bytes: u64, length: Option<u64>, elapsed: Duration) -> String {
    if rows == 0 || elapsed < EARLY {
        return format!(", {rows} rows");
    }
    let seconds = elapsed.as_secs_f64();
    let rate = units::significant(rows as f64 / seconds);
    let left = length.filter(|length| bytes > 0 && bytes < *length);
    let left = left.map_or(String::new(), |length| {
        let left = seconds * (length - bytes) as f64 / bytes as f64;
        format!(", {} left", units::duration(left * 1e9))
    });
    format!("{left}, {rows} rows, {rate} rows/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_and_the_time_left_are_shown_once_they_are_known() {
        let at = |rows, bytes, seconds| message(rows, bytes, Some(100), Duration::from_secs(seconds));
        assert_eq!(at(0, 4, 0), ", 0 rows");
        assert_eq!(at(0, 4, 9), ", 0 rows");
        assert_eq!(at(500, 4, 0), ", 500 rows");
        assert_eq!(at(500, 10, 10), ", 90.0 s left, 500 rows, 50.0 rows/s");
        assert_eq!(at(500, 100, 10), ", 500 rows, 50.0 rows/s");
    }
}
