//! A line that a runner writes: an event that survives being written and read again, or a message.
#![no_main]

use dyno_protocol::Event;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let Ok(event) = serde_json::from_slice::<Event>(line) else { return };
    let text = serde_json::to_string(&event).expect("an event can be written");
    let again: Event = serde_json::from_str(&text).expect("a written event can be read");
    assert_eq!(serde_json::to_string(&again).expect("an event can be written"), text);
});
