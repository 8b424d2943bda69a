//! A run file: judged and shown in every form, or refused with a message.
#![no_main]

use std::path::Path;

use dyno_show::TableOptions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(run) = dyno_record::parse(text, Path::new("fuzz.jsonl")) else { return };
    let verdict = dyno_verdict::judge(&run);
    let table = dyno_show::render_table(&verdict, TableOptions::default());
    assert!(!table.chars().any(|letter| letter.is_control() && letter != '\n'), "{table:?}");
    let _ = dyno_show::render_json(&verdict);
    let _ = dyno_show::render_csv(&verdict);
});
