//! The way from an agent to dyno ends after some of its lines: wherever that is, the host is named and nothing is left.

use std::fs;

use super::{SMALL, Served, agents_of, run};
use crate::common::{Place, is_thorough, wait_for};

/// Starts an agent, and passes on only some of the lines of the one on host b.
const CUTS: &str = r#"
lines=$1 host=$2
shift 2
if [ "$host" = b ]; then "$@" | head -n "$lines"; else exec "$@"; fi
"#;

/// Numbers of lines: before the greeting, within it, and while files are sent and clients work.
const SOME: [u32; 4] = [0, 2, 12, 40];

#[test]
fn an_agent_that_is_lost_after_any_line_is_named_and_leaves_nothing() {
    let (place, served) = (Place::new(), Served::here());
    let cuts = place.write("cuts.sh", CUTS);
    let mark = place.path("").display().to_string();
    let arguments = format!("{SMALL} --clients 2 --only transfer --url {}", served.url);
    let lines = if is_thorough() { (0..200).collect() } else { SOME.to_vec() };
    for lines in lines {
        let on = format!("sh {cuts} {lines} {{host}} env AGENT_OF={{host}}@{mark} {{agent}}");
        let _ = fs::remove_file(place.path("run.jsonl"));
        let result = run(&place, &on, "a,b", &arguments);
        wait_for("the agents to be gone", 60, || agents_of(&mark).is_empty());
        place.assert_clean();
        served.assert_clean();
        assert!(matches!(result.code, Some(3 | 4)), "{lines} lines: {:?} {}", result.code, result.stderr);
        let kept = fs::read_to_string(place.path("run.jsonl")).unwrap_or_default();
        let is_named = [&result.stderr, &kept].iter().any(|text| text.contains("the agent on b"));
        assert!(is_named, "{lines} lines: {} {kept}", result.stderr);
    }
}
