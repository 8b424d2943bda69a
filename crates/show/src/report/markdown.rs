//! Sets the page as Markdown: the same figures and words by another template.

use anyhow::{Context, Result};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;

use super::assets::syntax;
use crate::escape_markdown;

const TEMPLATE: &str = include_str!("../../report/templates/page.md");

/// Sets the page in its template. What came from a suite, an engine or a file cannot become markup.
pub(super) fn render(page: &impl Serialize) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax()?);
    // A callback other than `None`, so that the output of a macro counts as escaped.
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("markdown".into()));
    environment.set_formatter(|output, _, value| {
        let text = match value.as_str().filter(|_| !value.is_safe()) {
            Some(text) => escape_markdown(text),
            None => value.to_string(),
        };
        output.write_str(&text).map_err(Into::into)
    });
    environment.add_template("page.md", TEMPLATE).context("the template page.md is wrong")?;
    let template = environment.get_template("page.md").context("there is no page.md")?;
    let text = template.render(context! { page => Serde(page) }).context("the page cannot be set")?;
    Ok(text.trim_end().to_owned() + "\n")
}
