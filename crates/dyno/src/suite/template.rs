//! Renders the statement templates of a suite: minijinja with the few functions that make data.
//!
//! One [`Renderer`] renders a whole suite for one dialect, in order: all tests draw from one stream
//! of random numbers, so that a test's data do not depend on which tests are run.

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::TableForm;
use super::parameters::{ParameterValue, Parameters};
use super::random::Stream;
use super::words::words;

/// How many template instructions one test may take: a loop without end in a suite becomes an
/// error and not a hang. A statement takes about thirty, so this is some hundred million statements.
const FUEL: u64 = 4_000_000_000;

/// Renders templates with the parameters of a run.
pub struct Renderer {
    environment: Environment<'static>,
    context: Value,
}

/// A template that does not render.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// The line within the template, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl Renderer {
    /// A renderer at the beginning of the random stream.
    pub fn new(parameters: &Parameters, dialect: &str, form: TableForm) -> Renderer {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A line that holds nothing but a tag leaves no line behind.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("only delimiters can be refused, and these are the usual ones"));
        environment.set_fuel(Some(FUEL));
        add_functions(&mut environment, parameters);
        let variables = parameters.all().map(|(name, value)| (name, template_value(value)));
        let own = [("dialect", Value::from(dialect)), ("primary_key", Value::from(form.primary_key))];
        let context = Value::from_pairs(variables.chain(own));
        Renderer { environment, context }
    }

    /// The text of a template.
    pub fn render(&self, template: &str) -> Result<String, TemplateError> {
        self.environment.render_str(template, &self.context).map_err(explain)
    }
}

fn template_value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Integer(number) => Value::from(*number),
        ParameterValue::Real(number) => Value::from(*number),
        ParameterValue::Text(text) => Value::from(text.as_str()),
    }
}

fn add_functions(environment: &mut Environment<'static>, parameters: &Parameters) {
    let stream = Arc::new(Mutex::new(Stream::new(parameters.seed())));
    environment.add_function("random", move |below: u64| -> Result<u64, Error> {
        if below == 0 {
            return Err(Error::new(ErrorKind::InvalidOperation, "random(0): there is no number below 0"));
        }
        // A panic while drawing cannot leave the stream half changed.
        Ok(stream.lock().unwrap_or_else(PoisonError::into_inner).draw(below))
    });
    environment.add_function("words", |number: u64| words(number));
    environment.add_function("range", range);
    let scale = parameters.scale();
    environment.add_function("scaled", move |number: u64| -> u64 {
        ((number as f64 * scale).round() as u64).max(1)
    });
}

/// minijinja's own `range` refuses more than 100,000 numbers; this one makes them as they are asked
/// for.
fn range(first: i64, end: Option<i64>) -> Value {
    let (first, end) = end.map_or((0, first), |end| (first, end));
    Value::make_iterable(move || first..end)
}

fn explain(error: Error) -> TemplateError {
    let mut message = error.kind().to_string();
    if let Some(detail) = error.detail() {
        message = format!("{message}: {detail}");
    }
    if error.kind() == ErrorKind::OutOfFuel {
        message = "the template does more work than any suite needs; is there a loop without end?".into();
    }
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    TemplateError { line: error.line(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(template: &str) -> Result<String, TemplateError> {
        Renderer::new(&Parameters::default(), "sqlite", TableForm::default()).render(template)
    }

    #[test]
    fn data_come_from_one_stream() {
        let renderer = Renderer::new(&Parameters::default(), "sqlite", TableForm::default());
        assert_eq!(renderer.render("{{ random(100000) }}").unwrap(), "13153");
        assert_eq!(renderer.render("{{ random(100000) }}").unwrap(), "75560");
    }

    #[test]
    fn loops_are_longer_than_the_libraries_own() {
        let text = render("{% for i in range(0, 200000) %}x{% endfor %}").unwrap();
        assert_eq!(text.len(), 200_000);
        assert_eq!(render("{% for i in range(3) %}{{ i }}{% endfor %}").unwrap(), "012");
    }

    #[test]
    fn parameters_and_the_dialect_are_variables() {
        assert_eq!(render("{{ dialect }}").unwrap(), "sqlite");
    }

    #[test]
    fn mistakes_name_their_line() {
        let error = render("SELECT 1;\n{{ wodrs(3) }};\n").unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(error.message.contains("wodrs"), "{}", error.message);
        assert!(render("{{ random(0) }}").unwrap_err().message.contains("no number below 0"));
        assert!(render("{{ nothing }}").is_err());
    }
}
