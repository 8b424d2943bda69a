//! Compares a page with what dyno says of the runs within it.

use std::path::Path;

use anyhow::Result;
use dyno_show::report::{self, PageSource};

/// As much of a line is quoted.
const QUOTED: usize = 80;

/// The difference between a page and the one that dyno makes of the runs in it; none if there is none.
///
/// # Errors
/// The page of these runs cannot be made.
pub fn differences(page: &str, path: &Path) -> Result<Option<String>> {
    let packed = match dyno_record::packed_runs(page) {
        Ok(packed) => packed,
        Err(error) => return Ok(Some(format!("{error:#}"))),
    };
    let mut sources = Vec::new();
    for packed in packed {
        let mut run = dyno_record::parse(&packed.text, path)?;
        run.schedule.margin = packed.margin.unwrap_or(run.schedule.margin);
        let verdict = dyno_verdict::judge(&run);
        sources.push(PageSource { name: packed.name, verdict, file: packed.text.into_bytes() });
    }
    let named: Vec<_> = sources.iter().map(|source| (source.name.as_str(), &source.verdict)).collect();
    let beside = dyno_verdict::beside(&named)?;
    let again = report::render(&sources, &beside)?;
    Ok(first_difference(page, &again))
}

fn first_difference(page: &str, again: &str) -> Option<String> {
    let mut pairs = page.lines().zip(again.lines()).enumerate();
    let differs = pairs.find(|(_, (line, expected))| line != expected);
    match differs {
        Some((place, (line, expected))) => {
            let (line, expected) = around(line, expected);
            Some(format!(
                "the page is not the one that this dyno makes of its run: line {} has '{line}' where it has '{expected}'. \
                 If another version of dyno made the page, verify it with that one",
                place + 1
            ))
        }
        None if page != again => {
            Some("the page is shorter or longer than the one that this dyno makes of its run".to_owned())
        }
        None => None,
    }
}

/// The parts of two lines from shortly before where they differ.
fn around(line: &str, other: &str) -> (String, String) {
    let same = line.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(QUOTED / 4)).take(QUOTED).collect();
    (part(line), part(other))
}
