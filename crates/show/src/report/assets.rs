//! Templates, style and script of the page, and what keeps them in check: the Content-Security-Policy and the
//! escaping of data.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value, escape_formatter};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{safe, units};

/// Observable Plot and the parts of d3 it uses, as `make report-assets` built it.
const LIBRARY: &str = include_str!("../../report/vendor/plot.min.js");
/// The licences of what is in it.
const LICENCES: &str = include_str!("../../report/vendor/plot.LICENSE.txt");
const STYLE: &str = include_str!("../../report/page.css");
const SCRIPTS: [&str; 4] = [
    include_str!("../../report/draw.js"),
    include_str!("../../report/charts.js"),
    include_str!("../../report/lines.js"),
    include_str!("../../report/page.js"),
];

/// The templates by name. Those that end in `.html` escape what is put into them, with control characters spelled out.
const TEMPLATES: [(&str, &str); 12] = [
    ("page.html", include_str!("../../report/templates/page.html")),
    ("head.html", include_str!("../../report/templates/head.html")),
    ("macros.html", include_str!("../../report/templates/macros.html")),
    ("overview.html", include_str!("../../report/templates/overview.html")),
    ("comparison.html", include_str!("../../report/templates/comparison.html")),
    ("view.html", include_str!("../../report/templates/view.html")),
    ("published.html", include_str!("../../report/templates/published.html")),
    ("test.html", include_str!("../../report/templates/test.html")),
    ("contender.html", include_str!("../../report/templates/contender.html")),
    ("again.html", include_str!("../../report/templates/again.html")),
    ("prove.html", include_str!("../../report/templates/prove.html")),
    ("site.html", include_str!("../../report/templates/site.html")),
];

/// Sets the page of runs in its templates.
pub(super) fn render(page: &impl Serialize) -> Result<String> {
    let script = SCRIPTS.join("\n");
    let mut context = context(page, &[LIBRARY, &script]);
    context.extend([
        ("library", Value::from_safe_string(LIBRARY.to_owned())),
        ("script", Value::from_safe_string(script)),
        ("licences", Value::from(LICENCES)),
    ]);
    set_in("page.html", context)
}

/// Sets a page without a script in the template of this name.
///
/// # Errors
/// The data do not fit the template.
pub(crate) fn set(template: &str, page: &impl Serialize) -> Result<String> {
    set_in(template, context(page, &[]))
}

/// The same of a page with a script.
///
/// # Errors
/// As [`set`].
pub(crate) fn set_with_script(template: &str, page: &impl Serialize, script: &str) -> Result<String> {
    let mut context = context(page, &[script]);
    context.insert("script", Value::from_safe_string(script.to_owned()));
    set_in(template, context)
}

fn context(page: &impl Serialize, scripts: &[&str]) -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("page", Value::from(Serde(page))),
        ("policy", Value::from(policy(scripts, STYLE))),
        ("style", Value::from_safe_string(STYLE.to_owned())),
    ])
}

fn set_in(template: &str, context: BTreeMap<&str, Value>) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax()?);
    environment.set_formatter(|output, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(output, state, &Value::from(safe(text).as_ref())),
        None => escape_formatter(output, state, value),
    });
    environment.add_filter("unbroken", |text: &str| units::unbroken(text));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).with_context(|| format!("the template {name} is wrong"))?;
    }
    let template = environment.get_template(template).with_context(|| format!("there is no {template}"))?;
    template.render(context).context("the page cannot be set")
}

/// The syntax of templates: a line that holds only a block leaves nothing.
pub(super) fn syntax() -> Result<SyntaxConfig> {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    syntax.context("the syntax of templates is wrong")
}

/// The page may do nothing but run these scripts and this style: no request, no other script, no form.
fn policy(scripts: &[&str], style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let scripts: Vec<String> = match scripts {
        [] => vec!["'none'".to_owned()],
        scripts => scripts.iter().map(|script| hash(script)).collect(),
    };
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        scripts.join(" "),
        hash(style)
    )
}

/// JSON for a `script` element that holds data. No `<` is left in it, so nothing in it can end the element. Control
/// characters are spelled out as in the page's text.
pub(super) fn json(data: &impl Serialize) -> Value {
    // Strings, numbers and lists of them cannot fail to be written.
    let data = serde_json::to_value(data).map(spelled).unwrap_or_default();
    Value::from_safe_string(data.to_string().replace('<', "\\u003c"))
}

/// Data whose texts have their control characters spelled out.
fn spelled(data: serde_json::Value) -> serde_json::Value {
    match data {
        serde_json::Value::String(text) => safe(&text).into(),
        serde_json::Value::Array(items) => items.into_iter().map(spelled).collect(),
        serde_json::Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (safe(&name).into_owned(), spelled(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_their_element() {
        let text = json(&"</script><script>alert(1)</script><!--").to_string();
        assert!(!text.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "</script><script>alert(1)</script><!--");
    }

    #[test]
    fn the_committed_assets_are_those_that_were_built() {
        let lock = include_str!("../../report/assets.lock.json");
        let lock: BTreeMap<String, String> = serde_json::from_str(lock).unwrap();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/report/vendor");
        assert_eq!(lock.len(), std::fs::read_dir(folder).unwrap().count());
        for (name, wanted) in lock {
            let content = std::fs::read(format!("{folder}/{name}")).unwrap();
            let found: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, wanted, "{name} is not what `make report-assets` built");
        }
    }
}
