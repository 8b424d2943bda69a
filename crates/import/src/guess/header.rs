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
        (true, false) => match again {
            None => Ok(Choice::new(true, "columns of numbers begin with a word")),
            Some(question) => Err(question),
        },
        (true, true) => Err(either("it has words and numbers above columns of numbers")),
        (false, true) => Ok(Choice::new(false, "the first record holds numbers as those below it do")),
        (false, false) if votes.years > 0 => {
            Err(either("it has numbers that may be years, as names of columns"))
        }
        (false, false) if votes.texts > 0 => Err(either("it has texts above columns of numbers")),
        (false, false) => header_of_texts(first, &rest, again, votes.plain),
    }
}

fn votes(first: &[Vec<u8>], rest: &[&Vec<Vec<u8>>]) -> Votes {
    let mut inference = Inference::new(first.len());
    rest.iter().filter(|record| record.len() == first.len()).for_each(|record| inference.see_all(record));
    let mut votes = Votes::default();
    for ((column, name), kind) in first.iter().enumerate().zip(inference.kinds()) {
        let below = || rest.iter().filter_map(|record| record.get(column)).filter(|field| !field.is_empty());
        let has_digit = |field: &[u8]| field.iter().any(u8::is_ascii_digit);
        let is_year = |field: &[u8]| integer(field).is_some_and(|year| YEARS.contains(&year));
        match (kind.empty_is_null(), is_number(name)) {
            (true, true) => {
                votes.numbers += 1;
                votes.years += usize::from(is_year(name) && !below().all(|field| is_year(field)));
            }
            (true, false) if is_name(name) => votes.words += 1,
            (true, false) => votes.texts += usize::from(!is_no_value(name)),
            (false, _) => {
                let is_plain = is_name(name) && !has_digit(name) && below().next().is_some();
                votes.plain += usize::from(is_plain && below().all(|field| has_digit(field)));
            }
        }
    }
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
    plain: usize,
) -> Guess<bool> {
    let lower: HashSet<String> =
        first.iter().map(|name| String::from_utf8_lossy(name).to_lowercase()).collect();
    if first.iter().any(|name| is_number(name) || !is_name(name)) {
        return Ok(Choice::new(false, "the first record holds what names no column"));
    }
    if lower.len() < first.len() {
        return Err(either("it has a word twice"));
    }
    let is_again = again.is_some();
    if let Some(question) = again.filter(|_| first.len() > 1) {
        return Err(question);
    }
    let is_value = |record: &&Vec<Vec<u8>>| record.iter().zip(first).any(|(field, name)| field == name);
    if is_again || rest.iter().any(is_value) {
        return Ok(Choice::new(false, "its values come again below it"));
    }
    if plain > 0 {
        return Ok(Choice::new(true, "words stand above texts that all hold digits"));
    }
    if rest.iter().all(|record| record.len() != first.len()) {
        return Err(either(
            "it has words, and the beginning of the file has no other record of as many fields",
        ));
    }
    Err(either("it has words, as the records below it have"))
}

fn is_number(field: &[u8]) -> bool {
    integer(field).is_some() || real(field).is_some()
}

/// True if a field reads like the name of a column.
fn is_name(field: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 128;
    let may_be_within =
        |byte: &u8| is_letter(byte) || byte.is_ascii_digit() || b" -./()%#:$&+".contains(byte);
    field.first().is_some_and(is_letter)
        && field.len() <= 64
        && field.iter().all(may_be_within)
        && !is_no_value(field)
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
