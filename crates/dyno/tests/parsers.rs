//! Whatever is written in a suite, a contender or a run file: an answer or a complaint, never a panic.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dyno_engine::{Contender, Home, Registry, split_list};
use dyno_suite::progress::PlanningProgress;
use dyno_suite::{Bounds, Suite, TableForm};
use proptest::prelude::*;

fn registry() -> Registry {
    Registry::load(&Home { root: crate::common::repository(), own: None, programs: "/nowhere".into() })
        .unwrap()
}

/// Parses a text as a suite and, if it is one, renders it small.
fn try_suite(text: String) -> Result<usize, String> {
    let dialects = BTreeSet::from(["sqlite", "postgres", "mysql"].map(String::from));
    let suite = Suite::parse(text, Path::new("fuzz.toml"), &dialects).map_err(|e| format!("{e:#}"))?;
    let scale = [("scale".to_owned(), "0.01".to_owned())];
    let parameters = dyno_suite::resolve(&suite.parameters, &scale)
        .or_else(|_| dyno_suite::resolve(&suite.parameters, &[]))
        .map_err(|e| format!("{e:#}"))?;
    let bounds = Bounds { instructions: 500_000, bytes: 4 << 20 };
    let tests =
        suite.render_form(&parameters, "sqlite", TableForm::default(), bounds, &PlanningProgress::default());
    tests.map(|tests| tests.len()).map_err(|e| format!("{e:#}"))
}

/// A suite of one test.
fn suite_of(name: &str, id: &str, statements: &str) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap().replace('\u{7f}', "\\u007f");
    let (name, id, statements) = (quoted(name), quoted(id), quoted(statements));
    format!(
        "name = {name}\ntitle = \"X\"\nstory = \"\"\ncontenders = [\"sqlite\"]\n\n[[test]]\nid = {id}\n\
         title = \"T\"\nshows = \"\"\nmodel = \"statements\"\nstatements = {statements}\n"
    )
}

/// Pieces of templates that loop, double a text and call themselves, one within another. A text is doubled so often
/// only that it fits: what does not fit is for dyno itself, which can give up.
fn greedy() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{% set x = x ~ x %}".to_owned()),
        Just("{% set ns.x = ns.x ~ 'ab' %}".to_owned()),
        Just("{{ x }}".to_owned()),
        Just("{{ ns.x * 1000 }}".to_owned()),
        Just("{% set x %}{{ x }}{{ x }}{% endset %}".to_owned()),
        Just("{{ range(1000000000) | length }}".to_owned()),
        Just("{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}".to_owned()),
        Just("{{ random(10) }};".to_owned()),
    ];
    let piece = piece.prop_recursive(3, 12, 3, |inner| {
        (1u64..1 << 50, prop::collection::vec(inner, 1..3)).prop_map(|(count, inner)| {
            format!("{{% for i in range({count}) %}}{}{{% endfor %}}", inner.concat())
        })
    });
    let pieces = prop::collection::vec(piece, 1..6);
    pieces.prop_map(|pieces| {
        format!("{{% set x = 'ab' %}}{{% set ns = namespace(x='ab') %}}{}", pieces.concat())
    })
}

proptest! {
    // Each of them may use up what it is given.
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever a template loops over and however a text grows in it, rendering ends, and a complaint names the place.
    #[test]
    fn a_greedy_template_ends(statements in greedy()) {
        if let Err(complaint) = try_suite(suite_of("x", "1", &statements)) {
            prop_assert!(complaint.contains("fuzz.toml:11: test 1"), "{complaint}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The real suite with a piece cut out or replaced: what is refused names the file.
    #[test]
    fn a_damaged_suite_is_refused_by_name(at in 0usize..9000, cut in 0usize..40, put in "\\PC{0,6}|[\\[\\]{}%\"'=\n@;]{0,4}") {
        let text = fs::read_to_string(crate::common::repository().join("suites/speedtest.toml")).unwrap();
        let floor = |mut index: usize| { while !text.is_char_boundary(index) { index -= 1 } index };
        let start = floor(at.min(text.len()));
        let end = floor((start + cut).min(text.len())).max(start);
        let damaged = format!("{}{put}{}", &text[..start], &text[end..]);
        if let Err(complaint) = try_suite(damaged) {
            prop_assert!(complaint.contains("fuzz.toml") || complaint.contains("parameter"), "{complaint}");
        }
    }

    /// Names become names of files: no other letters, and a complaint that a terminal can show.
    #[test]
    fn names_are_names(name in "[a-zA-Z0-9_-]{0,66}|[./a-z]{1,8}|\\PC{1,6}|[\x00-\x7f\u{80}-\u{9f}]{1,6}", of_test in any::<bool>()) {
        let is_name = (1..=64).contains(&name.len())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_');
        let (suite, test) = if of_test { ("x", &*name) } else { (&*name, "1") };
        match try_suite(suite_of(suite, test, "SELECT 1")) {
            Ok(_) => prop_assert!(is_name, "{name:?} is taken"),
            Err(complaint) => {
                prop_assert!(!is_name, "{complaint}");
                let line = if of_test { "fuzz.toml:8:" } else { "fuzz.toml:1:" };
                prop_assert!(complaint.contains(line) && !complaint.contains(char::is_control), "{complaint:?}");
            }
        }
    }

    #[test]
    fn any_text_can_be_parsed_as_a_suite(text in "\\PC{0,200}") {
        let _ = try_suite(text);
    }

    #[test]
    fn any_text_can_be_parsed_as_contenders(text in "[a-z@/:,=._ -]{0,40}|\\PC{0,30}") {
        let registry = registry();
        for name in split_list(&text) {
            let _ = Contender::parse(&name, &registry);
        }
    }

    /// A contender's label names the same contender again.
    #[test]
    fn labels_can_be_typed(profile in prop::option::of("wal|nosync|memory|extra"), size in prop::option::of(1i32..9999), system in any::<bool>()) {
        let registry = registry();
        let mut name = if system { "sqlite@system".to_owned() } else { "sqlite".to_owned() };
        if let Some(profile) = profile { name += &format!(":{profile}"); }
        if let Some(size) = size { name += &format!(",cache_size={size}"); }
        let contender = Contender::parse(&name, &registry).unwrap();
        prop_assert_eq!(&contender.label, &name);
        let again = Contender::parse(&contender.label, &registry).unwrap();
        prop_assert_eq!(contender.settings, again.settings);
    }
}
