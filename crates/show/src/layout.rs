//! The width of text: that of the terminal within limits, or the default without a terminal.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The usual width of a line, in columns.
pub const WIDTH: usize = 100;
/// The widths that tables adapt to. A line of text is never longer than the usual width.
const LEAST: usize = 60;
const MOST: usize = 200;

static COLUMNS: AtomicUsize = AtomicUsize::new(WIDTH);

/// Sets the width of a terminal, in columns, for all that is printed afterwards.
pub fn set_width(columns: usize) {
    COLUMNS.store(columns.clamp(LEAST, MOST), Ordering::Relaxed);
}

/// The widest line of a table, in columns.
pub fn width() -> usize {
    COLUMNS.load(Ordering::Relaxed)
}

/// Text in lines of at most 100 columns, the first set in by `first` and the others by `rest`. Names and commands are
/// not broken at their hyphens, so that they can be copied.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(width().min(WIDTH)).initial_indent(first).subsequent_indent(rest);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}

/// The beginning of a text, at most `longest` characters with the ellipsis that stands for the rest.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some(_) => text.chars().take(longest.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// A text in one line, likewise.
pub(crate) fn cut_line(text: &str, longest: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), longest)
}
