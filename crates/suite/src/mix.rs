//! Mixes: classes of operations that many clients do, and where the values of their parameters come from.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use dyno_nearest as nearest;
use dyno_protocol::{Lasts, Purpose};
use dyno_record::Parameters;
use serde::Deserialize;
use toml::Spanned;

use super::check::{ID, is_id, is_name};
use super::{Bounds, NO_SQL, Renderer, Suite, TableForm, Test};
use crate::watch::Watch;

/// A class of operations as written. `statements` is a template, in which `:name` is a parameter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Its name, by which results are shown.
    pub name: Spanned<String>,
    /// How often it is drawn, beside the weights of the others.
    #[serde(default = "one")]
    pub weight: f64,
    /// What its statements are one transaction for; absent: each is a transaction of its own.
    pub transaction: Option<Purpose>,
    /// Its statements.
    pub statements: Spanned<String>,
}

fn one() -> f64 {
    1.0
}

/// Where the values of a parameter come from, drawn anew for each operation: whole numbers from `from` to `to`, both
/// included, or `letters` random letters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    from: Option<Number>,
    to: Option<Number>,
    #[serde(default)]
    distribution: Distribution,
    letters: Option<Number>,
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

/// A number as written: itself, or an expression with the suite's parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Number(toml::Value);

impl Number {
    fn value(&self, renderer: &Renderer) -> Result<f64> {
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

/// The numbers of a mix with the parameters of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// How many clients.
    pub clients: u32,
    /// How long it lasts; none: each client does `count` operations.
    pub lasts: Option<Lasts>,
    /// How many operations each client does.
    pub count: Option<u64>,
    /// How many operations a second arrive, for all clients together; none: each as soon as its client is free.
    pub rate: Option<f64>,
    /// The names and weights of the classes.
    pub classes: Vec<(String, f64)>,
    /// The parameters by name, with where their values come from.
    pub values: Vec<(String, Source)>,
}

/// Where values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Whole numbers from the first to the second.
    Whole(i64, i64, Distribution),
    /// So many letters.
    Letters(u64),
}

/// A class made ready for one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedClass {
    /// Its name.
    pub name: String,
    /// What its statements are one transaction for.
    pub transaction: Option<Purpose>,
    /// The texts of each statement around its parameters, and their names.
    pub statements: Vec<(Vec<String>, Vec<String>)>,
}

impl Suite {
    /// The numbers of a mix. They are the same for every dialect.
    ///
    /// # Errors
    /// An expression is none, or a number makes no sense.
    pub fn mix(&self, test: &Test, parameters: &Parameters) -> Result<Mix> {
        let watch = Watch::default();
        let renderer = Renderer::new(parameters, NO_SQL, TableForm::default(), Bounds::default(), &watch);
        let at = |key: &str| format!("{}: test {}: `{key}`", self.path.display(), test.id);
        let number = |key: &str, number: &Option<Number>| {
            number.as_ref().map(|number| number.value(&renderer)).transpose().with_context(|| at(key))
        };
        let seconds = |key: &str, written: &Option<Number>| -> Result<Option<u64>> {
            let seconds = number(key, written)?;
            ensure!(
                seconds.is_none_or(|seconds| (0.0..=86_400.0).contains(&seconds)),
                "{} is from 0 to 86400 seconds",
                at(key)
            );
            Ok(seconds.map(|seconds| (seconds * 1e9) as u64))
        };
        let clients = number("clients", &test.clients)?.unwrap_or(1.0);
        ensure!((1.0..=10_000.0).contains(&clients), "{} is from 1 to 10000", at("clients"));
        let duration = seconds("duration", &test.duration)?.filter(|&duration| duration > 0);
        let warm_up_ns = seconds("warm_up", &test.warm_up)?.unwrap_or(0);
        let count = number("count", &test.count)?.filter(|&count| count > 0.0).map(|count| count as u64);
        ensure!(
            duration.is_some() != count.is_some(),
            "{} and `count`: a mix has one of both, more than 0",
            at("duration")
        );
        let rate = number("rate", &test.rate)?.filter(|&rate| rate > 0.0);
        ensure!(rate.is_none() || duration.is_some(), "{} needs a `duration`", at("rate"));
        let values = test.values.iter().map(|(name, values)| {
            Ok((name.clone(), values.source(&renderer).with_context(|| at(&format!("values.{name}")))?))
        });
        Ok(Mix {
            clients: clients as u32,
            lasts: duration.map(|duration_ns| Lasts { duration_ns, warm_up_ns }),
            count,
            rate,
            classes: test.classes.iter().map(|class| (class.name.get_ref().clone(), class.weight)).collect(),
            values: values.collect::<Result<_>>()?,
        })
    }

    /// Refuses classes that cannot be drawn, and values that come from nowhere.
    pub(super) fn check_mix(&self, test: &Test) -> Result<()> {
        let mut seen = BTreeSet::new();
        for class in &test.classes {
            let line = self.line_of(class.name.span().start);
            let place = || format!("{}:{line}: class {}", self.path.display(), class.name.get_ref());
            ensure!(is_id(class.name.get_ref()), "{}: its name is not {ID}", place());
            ensure!(seen.insert(class.name.get_ref()), "{}: there are two of them", place());
            ensure!(class.weight >= 0.0 && class.weight.is_finite(), "{}: a weight is 0 or more", place());
        }
        let line = self.line_of(test.title.span().start);
        let place = || format!("{}:{line}: test {}", self.path.display(), test.id);
        let weights: f64 = test.classes.iter().map(|class| class.weight).sum();
        ensure!(test.classes.is_empty() || weights > 0.0, "{}: the weights of all classes are 0", place());
        for name in test.values.keys() {
            ensure!(is_name(name), "{}: '{name}' is no name of a value", place());
        }
        Ok(())
    }

    /// Cuts a statement of a class at its parameters: the texts around them, and their names.
    pub(super) fn pieces(
        &self,
        test: &Test,
        class: &Class,
        statement: &str,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let (texts, names) = pieces(statement);
        for name in &names {
            if !test.values.contains_key(name) {
                let known = test.values.keys().map(String::as_str);
                bail!(
                    "{}: class {}: {}",
                    self.template_place(test, &class.statements, 1),
                    class.name.get_ref(),
                    nearest::unknown(
                        "no [test.values] has a source for the parameter",
                        name,
                        "there are",
                        known
                    )
                );
            }
        }
        Ok((texts, names))
    }
}

impl Values {
    fn source(&self, renderer: &Renderer) -> Result<Source> {
        match (&self.from, &self.to, &self.letters) {
            (Some(from), Some(to), None) => {
                let (from, to) = (from.whole(renderer)?, to.whole(renderer)?);
                ensure!(from <= to, "there is no number from {from} to {to}");
                Ok(Source::Whole(from, to, self.distribution))
            }
            (None, None, Some(letters)) => {
                let letters = letters.whole(renderer)?;
                ensure!((1..=65_536).contains(&letters), "letters are 1 to 65536");
                Ok(Source::Letters(letters as u64))
            }
            _ => bail!("a value has `from` and `to`, or `letters`"),
        }
    }
}

/// The texts around the parameters of a statement, and their names. A colon within quotes, and one beside another as in
/// `a::text`, begins no parameter.
fn pieces(statement: &str) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut names) = (vec![String::new()], Vec::new());
    let mut letters = statement.chars().peekable();
    let mut quote = None;
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let begins = quote.is_none()
            && letter == ':'
            && before != ':'
            && letters.peek().is_some_and(|next| next.is_ascii_lowercase());
        if begins {
            let mut name = String::new();
            while let Some(next) =
                letters.next_if(|next| next.is_ascii_lowercase() || next.is_ascii_digit() || *next == '_')
            {
                name.push(next);
            }
            names.push(name);
            texts.push(String::new());
            // Its last letter, and not the colon, is what stands before what follows.
            before = 'x';
        } else {
            match quote {
                None if matches!(letter, '\'' | '"' | '`') => quote = Some(letter),
                Some(open) if open == letter => quote = None,
                _ => {}
            }
            texts.last_mut().expect("there is one from the beginning").push(letter);
            before = letter;
        }
    }
    (texts, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(statement: &str) -> (Vec<String>, Vec<String>) {
        pieces(statement)
    }

    #[test]
    fn parameters_are_found_outside_of_quotes_and_casts() {
        let (texts, names) = cut("UPDATE t SET a = a + :delta WHERE id = :id_2");
        assert_eq!((texts.len(), names), (3, vec!["delta".to_owned(), "id_2".to_owned()]));
        assert_eq!(texts, ["UPDATE t SET a = a + ", " WHERE id = ", ""]);
        let (texts, names) = cut("SELECT ':no', a::text, \":b\", 'it''s :c', 12:00 FROM t");
        assert_eq!((texts.len(), names.len()), (1, 0));
        assert_eq!(cut(":a:b").1, ["a", "b"]);
    }
}
