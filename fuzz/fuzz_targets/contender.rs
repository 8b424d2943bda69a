//! The text of a contender, and of a server's address: a contender or a message.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use dyno_engine::{Contender, Home, Registry, split_list};
use libfuzzer_sys::fuzz_target;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Registry::load(&Home { root, programs: "/nowhere".into() }).expect("the files of engines are right")
});

fuzz_target!(|text: &str| {
    for name in split_list(text) {
        if let Ok(contender) = Contender::parse(&name, &REGISTRY) {
            let again = Contender::parse(&contender.label, &REGISTRY).expect("a label names a contender");
            assert_eq!(contender.label, again.label);
        }
    }
});
