//! The C programs that keep keys and values: where they can be built, and their arguments.

use std::ffi::OsString;
use std::path::Path;

use dyno_engine::Contender;
use dyno_protocol::{Cells, Work};

/// Engines whose C program needs more than the library that the runner loads: a header, and Debian's package.
const HEADERS: [(&str, &str, &str); 1] = [("bdb", "/usr/include/db.h", "libdb5.3-dev")];

/// Returns true if the C program of a contender can be built here; reports which cannot and why.
pub fn is_available(contender: &Contender) -> bool {
    let header = HEADERS.iter().find(|(engine, ..)| *engine == contender.engine.name);
    match header {
        Some((_, header, package)) if !Path::new(header).is_file() => {
            eprintln!(
                "{} is left out: its C program needs {header} (Debian: apt-get install {package})",
                contender.label
            );
            false
        }
        _ => true,
    }
}

/// A test as `bench/cells.h` reads it; none for models that no C program has.
pub fn arguments(work: &Work) -> Option<Vec<OsString>> {
    let array = |cells: &Cells| [cells.file.clone().into(), cells.bytes.to_string().into()];
    match work {
        Work::KvPut { store, pairs, commits, .. } => {
            let numbers = [
                pairs.keys.count,
                commits.timed.unwrap_or(pairs.keys.count),
                commits.per_commit.unwrap_or(0),
            ];
            let name: [OsString; 2] = ["put".into(), store.name.clone().into()];
            let arrays = [array(&pairs.keys), array(pairs.values.as_ref()?)].concat();
            let numbers = numbers.map(|number| number.to_string().into());
            Some(name.into_iter().chain(arrays).chain(numbers).collect())
        }
        Work::KvGet { store, pairs, .. } => {
            let name: [OsString; 2] = ["get".into(), store.name.clone().into()];
            let count = [pairs.keys.count.to_string().into()];
            Some(name.into_iter().chain(array(&pairs.keys)).chain(count).collect())
        }
        Work::KvScan { store } => Some(vec!["scan".into(), store.name.clone().into()]),
        Work::KvSettle { .. } => Some(vec!["settle".into()]),
        _ => None,
    }
}
