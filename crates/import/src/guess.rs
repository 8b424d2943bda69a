//! The shape of a file, guessed from its beginning: the delimiter, and whether the first record is a header. Where two
//! readings are plausible there is no guess but a question.

use std::collections::HashSet;

use anyhow::Result;

use crate::infer::Inference;
use crate::records::{Flaw, Records, Syntax};
use crate::source::{Sample, Source};
use crate::value::{integer, real};

/// Delimiters that are tried, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Endings of files' names that state the delimiter.
const NAMED: [(&str, u8); 4] = [(".csv", b','), (".tsv", b'\t'), (".tab", b'\t'), (".psv", b'|')];
/// Records that are looked at.
const RECORDS: usize = 1000;
/// Texts that mean a missing value in many files: no column has such a name.
const NO_VALUES: [&str; 8] = ["na", "n/a", "nan", "null", "none", "\\n", "-", "?"];
/// Whole numbers that may be the names of columns, as in `country,2019,2020`.
const YEARS: std::ops::RangeInclusive<i64> = 1800..=2200;

/// Something chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<T> {
    /// The value.
    pub value: T,
    /// The reason, in words.
    pub why: String,
}

impl<T> Choice<T> {
    /// A choice with its reason.
    pub fn new(value: T, why: impl Into<String>) -> Choice<T> {
        Choice { value, why: why.into() }
    }
}

/// A choice, or the question that the user must answer.
pub type Guess<T> = Result<Choice<T>, String>;

/// The first records of a sample, as fields. The last one is left out where the sample may have cut it.
pub fn records(
    name: &str,
    sample: &Sample,
    whole: bool,
    syntax: Syntax,
    skip: u64,
) -> Result<Vec<Vec<Vec<u8>>>> {
    first(name, sample, whole, syntax, skip, |text, ends| {
        let mut from = 0;
        ends.iter().map(|&end| text[std::mem::replace(&mut from, end)..end].to_vec()).collect()
    })
}

/// Makes something of each of the first records of a sample, from its text and where its fields end.
fn first<T>(
    name: &str,
    sample: &Sample,
    whole: bool,
    syntax: Syntax,
    skip: u64,
    make: impl Fn(&[u8], &[usize]) -> T,
) -> Result<Vec<T>> {
    let mut records = Records::new(Box::new(sample.read()), syntax, name.to_owned());
    records.skip(skip)?;
    let (mut buffer, mut ends, mut found) = (vec![0; 4096], vec![0; 64], Vec::new());
    loop {
        match records.read(&mut buffer, 0, &mut ends) {
            Ok(Some(record)) => {
                // The sample's end may leave a quote open, and what is doubtful shows no shape.
                if record.flaw == Flaw::None || found.is_empty() {
                    found.push(make(&buffer, &ends[..record.fields]));
                } else if record.flaw == Flaw::Unclosed {
                    return Ok(found);
                }
                if found.len() > RECORDS {
                    return Ok(found);
                }
            }
            Ok(None) if whole => return Ok(found),
            Err(_) if !whole => return Ok(found),
            Ok(None) => {
                found.pop();
                return Ok(found);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The fields of the first records as a delimiter divides them.
struct Division {
    delimiter: u8,
    /// Fields of most records.
    width: usize,
    /// The share of records that have as many.
    share: f64,
    /// True if the first record has as many, too.
    fits_first: bool,
    /// A record that has another number of fields, counted from 1.
    odd: Option<usize>,
}

impl Division {
    fn of(delimiter: u8, widths: &[usize]) -> Division {
        let count = |width: usize| widths.iter().filter(|found| **found == width).count();
        let distinct: HashSet<usize> = widths.iter().copied().filter(|width| *width > 1).collect();
        let width = distinct.into_iter().max_by_key(|&width| (count(width), width)).unwrap_or(1);
        Division {
            delimiter,
            width,
            share: count(width) as f64 / widths.len().max(1) as f64,
            fits_first: widths.first() == Some(&width),
            odd: widths.iter().position(|found| *found != width).map(|place| place + 1),
        }
    }

    fn divides_nearly_all(&self) -> bool {
        self.width > 1 && self.fits_first && self.share >= 0.9
    }

    fn divides_most(&self) -> bool {
        self.width > 1 && self.share >= 0.5
    }
}

/// Guesses the delimiter by the name, if the beginning does not contradict it, else by the beginning. The syntax says
/// all but the delimiter.
pub fn delimiter(source: &Source, sample: &Sample, whole: bool, syntax: Syntax, skip: u64) -> Guess<u8> {
    let named = NAMED.iter().find(|(ending, _)| source.is_named(ending)).map(|(_, delimiter)| *delimiter);
    let divisions = DELIMITERS.map(|delimiter| {
        let count = |_: &[u8], ends: &[usize]| ends.len();
        let found = first("", sample, whole, Syntax { delimiter, ..syntax }, skip, count);
        Division::of(delimiter, &found.unwrap_or_default())
    });
    let good: Vec<&Division> = divisions.iter().filter(|division| division.divides_nearly_all()).collect();
    let is_named = |division: &&&Division| Some(division.delimiter) == named;
    match (&good[..], good.iter().find(is_named)) {
        (_, Some(division)) if good.len() == 1 || division.delimiter != b',' => {
            return Ok(Choice::new(division.delimiter, "by the file's name"));
        }
        ([only], _) => return Ok(Choice::new(only.delimiter, "it divides the first records alike")),
        ([], _) => {}
        (several, _) => return Err(question(several)),
    }
    let fair: Vec<&Division> = divisions.iter().filter(|division| division.divides_most()).collect();
    let fitting: Vec<&Division> = fair.iter().filter(|division| division.fits_first).copied().collect();
    match (&fitting[..], fitting.iter().find(is_named)) {
        (_, Some(division)) => Ok(Choice::new(division.delimiter, "by the file's name")),
        ([only], _) => Ok(Choice::new(only.delimiter, "it divides most of the first records alike")),
        ([], _) if fair.is_empty() => {
            Ok(Choice::new(named.unwrap_or(b','), "no other divides the first records: one column"))
        }
        _ => Err(question(&fair)),
    }
}

/// Asks for the delimiter.
fn question(divisions: &[&Division]) -> String {
    let shown =
        |delimiter: u8| if delimiter == b'\t' { "tab".into() } else { format!("'{}'", delimiter as char) };
    let reported = divisions.iter().map(|division| {
        let Division { width, share, .. } = division;
        let odd = division.odd.map_or(String::new(), |odd| format!(", not record {odd}"));
        format!(
            "{} divides {:.0} % of the first records into {width} fields{odd}",
            shown(division.delimiter),
            share * 100.0
        )
    });
    let is_behind = divisions.iter().any(|division| !division.fits_first);
    let skip = if is_behind { ", and --skip 1 if the first line is no record" } else { "" };
    format!(
        "it is not clear what stands between the fields: {}. Say --delimiter CHARACTER{skip}",
        reported.collect::<Vec<_>>().join("; ")
    )
}

/// The properties of the first record's fields that speak for or against a header.
#[derive(Debug, Default)]
struct Votes {
    /// Words above a column of numbers.
    words: usize,
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
    let again = rest.iter().position(|record| record == first).map(|place| place + 2);
    let rest: Vec<&Vec<Vec<u8>>> = rest.iter().filter(|record| *record != first).collect();
    let votes = votes(first, &rest);
    match (votes.words > 0, votes.numbers > votes.years) {
        (true, false) => match again {
            None => Ok(Choice::new(true, "columns of numbers begin with a word")),
            Some(record) => Err(repeated(record)),
        },
        (true, true) => Err(either("it has words and numbers above columns of numbers")),
        (false, true) => Ok(Choice::new(false, "the first record holds numbers as those below it do")),
        (false, false) if votes.years > 0 => {
            Err(either("it has numbers that may be years, as names of columns"))
        }
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
            (true, false) => votes.words += usize::from(is_name(name)),
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
    again: Option<usize>,
    plain: usize,
) -> Guess<bool> {
    let lower: HashSet<String> =
        first.iter().map(|name| String::from_utf8_lossy(name).to_lowercase()).collect();
    if lower.len() < first.len() || first.iter().any(|name| is_number(name) || !is_name(name)) {
        return Ok(Choice::new(false, "the first record holds what names no column"));
    }
    if let Some(record) = again.filter(|_| first.len() > 1) {
        return Err(repeated(record));
    }
    let is_value = |record: &&Vec<Vec<u8>>| record.iter().zip(first).any(|(field, name)| field == name);
    if again.is_some() || rest.iter().any(is_value) {
        return Ok(Choice::new(false, "its values come again below it"));
    }
    if plain > 0 {
        return Ok(Choice::new(true, "words stand above texts that all hold digits"));
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
    let text = String::from_utf8_lossy(field).to_lowercase();
    field.first().is_some_and(is_letter)
        && field.len() <= 64
        && field.iter().all(may_be_within)
        && !NO_VALUES.contains(&text.as_str())
}

fn either(why: &str) -> String {
    format!(
        "it is not clear whether the first record names the columns: {why}. Say --header if it does, --no-header if it \
         is data"
    )
}

fn repeated(record: usize) -> String {
    format!(
        "record {record} is the first one again, as where files with headers were joined. Give those files one by one \
         (the second with --append), or remove the line; --header or --no-header load it as data"
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const COMMA: Syntax = Syntax { delimiter: b',', quote: Some(b'"'), escape: None, comment: None };

    /// The delimiter and whether there is a header, or what is asked.
    fn guess(name: &str, text: &str) -> Result<(u8, bool), String> {
        let source = Source::new(Path::new(name));
        let text = text.into();
        let delimiter = delimiter(&source, &text, true, COMMA, 0)?.value;
        let records = records("", &text, true, Syntax { delimiter, ..COMMA }, 0).unwrap();
        Ok((delimiter, header(&records)?.value))
    }

    #[test]
    fn the_shape_is_guessed_where_it_is_clear() {
        for (name, text, wanted) in [
            ("x.csv", "id,name\n1,a\n2,b\n", (b',', true)),
            ("x.tsv.gz", "1\ta,b\n2\tb,c\n", (b'\t', false)),
            ("x.csv", "a;b\n1;2,5\n2;3,5\n", (b';', true)),
            ("x", "red\nblue\nred\n", (b',', false)),
            ("x.csv", "a,a\n1,2\n", (b',', true)),
            ("x.csv", "day,code\n2024-01-01,A7\n2024-01-02,B8\n", (b',', true)),
            ("x.csv", "id;name\n1;a\n2;b;c\n", (b';', true)),
            ("x.csv", "a,b\n1,2\n1,2,3\n", (b',', true)),
            ("x.csv", "NA,x\n1,y\n2,x\n", (b',', false)),
            ("x.csv", "Ann,1999\nBob,2001\n", (b',', false)),
            ("x.csv", ",a\n0,1\n", (b',', true)),
        ] {
            assert_eq!(guess(name, text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_not_clear_is_asked() {
        for (name, text, asked) in [
            (
                "p.csv",
                "Ann,Bonn\nBob,Rome\nCid,Oslo\n",
                "it has words, as the records below it have. Say --header",
            ),
            ("x", "one\ntwo\nthree\n", "Say --header if it does"),
            ("x.csv", "a,b\n", "Say --header"),
            ("x.csv", "country,2019,2020\nDE,1,2\nFR,3,4\n", "numbers that may be years"),
            ("all.csv", "id,n\n1,2\nid,n\n3,4\n", "record 3 is the first one again"),
            ("all.csv", "a,b\nx,y\na,b\nz,w\n", "record 3 is the first one again"),
            ("x.csv", "x,5\n1,2\n", "words and numbers above columns of numbers"),
            (
                "x.csv",
                "1,5;2,5\n3,5;4,5\n",
                "',' divides 100 % of the first records into 3 fields; ';' divides 100 %",
            ),
            (
                "x.csv",
                "A report\nid;name\n1;a\n2;b\n",
                "not record 1. Say --delimiter CHARACTER, and --skip 1",
            ),
        ] {
            let question = guess(name, text).unwrap_err();
            assert!(question.contains(asked), "{text}: {question}");
        }
    }
}
