//! Reads a suite's file and checks what its types cannot, naming file and line in every complaint.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};

use super::mix::read_files;
use super::names::{ID, is_id};
use super::position::line_at;
use super::{Suite, include};

/// The longest suite, in bytes: a thousand times the longest of dyno's suites.
const LONGEST: u64 = 16 << 20;

impl Suite {
    /// Reads a suite.
    ///
    /// `dialects` are those that the engines speak; a line tagged with another is an error.
    pub fn load(path: &Path, dialects: &BTreeSet<String>) -> Result<Suite> {
        let text = read(path).with_context(|| format!("cannot read the suite {}", path.display()))?;
        let Some(other) = include::included(&text) else { return with_words(text, path, dialects) };
        ensure!(is_id(&other), "{}: include = \"{}\" is not {ID}", path.display(), other.escape_debug());
        let file = path.with_file_name(format!("{other}.toml"));
        // The included suite is read alone first, so that errors name its own lines. One level is enough.
        let other = read_included(&file, dialects)
            .with_context(|| format!("{}: include = \"{other}\"", path.display()))?;
        with_words(include::join(&text, &other, path)?, path, dialects)
    }

    /// Parses the text of a suite; messages name `path`.
    pub fn parse(text: String, path: &Path, dialects: &BTreeSet<String>) -> Result<Suite> {
        let mut suite: Suite = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_at(&text, span.start));
            anyhow!("{}:{line}: {}", path.display(), with_offer(error.message().trim()))
        })?;
        suite.path = path.to_owned();
        suite.text = text;
        suite.check(dialects)?;
        Ok(suite)
    }
}

/// The message about a key that is not there with the one that was meant, in place of all that there are.
fn with_offer(message: &str) -> String {
    let Some((unknown, known)) = message.split_once(", expected ") else { return message.to_owned() };
    let names = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<String>>();
    let known = names(known);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match names(unknown).first().and_then(|name| dyno_nearest::offer(name, &known)) {
        Some(offer) => format!("{unknown}; {offer}"),
        None => message.to_owned(),
    }
}

/// Reads a file whole, unless it has no end.
fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= LONGEST, "it is longer than {} MiB", LONGEST >> 20);
    Ok(text)
}

/// A suite with the words of the files that it names, at the end of its text.
fn with_words(text: String, path: &Path, dialects: &BTreeSet<String>) -> Result<Suite> {
    let suite = Suite::parse(text, path, dialects)?;
    match read_files(&suite, path)? {
        None => Ok(suite),
        Some(words) => Suite::parse(suite.text + &words, path, dialects),
    }
}

fn read_included(file: &Path, dialects: &BTreeSet<String>) -> Result<String> {
    let text = read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(Suite::parse(text, file, dialects)?.text)
}

#[cfg(test)]
mod tests {
    use dyno_record::Parameters;

    use super::*;

    const HEAD: &str = "name = \"x\"\ntitle = \"X\"\nstory = \"\"\ncontenders = [\"sqlite\"]\n";

    fn parse(tests: &str) -> Result<Suite> {
        let dialects = BTreeSet::from(["sqlite".to_owned(), "mysql".to_owned()]);
        Suite::parse(format!("{HEAD}{tests}"), Path::new("x.toml"), &dialects)
    }

    fn test(body: &str) -> String {
        format!("[[test]]\nid = \"1\"\ntitle = \"T\"\nshows = \"\"\nmodel = \"statements\"\n{body}")
    }

    fn complaint(tests: &str) -> String {
        parse(tests).unwrap_err().to_string()
    }

    #[test]
    fn a_misspelled_key_names_its_line() {
        let message = complaint(&test("statments = \"SELECT 1\"\n"));
        assert_eq!(message, "x.toml:10: unknown field `statments`; did you mean statements?");
        let message = complaint(&test("xyzzy = 1\n"));
        assert!(message.starts_with("x.toml:10: unknown field `xyzzy`, expected one of `id`"), "{message}");
    }

    #[test]
    fn a_template_error_names_the_line_within_the_file() {
        let suite = parse(&test("statements = \"\"\"\nSELECT 1;\nSELECT {{ wrods(1) }};\n\"\"\"\n")).unwrap();
        let message = suite.render(&Parameters::default(), "sqlite").unwrap_err().to_string();
        assert!(message.starts_with("x.toml:12: "), "{message}");
    }

    #[test]
    fn a_mix_takes_all_cpus_unless_its_suite_says_otherwise() {
        use crate::Cpus;
        let statements = test("statements = \"SELECT 1\"\n");
        let class = "[[test.class]]\nname = \"c\"\nstatements = \"SELECT 1\"\n";
        let mix = statements
            .replace("\"statements\"", "\"mix\"")
            .replace("statements = \"SELECT 1\"\n", "count = 1\ncheck = \"SELECT 1\"\n");
        let mix = format!("{mix}{class}");
        let cpus = |text: &str| parse(text).unwrap().cpus();
        assert_eq!(
            [cpus(&statements), cpus(&mix), cpus(&format!("cpus = \"one\"\n{mix}"))],
            [Cpus::One, Cpus::All, Cpus::One]
        );
    }

    #[test]
    fn a_dialect_that_nobody_speaks_is_an_error() {
        let message = complaint(&test("statements = \"\"\"\nSELECT 1;\n@sqlit SELECT 2;\n\"\"\"\n"));
        assert!(message.starts_with("x.toml:12: no engine speaks the dialect 'sqlit'"), "{message}");
    }

    #[test]
    fn tests_must_build_on_earlier_ones() {
        let message = complaint(&test("needs = [\"2\"]\nstatements = \"SELECT 1\"\n"));
        assert!(message.contains("x.toml:7: test 1 needs test 2"), "{message}");
        let twice = format!("{0}{0}", test("statements = \"SELECT 1\"\n"));
        assert!(complaint(&twice).contains("two tests with the id 1"));
    }

    #[test]
    fn a_transaction_and_a_check_are_rendered() {
        let body = "transaction = \"one\"\nstatements = \"SELECT 1;\"\ncheck = \"@sqlite SELECT 2\\n@mysql SELECT 3\"\n";
        // Two tagged queries without semicolons form one statement: the check for mysql has none.
        assert!(parse(&test(body)).unwrap().render(&Parameters::default(), "mysql").is_err());
        let body = body.replace("\\n@", ";\\n@");
        let rendered = parse(&test(&body)).unwrap().render(&Parameters::default(), "mysql").unwrap();
        assert_eq!(rendered[0].statements, ["BEGIN", "SELECT 1", "COMMIT"]);
        assert_eq!(rendered[0].check.as_deref(), Some("SELECT 3"));
    }
}
