//! The sources of the values of a mix's parameters, with the parameters of a run, and the dependencies between them.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use dyno_nearest as nearest;

use super::distribution::ValueDistribution;
use super::written::Written;

/// The sources of values, with the parameters of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Whole numbers.
    Whole(Range),
    /// The number of letters, and the number of times they are repeated.
    Letters(u64, u64),
    /// The numbers from the second on: each operation of a class takes one that no other takes.
    Next(String, i64),
    /// One of the numbers that the value of this name took lately, by Zipf's law the latest most often, and beyond
    /// those one of the numbers down to this.
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
    /// The distribution of the numbers.
    pub law: ValueDistribution,
    /// The value, by name, that is not drawn where the range has another.
    pub not: Option<String>,
    /// The condition under which it is drawn, and the value that replaces it otherwise.
    pub unless: Option<(DrawCondition, String)>,
    /// The text it is written as; None: the number.
    pub written: Option<Written>,
}

/// The condition under which a value is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum DrawCondition {
    /// In this share of cases.
    Share(f64),
    /// The value of this name is not 0.
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
        "`latest` belongs in [test.values]"
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
                DrawCondition::Value(name) => Some(name),
                DrawCondition::Share(_) => None,
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
