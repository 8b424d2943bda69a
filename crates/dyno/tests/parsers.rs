//! Whatever is written in a suite, a contender or a run file: an answer or a complaint, never a panic.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dyno::engine::{Contender, Registry, split_list};
use dyno::home::Home;
use dyno::suite::{Parameters, Suite};
use proptest::prelude::*;

fn registry() -> Registry {
    Registry::load(&Home { root: crate::common::repository(), programs: "/nowhere".into() }).unwrap()
}

/// Parses a text as a suite and, if it is one, renders it small.
fn try_suite(text: String) -> Result<usize, String> {
    let dialects = BTreeSet::from(["sqlite", "postgres", "mysql"].map(String::from));
    let suite = Suite::parse(text, Path::new("fuzz.toml"), &dialects).map_err(|e| format!("{e:#}"))?;
    let scale = [("scale".to_owned(), "0.01".to_owned())];
    let parameters = Parameters::resolve(&suite.parameters, &scale)
        .or_else(|_| Parameters::resolve(&suite.parameters, &[]))
        .map_err(|e| format!("{e:#}"))?;
    suite.render(&parameters, "sqlite").map(|tests| tests.len()).map_err(|e| format!("{e:#}"))
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
