//! The sources of the values of a mix's parameters, as a suite writes them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::distribution::ValueDistribution;
use super::number::Number;
use super::source::{DrawCondition, Items, Range, Source};
use super::words::Words;
use super::written::{Written, dated};
use crate::Renderer;

/// The source of a parameter's values, drawn anew for each operation: a whole number, `letters` random letters, a coin
/// that falls on 1 in a `share` of all operations, the `next` number of an operation that inserts, the `latest` of
/// these, or the `position` in a list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    from: Option<Number>,
    to: Option<Number>,
    distribution: Option<toml::Value>,
    /// The constant A of TPC-C's NURand, in place of a distribution.
    nurand: Option<Number>,
    /// A value that is not drawn.
    not: Option<String>,
    /// The value that it is where it is not drawn.
    #[serde(rename = "else")]
    otherwise: Option<String>,
    /// The coin that says whether it is drawn.
    when: Option<String>,
    share: Option<f64>,
    letters: Option<Number>,
    /// The number of times that the letters are written one after another.
    times: Option<Number>,
    /// The class whose operations each take the next number.
    next: Option<String>,
    /// The value, of such numbers, of which one drawn lately is drawn.
    latest: Option<String>,
    /// The text that the number is written as.
    #[serde(rename = "as")]
    written: Option<String>,
    /// The number is a fraction with this many decimals.
    decimals: Option<u32>,
    /// A word of these, or of a file.
    words: Option<Words>,
    #[serde(default)]
    position: bool,
}

/// A list of items, over which statements are repeated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    count: Option<Count>,
    #[serde(default)]
    values: BTreeMap<String, Values>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Count {
    Drawn(Box<Values>),
    Always(Number),
}

/// The most items of a list.
const MOST_ITEMS: i64 = 1000;

impl Values {
    /// The file of words that it names, and the column.
    pub(super) fn file(&self) -> Option<(&str, Option<&str>)> {
        self.words.as_ref()?.file()
    }

    /// The source of the values; `files` are the words of files by name.
    pub(super) fn source(
        &self,
        renderer: &Renderer,
        files: &BTreeMap<String, Vec<String>>,
    ) -> Result<Source> {
        let is_number = self.from.is_some() && self.to.is_some() || self.words.is_some();
        let (next, latest) = (&self.next, &self.latest);
        let alone = [
            is_number,
            self.letters.is_some(),
            self.share.is_some() && !is_number,
            self.position,
            next.is_some(),
            latest.is_some(),
        ];
        ensure!(
            alone.iter().filter(|&&given| given).count() == 1
                && (self.from.is_some()
                    == (is_number && self.words.is_none() || next.is_some() || latest.is_some())),
            "a value has `from` and `to`, or `words`, or `letters`, or a `share`, or `next` and `from`, or `latest` and `from`, or is the \
             `position`"
        );
        ensure!(self.times.is_none() || self.letters.is_some(), "`times` belongs to `letters`");
        ensure!(
            self.share.is_none_or(|share| (0.0..=1.0).contains(&share)),
            "a share is from 0 to 1, as 0.15"
        );
        if let Some(range) = self.bounds(renderer, files)? {
            return self.range(range, renderer).map(Source::Whole);
        }
        let bound = self.not.is_some() || self.otherwise.is_some() || self.when.is_some();
        ensure!(
            !bound && self.nurand.is_none() && self.written.is_none() && self.distribution.is_none(),
            "`not`, `else`, `when`, `nurand`, `distribution` and `as` belong to a number with `from` and `to`"
        );
        if let Some(letters) = &self.letters {
            let letters = letters.whole(renderer)?;
            let times = self.times.as_ref().map_or(Ok(1), |times| times.whole(renderer))?;
            let is_fine = letters > 0 && times > 0 && letters.saturating_mul(times) <= 65_536;
            ensure!(is_fine, "letters are 1 to 65536");
            return Ok(Source::Letters(letters as u64, times as u64));
        }
        let from = self.from.as_ref().map_or(Ok(0), |from| from.whole(renderer))?;
        if let Some(class) = next {
            return Ok(Source::Next(class.clone(), from));
        }
        if let Some(name) = latest {
            return Ok(Source::Latest(name.clone(), from));
        }
        Ok(self.share.map_or(Source::Position, Source::Coin))
    }

    /// The least and the largest number of a range, and the text that its numbers are written as; None: no range is
    /// given.
    fn bounds(
        &self,
        renderer: &Renderer,
        files: &BTreeMap<String, Vec<String>>,
    ) -> Result<Option<(i64, i64, Option<Written>)>> {
        let forms = [self.written.is_some(), self.decimals.is_some(), self.words.is_some()];
        ensure!(
            forms.iter().filter(|&&given| given).count() <= 1,
            "take one of `as`, `decimals` and `words`"
        );
        if let Some(words) = &self.words {
            ensure!(self.from.is_none() && self.to.is_none(), "`words` have no `from` and `to`");
            let words = words.all(files)?;
            return Ok(Some((1, words.len() as i64, Some(Written::Words(words.into())))));
        }
        let (Some(from), Some(to)) = (&self.from, &self.to) else {
            ensure!(self.decimals.is_none(), "`decimals` belongs to a number with `from` and `to`");
            return Ok(None);
        };
        if let (Some(from), Some(to)) = (from.dated(), to.dated()) {
            let ((from, form), (to, other)) = (dated(from)?, dated(to)?);
            ensure!(form == other, "`from` and `to` are both dates or both moments");
            ensure!(!forms.contains(&true), "`as` and `decimals` belong to a range of numbers");
            return Ok(Some((from, to, Some(form))));
        }
        if let Some(decimals) = self.decimals {
            ensure!(decimals <= 15, "a fraction has 15 decimals at most");
            let scaled = |number: &Number| -> Result<i64> {
                let scaled = number.value(renderer)? * 10_f64.powi(decimals.cast_signed());
                ensure!(scaled.abs() < 9e15, "a fraction has 15 digits at most, its decimals included");
                Ok(scaled.round() as i64)
            };
            return Ok(Some((scaled(from)?, scaled(to)?, Some(Written::Decimals(decimals)))));
        }
        let written = self.written.as_deref().map(Written::read).transpose()?;
        Ok(Some((from.whole(renderer)?, to.whole(renderer)?, written)))
    }

    fn range(&self, (from, to, written): (i64, i64, Option<Written>), renderer: &Renderer) -> Result<Range> {
        ensure!(from <= to, "there is no number from {from} to {to}");
        let count = to.abs_diff(from) as f64 + 1.0;
        let law = match (&self.nurand, &self.distribution) {
            (Some(constant), None) => {
                let constant = constant.whole(renderer)?;
                ensure!(constant >= 0, "the constant of NURand is 0 or more");
                ValueDistribution::Nurand(constant)
            }
            (Some(_), Some(_)) => bail!("a value has a `distribution` or `nurand`"),
            (None, None) => ValueDistribution::Uniform,
            (None, Some(written)) => ValueDistribution::read(written, count, renderer)?,
        };
        let when = match (&self.when, self.share) {
            (Some(_), Some(_)) => bail!("a value has `when` or a `share`"),
            (Some(when), None) => Some(DrawCondition::Value(when.clone())),
            (None, share) => share.map(DrawCondition::Share),
        };
        let unless = match (when, &self.otherwise) {
            (Some(when), Some(otherwise)) => Some((when, otherwise.clone())),
            (None, None) => None,
            _ => bail!(
                "`else` says what a value is that is drawn in a `share` of cases or `when` another is 1"
            ),
        };
        if written == Some(Written::LastName) {
            ensure!((0..1000).contains(&from) && to < 1000, "last names have the numbers 0 to 999");
        }
        Ok(Range { from, to, law, not: self.not.clone(), unless, written })
    }
}

impl List {
    /// The items of the list; `files` are the words of files by name.
    pub(super) fn items(&self, renderer: &Renderer, files: &BTreeMap<String, Vec<String>>) -> Result<Items> {
        let Some(count) = &self.count else { bail!("a list needs a `count`: a number, or from and to") };
        let (least, most) = match count {
            Count::Always(count) => {
                let count = count.whole(renderer)?;
                (count, count)
            }
            Count::Drawn(values) => match values.source(renderer, files).context("count")? {
                Source::Whole(Range { from, to, .. }) => (from, to),
                _ => bail!("a `count` is a number, or from and to"),
            },
        };
        ensure!(
            (0..=MOST_ITEMS).contains(&least) && most <= MOST_ITEMS,
            "a list has 0 to {MOST_ITEMS} items"
        );
        ensure!(!self.values.is_empty(), "a list needs `values`: what its items have");
        let columns = self.values.iter().map(|(name, values)| {
            let source = values.source(renderer, files).with_context(|| format!("values.{name}"))?;
            Ok((name.clone(), source))
        });
        Ok(Items { least, most, columns: columns.collect::<Result<_>>()? })
    }

    /// True if it always has the same number of items.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.count, Some(Count::Always(_)))
    }

    /// The file of words that a value of its items or it itself names.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.values.values().filter_map(Values::file)
    }

    /// The names of its columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}
