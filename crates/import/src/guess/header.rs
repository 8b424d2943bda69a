//! Decides whether the first record names the columns.

use std::collections::HashSet;

use super::{Choice, Guess};
use crate::infer::Inference;
use crate::value::{integer, real};

/// Whole numbers that may be the names of columns, as in `country,2019,2020`.
const YEARS: std::ops::RangeInclusive<i64> = 1800..=2200;

/// Texts that mean a missing value in many files: no column has such a name.
const NO_VALUES: [&str; 17] = [
    "na",
    "n/a",
    "n.a.",
    "#n/a",
    "<na>",
    "nan",
    "null",
    "(null)",
    "none",
    "nil",
    "\\n",
    "-",
    "--",
    "?",
    "unknown",
    "missing",
    "undefined",
];
/// The properties of the first record's fields that speak for or against a header.
#[derive(Debug, Default)]
struct Votes {
    /// Words above a column of numbers.
    words: usize,
    /// Other texts above a column of numbers that do not mean a missing value.
    texts: usize,
    /// Numbers above a column of numbers.
    numbers: usize,
    /// Of those, years that differ from the numbers below.
    years: usize,
    /// Words without a digit above a column of texts that all hold one.
    plain: usize,
    /// Fields that read like all below them, and as no name does.
    alike: usize,
    /// Words that read like all below them: `DE` above `FR`.
    codes: usize,
    /// True if a word above texts, or an empty field above values, is followed by numbers that may be names: a year, or
    /// some that count on.
    numbered: bool,
}

/// Guesses whether the first record names the columns.
pub fn header(records: &[Vec<Vec<u8>>]) -> Guess<bool> {
    let Some((first, rest)) = records.split_first() else {
        return Ok(Choice::new(false, "there is no record"));
    };
    let again = rest.iter().any(|record| is_again(record, first)).then(|| repeated(records));
    let rest: Vec<&Vec<Vec<u8>>> = rest.iter().filter(|record| !is_again(record, first)).collect();
    let votes = votes(first, &rest);
    match (votes.words > 0, votes.numbers > votes.years) {
        (true, false) if votes.alike > 0 || votes.words == 1 && votes.codes > 0 => {
            Err(either("it has a word above numbers, and a field that reads like those below it"))
        }
        (true, false) => match again {
            None => Ok(Choice::new(true, "columns of numbers begin with a word")),
            Some(question) => Err(question),
        },
        (true, true) => Err(either("it has words and numbers above columns of numbers")),
        (false, true) if votes.numbered => Err(either(
            "it has a word above texts, or nothing above values, and numbers that may be names of columns, as years may",
        )),
        (false, true) => Ok(Choice::new(false, "the first record holds numbers as those below it do")),
        (false, false) if votes.years > 0 => {
            Err(either("it has numbers that may be years, as names of columns"))
        }
        (false, false) if votes.texts > 0 => Err(either("it has texts above columns of numbers")),
        (false, false) => header_of_texts(first, &rest, again, &votes),
    }
}

fn votes(first: &[Vec<u8>], rest: &[&Vec<Vec<u8>>]) -> Votes {
    let mut inference = Inference::new(first.len());
    rest.iter().filter(|record| record.len() == first.len()).for_each(|record| inference.see_all(record));
    let kinds = inference.kinds();
    let mut votes = Votes::default();
    let mut numbers = Vec::new();
    for ((column, name), kind) in first.iter().enumerate().zip(&kinds) {
        let below = || rest.iter().filter_map(|record| record.get(column)).filter(|field| !field.is_empty());
        let has_digit = |field: &[u8]| field.iter().any(u8::is_ascii_digit);
        let is_year = |field: &[u8]| integer(field).is_some_and(|year| YEARS.contains(&year));
        let has_some_below = below().next().is_some();
        match (kind.empty_is_null(), is_number(name)) {
            (true, true) => {
                votes.numbers += 1;
                votes.years += usize::from(is_year(name) && !below().all(|field| is_year(field)));
                numbers.extend(integer(name));
            }
            (true, false) if is_name(name) => votes.words += 1,
            (true, false) => votes.texts += usize::from(!is_no_value(name)),
            (false, _) if is_name(name) => {
                let is_plain = !has_digit(name) && has_some_below;
                votes.plain += usize::from(is_plain && below().all(|field| has_digit(field)));
                votes.codes += usize::from(has_some_below && below().all(|field| is_code_as(field, name)));
            }
            (false, _) => {
                votes.alike += usize::from(has_some_below && below().all(|field| is_marked_as(field, name)));
            }
        }
    }
    let begins_with_word = first.first().is_some_and(|name| is_name(name))
        && kinds.first().is_some_and(|kind| !kind.empty_is_null());
    // As pandas writes an index: its column has no name, and a value in each row.
    let begins_unnamed = first.first().is_some_and(Vec::is_empty)
        && !rest.is_empty()
        && rest.iter().all(|record| record.first().is_some_and(|field| !field.is_empty()));
    let is_count = begins_unnamed && numbers.iter().copied().eq(0..numbers.len() as i64);
    votes.numbered = (begins_with_word || begins_unnamed)
        && numbers.len() == votes.numbers
        && (numbers.len() == 1 && votes.years == 1 || counts_on(&numbers) || is_count);
    // A lone year among numbers of another kind is a number.
    if votes.years < 2 {
        votes.years = 0;
    }
    votes
}

/// The guess where there is no column of numbers.
fn header_of_texts(
    first: &[Vec<u8>],
    rest: &[&Vec<Vec<u8>>],
    again: Option<String>,
    votes: &Votes,
) -> Guess<bool> {
    let lower: HashSet<String> =
        first.iter().map(|name| String::from_utf8_lossy(name).to_lowercase()).collect();
    if votes.alike > 0 || first.iter().any(|name| is_value(name)) {
        return Ok(Choice::new(false, "the first record holds what names no column"));
    }
    if lower.len() < first.len() {
        return Err(either("it has a word twice"));
    }
    let is_again = again.is_some();
    if let Some(question) = again.filter(|_| first.len() > 1) {
        return Err(question);
    }
    let is_same = |(field, name): (&Vec<u8>, &Vec<u8>)| field == name && !name.is_empty();
    if is_again || rest.iter().any(|record| record.iter().zip(first).any(is_same)) {
        return Ok(Choice::new(false, "its values come again below it"));
    }
    if !first.iter().all(|name| is_name(name)) {
        return Err(either("it has texts that are neither names as most columns have them nor values"));
    }
    if votes.plain > 0 {
        return Ok(Choice::new(true, "words stand above texts that all hold digits"));
    }
    if rest.iter().all(|record| record.len() != first.len()) {
        return Err(either(
            "it has words, and the beginning of the file has no other record of as many fields",
        ));
    }
    Err(either("it has words, as the records below it have"))
}

/// True if there are several numbers, and each is as much larger than the one before it.
fn counts_on(numbers: &[i64]) -> bool {
    let mut steps = numbers.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
    let step = steps.next().flatten();
    numbers.len() > 2 && step.is_some_and(|step| step > 0) && steps.all(|other| other == step)
}

fn is_number(field: &[u8]) -> bool {
    integer(field).is_some() || real(field).is_some()
}

/// True if a field is a value that is written with digits, or a text that means a missing one: no column's name.
fn is_value(field: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"-/.:, +TZ".contains(byte);
    let is_written_with_digits = field.iter().any(u8::is_ascii_digit) && field.iter().all(is_part);
    is_number(field) || is_written_with_digits || !field.is_empty() && is_no_value(field)
}

/// True if a field reads like the name of a column.
fn is_name(field: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 128;
    field.first().is_some_and(is_letter)
        && field.len() <= 64
        && field.iter().all(|byte| may_be_within(*byte))
        && !is_no_value(field)
}

/// True for the bytes that a column's name may hold behind its first letter.
fn may_be_within(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 128 || b"_ -./()%#:$&+".contains(&byte)
}

/// True if a field begins with a digit as another one does, and has the marks of that one that stand in no name.
fn is_marked_as(field: &[u8], other: &[u8]) -> bool {
    let begins_with_digit = |field: &[u8]| field.first().is_some_and(u8::is_ascii_digit);
    let mut marks = other.iter().filter(|byte| !may_be_within(**byte)).peekable();
    (begins_with_digit(other) || marks.peek().is_some())
        && begins_with_digit(other) == begins_with_digit(field)
        && marks.all(|mark| field.contains(mark))
}

/// True if two fields are codes of one form: digits and capital letters in the same places.
fn is_code_as(field: &[u8], other: &[u8]) -> bool {
    let is_as = |(one, other): (&u8, &u8)| {
        one.is_ascii_uppercase() && other.is_ascii_uppercase()
            || one.is_ascii_digit() && other.is_ascii_digit()
            || one == other && one.is_ascii_punctuation()
    };
    field.len() == other.len() && field.iter().zip(other).all(is_as)
}

/// True if a field is empty, or a text that means the same in many files.
fn is_no_value(field: &[u8]) -> bool {
    let text = String::from_utf8_lossy(field.trim_ascii()).to_lowercase();
    text.is_empty() || NO_VALUES.contains(&text.as_str())
}

/// Asks whether there is a header.
pub fn either(why: &str) -> String {
    format!(
        "it is not clear whether the first record names the columns: {why}. Say --header if it does, --no-header if it \
         is data"
    )
}

/// True if a record is the first one again, as far as names of columns go: with spaces around them, or behind the mark of
/// UTF-8 with which the second of two joined files begins.
pub fn is_again(record: &[Vec<u8>], first: &[Vec<u8>]) -> bool {
    fn name(field: &[u8]) -> &[u8] {
        field.strip_prefix("\u{feff}".as_bytes()).unwrap_or(field).trim_ascii()
    }
    record.iter().map(|field| name(field)).eq(first.iter().map(|field| name(field)))
}

/// Asks about a first record that comes again.
pub fn repeated(records: &[Vec<Vec<u8>>]) -> String {
    let again =
        records.first().and_then(|first| records[1..].iter().position(|record| is_again(record, first)));
    format!(
        "record {} is the first one again, as where files with headers were joined. Give those files one by one \
         (the second with --append), or remove the line; --header or --no-header load it as data",
        again.unwrap_or_default() + 2
    )
}
