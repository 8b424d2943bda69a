//! The functions that gained and lost the most instructions, as rows of text.

use dyno_record::FunctionCounts;
use dyno_verdict::{ComparedFunctions, FunctionChange, FunctionComparison, NamelessBuild, Verdict};

use crate::grid::Grid;
use crate::labels::{LABEL, fold_labels};
use crate::layout::cut;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units;

/// The name of all tests together.
pub const TOGETHER: &str = "all";
/// Of several tests, those whose instructions differ the most are in the tables: as many as this.
const SHOWN: usize = 3;
/// The most letters of a function's name and its file that a table shows.
const LONGEST: usize = 40;

/// A table for each two builds: all tests together, and those that differ the most.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let of = |comparison: &FunctionComparison| {
        plain(&fold_labels(functions(verdict, comparison, &shown(&comparison.tests)), LABEL))
    };
    verdict.views.functions.iter().map(of).collect()
}

/// All tests together, and those whose instructions differ the most; a single test alone.
pub fn shown(tests: &[ComparedFunctions]) -> Vec<&ComparedFunctions> {
    let (together, mut each): (Vec<_>, Vec<_>) = tests.iter().partition(|compared| compared.test.is_none());
    let share = |compared: &ComparedFunctions| (compared.difference() / compared.before.max(1.0)).abs();
    each.retain(|compared| together.is_empty() || compared.difference() != 0.0);
    each.sort_by(|one, other| share(other).total_cmp(&share(one)));
    each.truncate(SHOWN);
    each.sort_by_key(|compared| tests.iter().position(|known| known.test == compared.test));
    together.into_iter().chain(each).collect()
}

/// The rows of some tests.
pub fn functions(verdict: &Verdict, comparison: &FunctionComparison, tests: &[&ComparedFunctions]) -> Grid {
    let labels = [comparison.over, comparison.contender].map(|place| verdict.label(place).to_owned());
    grid("functions, by instructions".to_owned(), labels, tests)
}

/// The rows of some tests, below the names of both sides.
pub fn grid(title: String, sides: [String; 2], tests: &[&ComparedFunctions]) -> Grid {
    let header = [String::new(), title].into_iter().chain(sides);
    Grid {
        header: header.chain(["difference".to_owned()]).collect(),
        rows: tests.iter().flat_map(|compared| of_test(compared)).collect(),
    }
}

/// The functions that differ the most, all others, and the sum of both.
fn of_test(compared: &ComparedFunctions) -> Vec<Vec<String>> {
    let row = |words: String, before: f64, now: f64| {
        let difference = signed(now.round() - before.round());
        vec![String::new(), words, number(before), number(now), difference]
    };
    let mut rows: Vec<Vec<String>> =
        compared.largest().map(|change| row(name(change), change.before, change.now)).collect();
    let (before, now) = compared.besides(compared.largest());
    rows.push(row("all others".into(), before, now));
    rows.push(row("together".into(), compared.before, compared.now));
    rows[0][0] = compared.test.clone().unwrap_or_else(|| TOGETHER.to_owned());
    rows
}

/// A function, with the file that it is in where that is not the build's.
pub fn name(change: &FunctionChange) -> String {
    let FunctionChange { function, file, .. } = change;
    let words = match function.as_str() {
        "" => format!("without a name, in {}", file_in_words(file)),
        function if FunctionCounts::is_of_build(file) => function.to_owned(),
        function => format!("{function} ({file})"),
    };
    cut(&words, LONGEST)
}

/// A file, in words where it is the library or the runner.
pub fn file_in_words(file: &str) -> &str {
    match file {
        FunctionCounts::LIBRARY => "the engine's library",
        FunctionCounts::RUNNER => "the runner",
        other => other,
    }
}

/// Instructions on one side; a dash for none.
fn number(instructions: f64) -> String {
    match instructions.round().max(0.0) as u64 {
        0 => "–".to_owned(),
        whole => units::whole(whole),
    }
}

/// A difference with its sign.
pub fn signed(difference: f64) -> String {
    let whole = units::whole(difference.abs().round() as u64);
    match difference {
        _ if whole == "0" => whole,
        gained if gained > 0.0 => format!("+{whole}"),
        _ => format!("−{whole}"),
    }
}

/// The meaning of the numbers, and builds without symbols.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let comparisons = &verdict.views.functions;
    let tests: Vec<&ComparedFunctions> =
        comparisons.iter().flat_map(|comparison| &comparison.tests).collect();
    let mut builds: Vec<&NamelessBuild> = Vec::new();
    for build in comparisons.iter().flat_map(|comparison| &comparison.nameless) {
        if !builds.iter().any(|known| known.contender == build.contender) {
            builds.push(build);
        }
    }
    let builds = builds.iter().map(|build| (verdict.label(build.contender).to_owned(), build.share));
    notes_of(&tests, &builds.collect::<Vec<_>>())
}

/// The same of some tests, and of builds without symbols, each with its share of instructions.
pub fn notes_of(tests: &[&ComparedFunctions], nameless_builds: &[(String, f64)]) -> Vec<String> {
    if tests.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "Functions: the instructions that each executed in the timed section of one trial under callgrind, without those of \
         functions that it called. What the compiler put inline belongs to the function around it."
            .to_owned(),
    ];
    let left_out = tests.iter().map(|compared| compared.left_out_at_most).fold(0.0, f64::max);
    if left_out > 0.0 {
        notes.push(format!(
            "–: it executed nothing, or is one of those with at most {} instructions that the run file leaves out",
            units::whole(left_out.round() as u64)
        ));
    }
    let scattered = tests.iter().filter(|compared| compared.scatters);
    let scattered: Vec<&str> = scattered.filter_map(|compared| compared.test.as_deref()).collect();
    if !scattered.is_empty() {
        notes.push(format!(
            "Functions: the two trials counted different numbers of instructions in test {}, so differences there may be \
             chance",
            scattered.join(", ")
        ));
    }
    notes.extend(nameless(nameless_builds));
    notes
}

/// The builds whose functions have no names, with the remedy; none if all have some.
fn nameless(builds: &[(String, f64)]) -> Option<String> {
    let share =
        |(label, share): &(String, f64)| format!("{} of the instructions of {label}", units::percent(*share));
    let shares: Vec<String> = builds.iter().map(share).collect();
    (!shares.is_empty()).then(|| {
        format!(
            "Functions without a name executed {}: the file has no symbols. Build it without -s, and do not run strip on it",
            shares.join(" and ")
        )
    })
}
