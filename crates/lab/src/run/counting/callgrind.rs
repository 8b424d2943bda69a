//! The counts of callgrind: the instructions that all threads of a process executed, by function too, and its
//! allocations, which are calls of the C library's functions.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dyno_record::FunctionCounts;

use super::profile::Profile;
use super::{COPY, CountedSection, EventCounts, words};

/// The functions that allocate, as programs call them.
const ALLOCATIONS: [&str; 7] =
    ["malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign"];
/// The most functions that are kept of a section.
const MOST_FUNCTIONS: usize = 500;
/// The most letters of a function's name that are kept.
const LONGEST_NAME: usize = 120;
/// The marks of the parts and copies that compilers make of a function.
const CLONES: [&str; 7] = [".part.", ".isra.", ".constprop.", ".cold", ".lto_priv.", ".llvm.", " [clone "];
/// The digits of the hash that ends the names of functions in Rust.
const HASH_DIGITS: usize = 16;

/// The program and its arguments; it writes the counts of each section to the file with a dot and a number from 1.
pub(super) fn program(file: &Path) -> Vec<String> {
    let mut program = words([
        "setarch",
        "--addr-no-randomize",
        "valgrind",
        "--tool=callgrind",
        "--quiet",
        "--collect-atstart=no",
        // FIFOs for debuggers would stay in the folder for temporary files when the process is killed.
        "--vgdb=no",
        // An interpreter may make instructions and overwrite them.
        "--smc-check=all-non-file",
    ]);
    program.push(format!("--callgrind-out-file={}", file.display()));
    program
}

/// The counts of each section, in their order.
pub(super) fn sections(file: &Path) -> Vec<CountedSection> {
    let files = (1..).map_while(|number| fs::read(format!("{}.{number}", file.display())).ok());
    // A symbol's name may hold any bytes.
    files.map(|bytes| read(&String::from_utf8_lossy(&bytes))).collect()
}

/// The counts of a section, from a file of callgrind's.
fn read(text: &str) -> CountedSection {
    let profile = Profile::read(text);
    let counts = profile.total.map(|instructions| {
        EventCounts::from([
            ("instructions".to_owned(), instructions),
            ("allocations".to_owned(), allocations(&profile)),
        ])
    });
    CountedSection { counts: counts.unwrap_or_default(), functions: functions(&profile) }
}

/// The calls of functions that allocate.
fn allocations(profile: &Profile) -> u64 {
    let calls = |name: &&str| profile.calls.get(*name).copied().unwrap_or(0);
    ALLOCATIONS.iter().map(calls).fold(0, u64::saturating_add)
}

/// The functions with the most instructions; none where the file does not account for all instructions of the section.
fn functions(profile: &Profile) -> Option<FunctionCounts> {
    let sum = profile.executed.values().copied().fold(0, u64::saturating_add);
    if !profile.is_whole || Some(sum) != profile.total {
        return None;
    }
    let mut counts: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for ((object, function), count) in profile.executed.iter().filter(|(_, count)| **count > 0) {
        let sum = counts.entry((file(object, profile.command), name(function))).or_default();
        *sum = sum.saturating_add(*count);
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    // Functions without a name stay: dyno would not know otherwise that names are missing.
    sorted.sort_by_key(|((_, name), count)| (!name.is_empty(), Reverse(*count)));
    let left_out = sorted.split_off(sorted.len().min(MOST_FUNCTIONS));
    let mut kept = FunctionCounts {
        left_out_at_most: left_out.first().map_or(0, |(_, count)| *count),
        ..FunctionCounts::default()
    };
    for ((file, name), count) in sorted {
        kept.files.entry(file.to_owned()).or_default().insert(name, count);
    }
    Some(kept)
}

/// The file that an object is to the reader: the library and the runner have other names in another build.
fn file<'a>(object: &'a str, command: &str) -> &'a str {
    let last = object.rsplit('/').next().unwrap_or(object);
    let is_command =
        || command.strip_prefix(object).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    match last {
        COPY => FunctionCounts::LIBRARY,
        _ if is_command() => FunctionCounts::RUNNER,
        _ => last,
    }
}

/// The name of a function as its author wrote it; empty if only its address is known.
fn name(function: &str) -> String {
    let is_address = function.strip_prefix("0x").is_some_and(|digits| {
        digits.chars().take_while(char::is_ascii_hexdigit).count() >= 8 && !digits.contains('(')
    });
    if is_address || function == "???" {
        return String::new();
    }
    let function = without_level(function);
    let ends = CLONES.iter().filter_map(|mark| function.find(mark)).filter(|&end| end > 0);
    let name = &function[..ends.min().unwrap_or(function.len())];
    let is_hash = |hash: &str| hash.len() == HASH_DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let name = name.rsplit_once("::h").filter(|(_, hash)| is_hash(hash)).map_or(name, |(name, _)| name);
    name.chars().take(LONGEST_NAME).collect()
}

/// The name of a function without the level of its recursion: callgrind counts `walk'2` where `walk` calls itself.
fn without_level(function: &str) -> &str {
    let is_level = |level: &str| !level.is_empty() && level.bytes().all(|digit| digit.is_ascii_digit());
    function.rsplit_once('\'').filter(|(_, level)| is_level(level)).map_or(function, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "version: 1\ncmd: /opt/runner --job=a:b\nevents: Ir\nsummary: 48\n\nob=(1) /tmp/x/build.so\nfl=(1) a.c\n\
                        fn=(1) main.part.0\n1 5\ncfn=(2) malloc\ncalls=6 3281\n1 9\ncfn=(3) free\ncalls=6 1\n1 2\n+3 4\n\
                        fn=(4) main\ncfn=(2)\ncalls=1 3281\n1 2\n* 1\nob=(2) /opt/runner\n\
                        fn=(5) r::run::h0123456789abcdef\n7 8\nob=(3) /lib/libc.so.6\nfn=(2)\n1 20\nfn=(6) 0x00000000000023d0\n0 10\n\
                        \ntotals: 48\n";

    fn kept(text: &str) -> Vec<(String, String, u64)> {
        let functions = read(text).functions.unwrap();
        functions.functions().map(|(file, name, count)| (file.to_owned(), name.to_owned(), count)).collect()
    }

    #[test]
    fn instructions_and_calls_of_functions_that_allocate_are_read() {
        let counts = [("instructions".to_owned(), 48), ("allocations".to_owned(), 7)];
        assert_eq!(read(FILE).counts, EventCounts::from(counts));
        assert_eq!(read(""), CountedSection::default());
    }

    #[test]
    fn functions_have_their_own_instructions_and_the_names_of_their_authors() {
        let known = kept(FILE);
        let known: Vec<(&str, &str, u64)> =
            known.iter().map(|(file, name, count)| (file.as_str(), name.as_str(), *count)).collect();
        let expected = [
            ("libc.so.6", "", 10),
            ("libc.so.6", "malloc", 20),
            ("library", "main", 10),
            ("runner", "r::run", 8),
        ];
        assert_eq!(known, expected);
        let names = [
            "operator new(unsigned long)",
            "(below main)",
            "f() [clone .isra.0]",
            "0x0000000000045e10 [PLT]",
        ];
        assert_eq!(names.map(name), ["operator new(unsigned long)", "(below main)", "f()", ""]);
        assert_eq!(name("0xfade(int)"), "0xfade(int)");
        assert_eq!(["walk.cold", "walk'2", "walk.part.0'12"].map(name), ["walk"; 3]);
        assert_eq!(name("it's"), "it's");
    }

    #[test]
    fn functions_with_few_instructions_are_left_out() {
        let costs: String = (1..=600).map(|n| format!("fn=({n}) f{n}\n1 {n}\n")).collect();
        let total: u64 = (1..=600).sum();
        let text = format!(
            "events: Ir\nob=(1) /x/build.so\n{costs}fn=(601) 0x00000000000023d0\n1 1\ntotals: {}\n",
            total + 1
        );
        let functions = read(&text).functions.unwrap();
        assert_eq!(functions.functions().count(), MOST_FUNCTIONS);
        // The one without a name takes the place of another.
        assert_eq!((functions.left_out_at_most, functions.files["library"][""]), (101, 1));
        assert!(
            functions.files["library"].contains_key("f102")
                && !functions.files["library"].contains_key("f101")
        );
    }

    #[test]
    fn a_file_that_was_cut_off_has_no_functions() {
        for end in 0..FILE.len() {
            assert_eq!(read(&FILE[..end]).functions, None, "{end}");
        }
        assert_eq!(read(&FILE.replace("7 8\n", "7 9\n")).functions, None);
    }

    proptest! {
        /// Functions are known only with all instructions, whatever the file says.
        #[test]
        fn functions_add_up_or_are_not_known(at in 0usize..500, cut in 0usize..40, put in "[ -~\n]{0,8}|(calls|fn|cfn|ob)=\\(?[0-9]{0,3}\\)?|18446744073709551615\n") {
            let start = at.min(FILE.len());
            let end = (start + cut).min(FILE.len());
            let section = read(&format!("{}{put}{}", &FILE[..start], &FILE[end..]));
            if let Some(functions) = section.functions {
                let sum = functions.functions().fold(0, |sum: u64, (_, _, count)| sum.saturating_add(count));
                prop_assert_eq!(Some(&sum), section.counts.get("instructions"));
            }
        }
    }
}
