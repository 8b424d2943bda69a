//! Notices to the person about what dyno passes over, each of them once.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

static SAY: OnceLock<fn(&str)> = OnceLock::new();
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Has notices said by a function from now on. Before, they are dropped: a library does not write to standard error.
pub fn notices_to(say: fn(&str)) {
    let _ = SAY.set(say);
}

/// Says something, unless the same was said before.
pub fn notice(text: &str) {
    let Some(say) = SAY.get() else { return };
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
        say(text);
    }
}
