//! The library crashes on some damaged files. That is an error of the file like any other.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use anyhow::{Result, anyhow};

thread_local! {
    /// True while this thread reads a file, so that a crash of the library is not taken for one of dyno's.
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Runs the library on a file and returns a crash as an error, without any other message. Values read before the crash
/// must not be used.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |crash| {
            if !READS.get() {
                usual(crash);
            }
        }));
    });
    READS.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    READS.set(false);
    outcome.unwrap_or_else(|crash| Err(anyhow!("it is damaged: {}", words(&*crash))))
}

fn words(crash: &(dyn Any + Send)) -> &str {
    let text = crash.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| crash.downcast_ref().copied()).unwrap_or("no reason is known")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_an_error_with_its_reason() {
        let reported = |work: fn() -> Result<()>| guarded(work).map_err(|error| error.to_string());
        let places = [1, 2];
        let crash = || panic!("place {} of 2", std::hint::black_box(3));
        assert_eq!(reported(crash), Err("it is damaged: place 3 of 2".into()));
        assert_eq!(reported(|| panic!("over")), Err("it is damaged: over".into()));
        assert_eq!(guarded(|| Ok(places[1])).unwrap(), 2);
    }
}
