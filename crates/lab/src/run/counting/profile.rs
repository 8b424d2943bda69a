//! The files that callgrind writes: how many instructions each function executed, and how often others called it.
//!
//! Valgrind's manual describes them ("Callgrind Format Specification"). A cost line has the position of a piece of code
//! and its costs; it belongs to the function and the object that lines before it named, unless it follows `calls=`: then
//! it is what the called function cost.

use std::collections::{BTreeMap, HashMap};

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct Profile<'a> {
    /// The command that was simulated.
    pub command: &'a str,
    /// The instructions that were executed; none where the file does not say.
    pub total: Option<u64>,
    /// True if the file came to its end, which is the line of totals.
    pub is_whole: bool,
    /// The instructions of each function without those of functions that it called, by object and name.
    pub executed: BTreeMap<(&'a str, &'a str), u64>,
    /// The calls of each function, by its name.
    pub calls: BTreeMap<&'a str, u64>,
}

/// Names that a file gives once, `(12) malloc`, and repeats by their numbers, `(12)`.
#[derive(Debug, Default)]
struct Names<'a>(HashMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    fn read(&mut self, written: &'a str) -> &'a str {
        let numbered = written.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match numbered.filter(|(number, _)| is_number(number)) {
            None => written,
            Some((number, "")) => self.0.get(number).copied().unwrap_or_default(),
            Some((number, name)) => {
                let name = name.trim_start();
                self.0.insert(number, name);
                name
            }
        }
    }
}

/// The meaning of the next lines, by those before.
#[derive(Debug, Default)]
struct Context<'a> {
    objects: Names<'a>,
    functions: Names<'a>,
    object: &'a str,
    function: &'a str,
    called: &'a str,
    /// True if the next cost line is that of a call.
    of_call: bool,
    /// Words of a cost line before its costs.
    positions: usize,
}

impl<'a> Profile<'a> {
    /// Reads a file, as far as it can be read.
    pub fn read(text: &'a str) -> Profile<'a> {
        let mut profile = Profile::default();
        let mut context = Context { positions: 1, ..Context::default() };
        let mut summary = None;
        for line in text.split_inclusive('\n') {
            // A line without its end was cut off.
            let Some(line) = line.strip_suffix('\n') else { break };
            let first = |value: &str| value.split_whitespace().next().and_then(|count| count.parse().ok());
            if let Some((key, value)) = line.split_once('=').filter(|(key, _)| is_specification(key)) {
                profile.specification(&mut context, key, value);
            } else if line.starts_with(|letter: char| letter.is_ascii_digit() || "+-*".contains(letter)) {
                profile.cost(&mut context, line);
            } else if let Some((key, value)) = line.split_once(':') {
                match key {
                    "cmd" => profile.command = value.trim(),
                    "positions" => context.positions = value.split_whitespace().count(),
                    "summary" => summary = first(value),
                    "totals" => (profile.total, profile.is_whole) = (first(value), true),
                    _ => {}
                }
            }
        }
        profile.total = profile.total.or(summary);
        profile
    }

    /// A line that says what those after it are about.
    fn specification(&mut self, context: &mut Context<'a>, key: &str, value: &'a str) {
        match key {
            "ob" => context.object = context.objects.read(value),
            "fn" => context.function = context.functions.read(value),
            "cfn" => context.called = context.functions.read(value),
            // Its number may be given here and repeated where the object's own functions are listed.
            "cob" => {
                context.objects.read(value);
            }
            "calls" => {
                context.of_call = true;
                let calls = value.split_whitespace().next().and_then(|calls| calls.parse().ok()).unwrap_or(0);
                add(self.calls.entry(context.called).or_default(), calls);
            }
            _ => {}
        }
    }

    /// A line of costs, of which the first is that of instructions: callgrind is asked for no other events.
    fn cost(&mut self, context: &mut Context<'a>, line: &str) {
        if std::mem::take(&mut context.of_call) {
            return;
        }
        let cost = line.split_whitespace().nth(context.positions);
        if let Some(count) = cost.and_then(|cost| cost.parse().ok()) {
            add(self.executed.entry((context.object, context.function)).or_default(), count);
        }
    }
}

/// True if this is what lines such as `fn=(1) main` begin with; a header line may have the letter `=` too.
fn is_specification(key: &str) -> bool {
    key.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// Adds within what a number can hold: the file may say anything.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
