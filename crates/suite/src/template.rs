//! Renders the statement templates of a suite: minijinja with the few functions that make data.
//!
//! One [`Renderer`] renders a whole suite for one dialect, in order: all tests draw from one stream
//! of random numbers, so that a test's data do not depend on which tests are run.

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use dyno_nearest as nearest;
use dyno_record::{ParameterValue, Parameters};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::TableForm;
use super::last_name::last_name;
use super::random::Stream;
use super::statements::one_row;
use super::words::words;
use crate::progress::PlanningProgress;

/// The limits of one template, so that a loop without end, or one that doubles a text, becomes an error.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Instructions of the template. A statement takes about thirty.
    pub instructions: u64,
    /// Bytes of the text that comes of it.
    pub bytes: u64,
}

impl Default for Bounds {
    /// Some thirty million statements.
    fn default() -> Bounds {
        Bounds { instructions: 1_000_000_000, bytes: 2 << 30 }
    }
}

impl Bounds {
    /// Those of a suite whose sizes are its own and not the user's: some three million statements, a few seconds of
    /// work. A user asks for more by a parameter.
    pub const UNASKED: Bounds = Bounds { instructions: 100_000_000, bytes: 256 << 20 };
}

/// The most numbers that a template may loop over.
const LONGEST_RANGE: i64 = 1 << 30;
/// The most numbers that a template may draw from its ranges without writing anything.
const MOST_IDLE: u64 = 4_000_000;

/// Renders templates with the parameters of a run.
pub struct Renderer<'a> {
    environment: Environment<'static>,
    context: Value,
    bytes: u64,
    watch: &'a PlanningProgress,
}

/// A template that does not render.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// The line within the template, from 1, where it is known.
    pub line: Option<usize>,
    /// The error message.
    pub message: String,
}

impl<'a> Renderer<'a> {
    /// A renderer at the beginning of the random stream.
    pub fn new(
        parameters: &Parameters,
        dialect: &str,
        form: TableForm,
        bounds: Bounds,
        watch: &'a PlanningProgress,
    ) -> Renderer<'a> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A line that holds nothing but a tag leaves no line behind.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("only delimiters can be refused, and these are the usual ones"));
        environment.set_fuel(Some(bounds.instructions));
        // They make as many blanks as one asks for, at once.
        WIDENING.iter().for_each(|filter| environment.remove_filter(filter));
        add_functions(&mut environment, parameters, watch);
        let variables = parameters.all().map(|(name, value)| (name, template_value(value)));
        let own = [
            ("dialect", Value::from(dialect)),
            ("one_row", Value::from(one_row(dialect))),
            ("primary_key", Value::from(form.primary_key)),
        ];
        let context = Value::from_pairs(variables.chain(own));
        Renderer { environment, context, bytes: bounds.bytes, watch }
    }

    /// The unknown name in a template, if that is the cause of its error.
    fn unknown(&self, error: &Error, template: &str) -> Option<String> {
        if error.kind() != ErrorKind::UndefinedError {
            return None;
        }
        let used = self.environment.template_from_str(template).ok()?.undeclared_variables(false);
        let known: Vec<String> = self.context.try_iter().ok()?.map(|name| name.to_string()).collect();
        let is_function = |name: &str| self.environment.globals().any(|(known, _)| known == name);
        let name = used.iter().find(|name| !known.contains(name) && !is_function(name))?;
        Some(nearest::unknown("there is no parameter", name, "there are", known.iter().map(String::as_str)))
    }

    /// The text of a template.
    pub fn render(&self, template: &str) -> Result<String, TemplateError> {
        // Draws of an earlier template do not count against this one.
        self.watch.reset_steps();
        let mut text = Bounded { text: Vec::new(), most: self.bytes, watch: self.watch };
        let rendered = self
            .environment
            .template_from_str(template)
            .and_then(|template| template.render_captured_to(&self.context, &mut text).map(drop));
        rendered.map_err(|error| match self.unknown(&error, template) {
            Some(message) => TemplateError { line: error.line(), message },
            None => explain(error),
        })?;
        String::from_utf8(text.text).map_err(|error| TemplateError { line: None, message: error.to_string() })
    }
}

/// Filters that minijinja has and suites do not.
const WIDENING: [&str; 2] = ["indent", "format"];

/// A text up to a length.
struct Bounded<'a> {
    text: Vec<u8>,
    most: u64,
    watch: &'a PlanningProgress,
}

impl Write for Bounded<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            return Err(io::Error::other("it was asked to stop"));
        }
        if (self.text.len() + piece.len()) as u64 > self.most {
            let most = self.most >> 20;
            return Err(io::Error::other(format!(
                "its text is longer than {most} MiB; does a loop double it? A smaller --scale makes fewer statements"
            )));
        }
        self.text.extend_from_slice(piece);
        self.watch.reset_steps();
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn template_value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Integer(number) => Value::from(*number),
        ParameterValue::Real(number) => Value::from(*number),
        ParameterValue::Text(text) => Value::from(text.as_str()),
    }
}

fn add_functions(environment: &mut Environment<'static>, parameters: &Parameters, watch: &PlanningProgress) {
    let stream = Arc::new(Mutex::new(Stream::new(parameters.seed())));
    environment.add_function("random", move |below: u64| -> Result<u64, Error> {
        if below == 0 {
            return Err(Error::new(ErrorKind::InvalidOperation, "random(0): there is no number below 0"));
        }
        // A panic while drawing cannot leave the stream half changed.
        Ok(stream.lock().unwrap_or_else(PoisonError::into_inner).draw(below))
    });
    environment.add_function("words", |number: u64| words(number));
    environment.add_function("last_name", |number: u64| last_name(number));
    let watch = watch.clone();
    environment.add_function("range", move |first: i64, end: Option<i64>| range(first, end, &watch));
    let scale = parameters.scale();
    environment.add_function("scaled", move |number: u64| -> u64 {
        ((number as f64 * scale).round() as u64).max(1)
    });
}

/// minijinja's own `range` refuses more than 100,000 numbers; this one makes them as they are asked
/// for. It ends when the work is asked to stop, and is an error where it is a loop without end: over more numbers than
/// any suite needs, or over many of which no text comes.
fn range(first: i64, end: Option<i64>, watch: &PlanningProgress) -> Value {
    let (first, end) = end.map_or((0, first), |end| (first, end));
    let watch = watch.clone();
    Value::make_iterable(move || Numbers { left: first..end, watch: watch.clone() })
}

/// The numbers of a range, of which the end is known before they are made.
struct Numbers {
    left: Range<i64>,
    watch: PlanningProgress,
}

impl Iterator for Numbers {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        if self.watch.is_stopped() {
            return None;
        }
        let left = self.left.end.saturating_sub(self.left.start);
        let number = self.left.next()?;
        let complaint = if left > LONGEST_RANGE {
            format!("a loop over {left} numbers: is it a loop without end?")
        } else if self.watch.count_step() > MOST_IDLE {
            format!("{MOST_IDLE} rounds of loops wrote nothing: is there a loop without end?")
        } else {
            return Some(Value::from(number));
        };
        self.left.end = self.left.start;
        Some(Value::from(Error::new(ErrorKind::InvalidOperation, complaint)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

fn explain(error: Error) -> TemplateError {
    let mut message = error.kind().to_string();
    if let Some(detail) = error.detail() {
        message = format!("{message}: {detail}");
    }
    if error.kind() == ErrorKind::OutOfFuel {
        message = "it does more work than any suite needs; is there a loop without end?".into();
    }
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    TemplateError { line: error.line(), message }
}
