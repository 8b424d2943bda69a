//! `include = "NAME"`: the parameters, tests and published figures of another suite, after a suite's own.
//!
//! They are put together as text, so that a run file, which keeps the text, needs no other file.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde::Deserialize;
use toml::Spanned;

use super::position::line_at;

/// The part of a suite's text that refers to another suite.
#[derive(Deserialize)]
struct IncludeHeader {
    include: Option<Spanned<String>>,
}

/// The position of the suite's name in its text.
pub fn name_place(text: &str) -> Option<usize> {
    /// The part of a suite that is looked for.
    #[derive(Deserialize)]
    struct Named {
        name: Spanned<String>,
    }
    Some(toml::from_str::<Named>(text).ok()?.name.span().start)
}

/// The name of the suite that a text includes, if it does.
pub fn included(text: &str) -> Option<String> {
    toml::from_str::<IncludeHeader>(text).ok()?.include.map(Spanned::into_inner)
}

/// Both texts as one: of the other, everything from its first table on. The line that includes it becomes a
/// comment, so that all lines keep their numbers.
pub fn join(text: &str, other: &str, path: &Path) -> Result<String> {
    let head: IncludeHeader = toml::from_str(text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let Some(include) = head.include else { return Ok(text.to_owned()) };
    let line = line_at(text, include.span().start);
    let own: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(index, text)| if index + 1 == line { format!("# {text}") } else { text.to_owned() })
        .collect();
    let tables = tables(other).with_context(|| format!("{}:{line}: it has no tests", path.display()))?;
    Ok(format!("{}\n\n{tables}", own.join("\n")))
}

/// A document from its first table on that is no rung: the first line that begins with a bracket, and not within a
/// string.
fn tables(text: &str) -> Option<&str> {
    let starts = text.match_indices('\n').map(|(place, _)| place + 1);
    starts
        .filter(|&start| text[start..].starts_with('[') && !text[start..].starts_with("[[rung]]"))
        .find(|&start| toml::from_str::<toml::Table>(&text[..start]).is_ok())
        .map(|start| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_suites_tables_follow_and_lines_keep_their_numbers() {
        let own = "name = 'x'\ninclude = \"y\"\n[[test]]\nid = '0'\n";
        let other =
            "name = 'y'\nstory = \"\"\"\n[not a table]\n\"\"\"\n\n[[rung]]\nname = 'r'\n[[test]]\nid = '1'\n";
        assert_eq!(included(own).as_deref(), Some("y"));
        let joined = join(own, other, Path::new("x.toml")).unwrap();
        assert_eq!(joined, "name = 'x'\n# include = \"y\"\n[[test]]\nid = '0'\n\n[[test]]\nid = '1'\n");
        assert!(included(&joined).is_none());
        assert!(join(own, "name = 'y'\n", Path::new("x.toml")).unwrap_err().to_string().contains("x.toml:2"));
    }
}
