//! The counts of callgrind: the instructions that all threads of a process executed, and its allocations, which are
//! calls of the C library's functions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{EventCounts, words};

/// The functions that allocate, as programs call them.
const ALLOCATIONS: [&str; 7] =
    ["malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign"];

/// The program and its arguments; it writes the counts of each section to the file with a dot and a number from 1.
pub(super) fn program(file: &Path) -> Vec<String> {
    let mut program = words([
        "setarch",
        "--addr-no-randomize",
        "valgrind",
        "--tool=callgrind",
        "--quiet",
        "--collect-atstart=no",
        // An interpreter may make instructions and overwrite them.
        "--smc-check=all-non-file",
    ]);
    program.push(format!("--callgrind-out-file={}", file.display()));
    program
}

/// The counts of each section, in their order.
pub(super) fn sections(file: &Path) -> Vec<EventCounts> {
    let texts = (1..).map_while(|number| fs::read_to_string(format!("{}.{number}", file.display())).ok());
    texts.map(|text| read(&text)).collect()
}

/// The counts of a file of callgrind's, whose format its manual describes.
fn read(text: &str) -> EventCounts {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let total =
        line("totals:").or_else(|| line("summary:")).and_then(|totals| totals.split_whitespace().next());
    let instructions = total.and_then(|total| total.parse().ok());
    let counts = instructions
        .map(|count| [("instructions".to_owned(), count), ("allocations".to_owned(), allocations(text))]);
    counts.into_iter().flatten().collect()
}

/// The calls of functions that allocate. The file names a function once, `cfn=(12) malloc`, and then by its number.
fn allocations(text: &str) -> u64 {
    let mut names = BTreeMap::new();
    let (mut called, mut all) = ("", 0);
    for line in text.lines() {
        if let Some(function) = line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn=")) {
            let (number, name) = function.split_once(' ').unwrap_or((function, ""));
            if !name.is_empty() {
                names.insert(number, name);
            }
            called = names.get(number).copied().unwrap_or_default();
        } else if let Some(calls) = line.strip_prefix("calls=")
            && ALLOCATIONS.contains(&called)
        {
            all += calls.split(' ').next().and_then(|calls| calls.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_and_calls_of_functions_that_allocate_are_read() {
        let text = "version: 1\nevents: Ir\nsummary: 5\n\nfn=(1) main\n1 5\ncfn=(2) malloc\ncalls=6 3281\n1 9\ncfn=(3) free\n\
                    calls=6 1\n1 2\nfn=(4) other\ncfn=(2)\ncalls=1 3281\n1 2\n\ntotals: 5\n";
        let counts = [("instructions".to_owned(), 5), ("allocations".to_owned(), 7)];
        assert_eq!(read(text), EventCounts::from(counts));
        assert_eq!(read(""), EventCounts::new());
    }
}
