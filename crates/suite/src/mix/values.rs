//! Where the values of a mix's parameters come from.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use dyno_nearest as nearest;
use serde::Deserialize;

use crate::Renderer;

/// Where the values of a parameter come from, drawn anew for each operation: a whole number, `letters` random letters, a
/// coin that falls on 1 in a `share` of all operations, the `next` number of an operation that inserts, the `latest` of
/// these, or the `position` in a list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    from: Option<Number>,
    to: Option<Number>,
    #[serde(default)]
    distribution: Distribution,
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
    /// How often the letters are written one after another.
    times: Option<Number>,
    /// The class whose operations each take the next number.
    next: Option<String>,
    /// The value, of such numbers, of which one drawn lately is drawn.
    latest: Option<String>,
    /// What the number is written as.
    #[serde(rename = "as")]
    written: Option<Written>,
    #[serde(default)]
    position: bool,
}

/// How often each number is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// All alike.
    #[default]
    Uniform,
    /// A few very often, as YCSB draws its keys: Zipf's law with the exponent 0.99, the often drawn scattered over the
    /// range.
    Zipf,
}

/// What a number is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// A name of three syllables, as TPC-C makes last names, filled up with blanks to 16 letters.
    LastName,
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

/// A number as written: itself, or an expression with the suite's parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Number(toml::Value);

impl Number {
    pub(super) fn value(&self, renderer: &Renderer) -> Result<f64> {
        match &self.0 {
            toml::Value::Integer(number) => Ok(*number as f64),
            toml::Value::Float(number) => Ok(*number),
            toml::Value::String(expression) => {
                let text = renderer.render(&format!("{{{{ ({expression}) }}}}"))?;
                text.parse().with_context(|| format!("`{expression}` is '{text}', which is no number"))
            }
            other => bail!("a number, or an expression with the suite's parameters, is not {other}"),
        }
    }

    fn whole(&self, renderer: &Renderer) -> Result<i64> {
        let value = self.value(renderer)?;
        ensure!(value.fract() == 0.0 && value.abs() < 2e18, "{value} is no whole number");
        Ok(value as i64)
    }
}

/// Where values come from, with the parameters of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Whole numbers.
    Whole(Range),
    /// So many letters, so often.
    Letters(u64, u64),
    /// The numbers from the second on: each operation of a class takes one that no other takes.
    Next(String, i64),
    /// One of the numbers that the value of this name took lately, by Zipf's law the latest most often, and beyond those
    /// one of the numbers down to this.
    Latest(String, i64),
    /// 1 in this share of all operations, else 0.
    Coin(f64),
    /// The position in the list, from 1.
    Position,
}

/// Whole numbers of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The least of them.
    pub from: i64,
    /// The largest.
    pub to: i64,
    /// How often each is drawn.
    pub law: Law,
    /// The value, by name, that is not drawn where the range has another.
    pub not: Option<String>,
    /// When it is drawn, and the value that it is when not.
    pub unless: Option<(When, String)>,
    /// What it is written as; none: the number.
    pub written: Option<Written>,
}

/// How often each number of a range is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// All alike.
    Uniform,
    /// By Zipf's law, scattered.
    Zipf,
    /// By TPC-C's NURand with this constant A.
    Nurand(i64),
}

/// When a value is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum When {
    /// In this share of cases.
    Share(f64),
    /// When the value of this name is not 0.
    Value(String),
}

/// A list with the parameters of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Items {
    /// The fewest items.
    pub least: i64,
    /// The most items.
    pub most: i64,
    /// The columns of an item by name, with where their values come from.
    pub columns: Vec<(String, Source)>,
}

/// The most items of a list.
const MOST_ITEMS: i64 = 1000;

impl Values {
    pub(super) fn source(&self, renderer: &Renderer) -> Result<Source> {
        let is_number = self.from.is_some() && self.to.is_some();
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
                && (self.from.is_some() == (is_number || next.is_some() || latest.is_some())),
            "a value has `from` and `to`, or `letters`, or a `share`, or `next` and `from`, or `latest` and `from`, or is the \
             `position`"
        );
        ensure!(self.times.is_none() || self.letters.is_some(), "`times` belongs to `letters`");
        ensure!(
            self.share.is_none_or(|share| (0.0..=1.0).contains(&share)),
            "a share is from 0 to 1, as 0.15"
        );
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            return self.range(from, to, renderer).map(Source::Whole);
        }
        let bound = self.not.is_some() || self.otherwise.is_some() || self.when.is_some();
        ensure!(
            !bound && self.nurand.is_none() && self.written.is_none(),
            "`not`, `else`, `when`, `nurand` and `as` belong to a number with `from` and `to`"
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

    fn range(&self, from: &Number, to: &Number, renderer: &Renderer) -> Result<Range> {
        let (from, to) = (from.whole(renderer)?, to.whole(renderer)?);
        ensure!(from <= to, "there is no number from {from} to {to}");
        let law = match (&self.nurand, self.distribution) {
            (Some(constant), Distribution::Uniform) => {
                let constant = constant.whole(renderer)?;
                ensure!(constant >= 0, "the constant of NURand is 0 or more");
                Law::Nurand(constant)
            }
            (Some(_), Distribution::Zipf) => bail!("a value has a `distribution` or `nurand`"),
            (None, Distribution::Uniform) => Law::Uniform,
            (None, Distribution::Zipf) => Law::Zipf,
        };
        let when = match (&self.when, self.share) {
            (Some(_), Some(_)) => bail!("a value has `when` or a `share`"),
            (Some(when), None) => Some(When::Value(when.clone())),
            (None, share) => share.map(When::Share),
        };
        let unless = match (when, &self.otherwise) {
            (Some(when), Some(otherwise)) => Some((when, otherwise.clone())),
            (None, None) => None,
            _ => bail!(
                "`else` says what a value is that is drawn in a `share` of cases or `when` another is 1"
            ),
        };
        if let Some(Written::LastName) = self.written {
            ensure!((0..1000).contains(&from) && to < 1000, "last names have the numbers 0 to 999");
        }
        Ok(Range { from, to, law, not: self.not.clone(), unless, written: self.written })
    }
}

impl List {
    pub(super) fn items(&self, renderer: &Renderer) -> Result<Items> {
        let Some(count) = &self.count else { bail!("a list needs a `count`: a number, or from and to") };
        let (least, most) = match count {
            Count::Always(count) => {
                let count = count.whole(renderer)?;
                (count, count)
            }
            Count::Drawn(values) => match values.source(renderer).context("count")? {
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
            let source = values.source(renderer).with_context(|| format!("values.{name}"))?;
            Ok((name.clone(), source))
        });
        Ok(Items { least, most, columns: columns.collect::<Result<_>>()? })
    }

    /// The names of its columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

/// Refuses values that depend on ones that are not there, or that depend on others themselves: those are drawn first.
pub(super) fn check(values: &[(String, Source)], lists: &[(String, Items)]) -> Result<()> {
    let is_first = |source: &Source| match source {
        Source::Whole(range) => range.not.is_none() && range.unless.is_none() && range.written.is_none(),
        Source::Coin(_) => true,
        Source::Letters(..) | Source::Position | Source::Next(..) | Source::Latest(..) => false,
    };
    let known: BTreeSet<&str> =
        values.iter().filter(|(_, source)| is_first(source)).map(|(name, _)| name.as_str()).collect();
    let columns = lists.iter().flat_map(|(list, items)| {
        items.columns.iter().map(move |(name, source)| (format!("lists.{list}.values.{name}"), source))
    });
    let all = values.iter().map(|(name, source)| (format!("values.{name}"), source));
    ensure!(
        values.iter().all(|(_, source)| *source != Source::Position),
        "only the items of a list have a `position`"
    );
    let mut in_items = lists.iter().flat_map(|(_, items)| &items.columns);
    ensure!(
        !in_items.any(|(_, source)| matches!(source, Source::Latest(..))),
        "`latest` stands in [test.values]"
    );
    for (place, source) in values {
        let Source::Latest(name, _) = source else { continue };
        let is_next =
            |(known, source): &(String, Source)| known == name && matches!(source, Source::Next(..));
        ensure!(values.iter().any(is_next), "`values.{place}`: no value {name} takes the `next` number");
    }
    for (place, source) in all.chain(columns) {
        let Source::Whole(range) = source else { continue };
        let mut named = Vec::from_iter(&range.not);
        if let Some((when, otherwise)) = &range.unless {
            named.push(otherwise);
            named.extend(match when {
                When::Value(name) => Some(name),
                When::Share(_) => None,
            });
        }
        for name in named {
            if !known.contains(name.as_str()) {
                let what = "no number of [test.values] that depends on no other is named";
                bail!("`{place}`: {}", nearest::unknown(what, name, "there are", known.iter().copied()));
            }
        }
    }
    Ok(())
}
