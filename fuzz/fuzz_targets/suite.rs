//! A suite: parsed and rendered within bounds, or refused with the file's name.
#![no_main]

use std::collections::BTreeSet;
use std::path::Path;

use dyno_suite::progress::PlanningProgress;
use dyno_suite::{Bounds, Suite, TableForm};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let dialects = BTreeSet::from(["sqlite", "postgres", "mysql"].map(String::from));
    let suite = match Suite::parse(text.to_owned(), Path::new("fuzz.toml"), &dialects) {
        Ok(suite) => suite,
        Err(error) => return assert!(format!("{error:#}").contains("fuzz.toml"), "{error:#}"),
    };
    let Ok(parameters) = dyno_suite::resolve(&suite.parameters, &[]) else { return };
    let bounds = Bounds { instructions: 200_000, bytes: 1 << 20 };
    let _ = suite.render_form(&parameters, "sqlite", TableForm::default(), bounds, &PlanningProgress::default());
});
