//! Arguments of commands as templates, whose places in braces are filled when a server is started.

use std::ffi::{OsStr, OsString};
use std::fmt;

/// An argument of a command: a template with places in braces, or a setting's, which is taken as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// With places to fill.
    Template(String),
    /// Made of a setting.
    Setting(String),
}

impl Argument {
    /// The argument with its places filled.
    pub fn filled(&self, places: &[(&str, &OsStr)]) -> OsString {
        match self {
            Argument::Setting(text) => text.into(),
            Argument::Template(template) => fill(template, places),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Argument::Template(text) | Argument::Setting(text)) = self;
        f.write_str(text)
    }
}

/// The arguments of a template, its `{settings}` replaced by those of settings.
pub(super) fn expanded(template: &[String], settings: &[String]) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for part in template {
        match part.as_str() {
            "{settings}" => arguments.extend(settings.iter().cloned().map(Argument::Setting)),
            part => arguments.push(Argument::Template(part.to_owned())),
        }
    }
    arguments
}

/// Arguments as templates.
pub(super) fn templates(texts: &[String]) -> Vec<Argument> {
    expanded(texts, &[])
}

/// A text with its places filled. What it does not know stays.
pub(super) fn filled_text(template: &str, places: &[(&str, &str)]) -> String {
    let places: Vec<(&str, &OsStr)> =
        places.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
    fill(template, &places).to_string_lossy().into_owned()
}

/// A template with its places filled. What it does not know stays.
fn fill(template: &str, places: &[(&str, &OsStr)]) -> OsString {
    let mut filled = OsString::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        filled.push(before);
        let place = behind.split_once('}').and_then(|(name, after)| {
            places.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, after))
        });
        match place {
            Some((value, after)) => {
                filled.push(value);
                rest = after;
            }
            None => {
                filled.push("{");
                rest = behind;
            }
        }
    }
    filled.push(rest);
    filled
}
