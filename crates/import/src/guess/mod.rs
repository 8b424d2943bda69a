//! The shape of a file, guessed from its beginning: the delimiter, and whether the first record is a header. Where two
//! readings are plausible there is no guess but a question.

mod header;

use std::collections::HashSet;

use anyhow::Result;

use crate::records::Records;
use crate::source::{Sample, Source};
use crate::syntax::{Flaw, Syntax};
pub use header::{either, header, is_again, repeated};

/// Delimiters that are tried, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Endings of files' names that state the delimiter.
const NAMED: [(&str, u8); 4] = [(".csv", b','), (".tsv", b'\t'), (".tab", b'\t'), (".psv", b'|')];
/// Records that are looked at.
const RECORDS: usize = 1000;

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
    /// The share of records that have more than one.
    divided: f64,
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
        let share = |records: usize| records as f64 / widths.len().max(1) as f64;
        Division {
            delimiter,
            width,
            share: share(count(width)),
            divided: share(widths.iter().filter(|found| **found > 1).count()),
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

    fn said_ragged(&self) -> String {
        let (delimiter, share) = (shown(self.delimiter), self.divided * 100.0);
        format!(
            "{delimiter} stands in {share:.0} % of the first records, and divides them into different numbers of fields"
        )
    }
}

/// Guesses the delimiter by the name, if the beginning does not contradict it, else by the beginning. The syntax says
/// all but the delimiter.
pub fn delimiter(source: &Source, sample: &Sample, whole: bool, syntax: Syntax, skip: u64) -> Guess<u8> {
    let named = NAMED.iter().find(|(ending, _)| source.is_named(ending)).map(|(_, delimiter)| *delimiter);
    let possible = DELIMITERS.iter().map(|delimiter| Syntax { delimiter: *delimiter, ..syntax });
    let possible = possible.filter(|syntax| syntax.check_roles().is_ok());
    let divide = |syntax: Syntax| {
        let count = |_: &[u8], ends: &[usize]| ends.len();
        let found = first("", sample, whole, syntax, skip, count);
        Division::of(syntax.delimiter, &found.unwrap_or_default())
    };
    let divisions: Vec<Division> = possible.map(divide).collect();
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
        ([], _) if fair.is_empty() => one_column(named.unwrap_or(b','), &divisions),
        _ => Err(question(&fair)),
    }
}

/// Takes the usual delimiter where none divides the records alike. Another one that stands in many of them may be the
/// right one all the same, and would end up within the values; the usual one would make bad rows.
fn one_column(usual: u8, divisions: &[Division]) -> Guess<u8> {
    let others = divisions.iter().filter(|division| division.delimiter != usual && division.divided >= 0.5);
    let found: Vec<String> = others.map(Division::said_ragged).collect();
    match &found[..] {
        [] => Ok(Choice::new(usual, "no other divides the first records: one column")),
        found => Err(unclear(found, &format!(", which is {} if each record is one field", shown(usual)))),
    }
}

/// A delimiter, for messages.
fn shown(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".into() } else { format!("'{}'", delimiter as char) }
}

/// Asks for the delimiter.
fn question(divisions: &[&Division]) -> String {
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
    unclear(&reported.collect::<Vec<_>>(), skip)
}

/// The question for the delimiter, after what was found; `more` follows the option that answers it.
fn unclear(found: &[String], more: &str) -> String {
    format!(
        "it is not clear what separates the fields: {}. Say --delimiter CHARACTER{more}",
        found.join("; ")
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
            ("x.csv", "Ann,unknown\nBob,12\nBob,13\n", (b',', false)),
            ("x.csv", "region,1,2\na,5,6\n", (b',', false)),
            ("x.csv", "note\n1\n2\n3;4\n5;6;7\n", (b',', true)),
            ("x.csv", "Ann,5,1,7\nBob,6,2,8\n", (b',', false)),
            ("x.csv", "5,6,7\n8,9,10\n", (b',', false)),
            ("x.csv", "day,n\n2024-01-01,5\n2024-01-02,7\n", (b',', true)),
            ("x.csv", "ISO,people,area\nDE,83,357\nFR,68,643\n", (b',', true)),
            ("x.csv", "Ann,2024-01-01\nBob,2024-01-02\n", (b',', false)),
            ("x.csv", "ann@a.org,Ann\nbob@b.org,Bob\n", (b',', false)),
            ("x.csv", "*,Ann\n*,Bob\n", (b',', false)),
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
            ("x.csv", "a,b\n", "no other record of as many fields. Say --header"),
            ("x.csv", "id,x,y\n\"a b\",c\n", "no other record of as many fields. Say --header"),
            ("x.csv", "country,2019,2020\nDE,1,2\nFR,3,4\n", "numbers that may be years"),
            ("all.csv", "id,n\n1,2\nid,n\n3,4\n", "record 3 is the first one again"),
            ("all.csv", "a,b\nx,y\na,b\nz,w\n", "record 3 is the first one again"),
            ("x.csv", "Height?,Weight?\n1,2\n3,4\n", "texts above columns of numbers"),
            ("x.csv", "[id],[n]\n1,2\n3,4\n", "texts above columns of numbers"),
            ("x.csv", "Timestamp,How old are you?\n2020-01-01,12\n2020-01-02,13\n", "texts above"),
            ("x.csv", "name,name\nAnn,Bob\n", "it has a word twice"),
            ("x.csv", "x,5\n1,2\n", "words and numbers above columns of numbers"),
            ("x.csv", "2024-01-01,offline\n2024-01-02,5\n2024-01-03,7\n", "reads like those below it"),
            ("x.csv", "07:04:00,offline,off\n7:05:00,5,6\n", "reads like those below it"),
            ("x.csv", "DE,offline\nFR,5\n", "reads like those below it"),
            ("x.csv", "country,2019\nDE,5\nFR,7\n", "as years may"),
            ("x.csv", "region,1,2,3\na,5,6,7\n", "numbers that may be names of columns"),
            ("x.csv", "What is your name?,City\nAnn,Bonn\n", "neither names"),
            ("x.csv", "\"Name, first\",City\nAnn,Bonn\n", "neither names"),
            ("x.csv", "Driver's name,City\nAnn,Bonn\n", "neither names"),
            ("x.csv", "Name*,City\nAnn,Bonn\n", "neither names"),
            ("x.csv", "Name,City,\nAnn,Bonn,\nBob,Rome,\n", "neither names"),
            ("x.csv", ",name\na,Ann\nb,Bob\n", "neither names"),
            ("x.csv", &format!("{},City\nAnn,Bonn\n", "name ".repeat(13)), "neither names"),
            (
                "x.csv",
                "1,5;2,5\n3,5;4,5\n",
                "',' divides 100 % of the first records into 3 fields; ';' divides 100 %",
            ),
            (
                "x.csv",
                "id;name\n1;a\n2;b;c\n3;d;e;f\n4;g;h;i;j\n",
                "';' stands in 100 % of the first records",
            ),
            ("x.txt", "a\nb\n1|2|3\n1|2|3|4\n1|2|3|4|5\n", "'|' stands in 60 % of the first records"),
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
