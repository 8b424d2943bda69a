//! The distribution over the numbers of a range.

use anyhow::{Context, Result, bail, ensure};
use dyno_nearest as nearest;

use super::number::Number;
use crate::Renderer;

/// Zipf's exponent in YCSB's workloads.
pub const ZIPF: f64 = 0.99;

/// The distribution over the numbers of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueDistribution {
    /// All alike.
    Uniform,
    /// By Zipf's law with this exponent, the often drawn scattered over the range.
    Zipf(f64),
    /// By TPC-C's NURand with this constant A.
    Nurand(i64),
    /// By a normal distribution around the middle of the range, with this standard deviation.
    Gauss(f64),
    /// The less often the further they are from the first; this far on the average, in a range without end.
    Exponential(f64),
    /// A share of the numbers, the first ones, takes one less this share of all draws; so do the first of these among
    /// them.
    Pareto(f64),
    /// Some numbers, next to each other, take most of the draws, and move on.
    HotSpot {
        /// The share of the numbers.
        numbers: f64,
        /// The share of the draws.
        draws: f64,
        /// After how many draws the next numbers take their place; 0: never.
        moves: u64,
    },
}

/// The names of distributions, as a suite writes them.
const NAMES: [&str; 6] = ["uniform", "zipf", "gauss", "exponential", "pareto", "hot-spot"];

impl ValueDistribution {
    /// Reads a distribution over `count` numbers: its name, or `{ name = number }`.
    ///
    /// # Errors
    /// The name is unknown, or its number makes no sense.
    pub(super) fn read(written: &toml::Value, count: f64, renderer: &Renderer) -> Result<ValueDistribution> {
        let (name, given) = match written {
            toml::Value::String(name) => (name.as_str(), None),
            toml::Value::Table(table) if table.len() == 1 => {
                table.iter().next().map(|(name, given)| (name.as_str(), Some(given))).unwrap_or_default()
            }
            _ => bail!("a `distribution` is a name, or one name with its number, as {{ zipf = 1.2 }}"),
        };
        ensure!(
            NAMES.contains(&name),
            nearest::unknown("no distribution is called", name, "there are", NAMES)
        );
        if name == "hot-spot" {
            return hot_spot(given, renderer);
        }
        let number = given.map(|given| Number::new(given.clone()).value(renderer)).transpose();
        let number = number.with_context(|| format!("distribution.{name}"))?;
        let (law, limits): (fn(f64) -> ValueDistribution, _) = match name {
            "uniform" => {
                ensure!(number.is_none(), "the distribution uniform has no number");
                return Ok(ValueDistribution::Uniform);
            }
            "zipf" => (ValueDistribution::Zipf, 0.0..=20.0),
            "gauss" => (ValueDistribution::Gauss, count / 1e6..=count * 10.0),
            "exponential" => (ValueDistribution::Exponential, count / 1e6..=count * 10.0),
            _ => (ValueDistribution::Pareto, 0.000_001..=0.5),
        };
        let usual = match name {
            "zipf" => ZIPF,
            "gauss" => count / 6.0,
            "exponential" => count / 10.0,
            _ => 0.2,
        };
        let number = number.unwrap_or(usual);
        ensure!(
            limits.contains(&number),
            "the number of the distribution {name} is from {} to {} here, and not {number}",
            limits.start(),
            limits.end()
        );
        Ok(law(number))
    }
}

fn hot_spot(given: Option<&toml::Value>, renderer: &Renderer) -> Result<ValueDistribution> {
    let (mut numbers, mut draws, mut moves) = (0.1, 0.9, 0.0);
    let given = match given {
        None => toml::Table::new(),
        Some(toml::Value::Table(given)) => given.clone(),
        Some(_) => bail!("a hot spot is {{ hot-spot = {{ numbers = 0.1, draws = 0.9, moves = 1000 }} }}"),
    };
    for (key, value) in given {
        let found = match key.as_str() {
            "numbers" => &mut numbers,
            "draws" => &mut draws,
            "moves" => &mut moves,
            other => {
                bail!(nearest::unknown("a hot spot has no", other, "it has", ["numbers", "draws", "moves"]))
            }
        };
        *found =
            Number::new(value).value(renderer).with_context(|| format!("distribution.hot-spot.{key}"))?;
    }
    ensure!(
        numbers > 0.0 && numbers < 1.0 && (0.0..=1.0).contains(&draws),
        "`numbers` and `draws` of a hot spot are shares: more than 0 and less than 1, and 0 to 1"
    );
    ensure!(
        (0.0..=1e12).contains(&moves) && moves.fract() == 0.0,
        "`moves` of a hot spot is a number of draws"
    );
    Ok(ValueDistribution::HotSpot { numbers, draws, moves: moves as u64 })
}
