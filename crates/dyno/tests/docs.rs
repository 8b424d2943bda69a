//! Checks that commands in the documentation do what it shows.

use std::fs;
use std::path::PathBuf;

use crate::common::{Place, repository};

/// The first block of a language in a document.
pub fn block(document: &str, language: &str) -> String {
    blocks(document, language).remove(0)
}

/// All blocks of a language in a document.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    parts.map(|rest| rest.split_once("\n```").unwrap().0.to_owned()).collect()
}

#[test]
fn the_suite_that_is_written_in_the_documentation_runs() {
    let place = Place::new();
    let suite = block("docs/suites.md", "toml");
    place.write("words.toml", &suite);
    place
        .dyno("run ./words.toml --trials 1 --quiet")
        .exits(0)
        .prints("1000 INSERTs")
        .prints("lookups by a scan");
    let arguments = "--set rows=20000 --with sqlite:wal,sqlite:nosync --only scan --trials 1 --quiet";
    place.dyno(&format!("run ./words.toml {arguments}")).exits(0).prints("rows=20000");
    // The mistake that the documentation shows, with the line that it names.
    place.write("words.toml", &suite.replace("WHERE word = '{{ words(", "WHERE word = '{{ wrods("));
    let documented = fs::read_to_string(repository().join("docs/suites.md")).unwrap();
    let documented = documented.split('`').find(|text| text.starts_with("words.toml:")).unwrap();
    place.dyno("run ./words.toml").exits(2).says(documented);
}

#[test]
fn the_mix_that_is_written_in_the_documentation_runs() {
    let place = Place::new();
    place.write("counters.toml", &block("docs/mixes.md", "toml"));
    place
        .dyno("run ./counters.toml --clients 1,3 --set duration=0.3 --trials 1 --no-warm-up --quiet -o run.jsonl")
        .exits(0)
        .prints("3 clients read and raise")
        .prints("clients=3")
        .prints("sqlite:wal, raise");
}

#[test]
fn the_mix_with_rows_and_lists_in_the_documentation_runs_and_finds_what_it_is_for() {
    let place = Place::new();
    let suite = blocks("docs/mixes.md", "toml").remove(1);
    place.write("seats.toml", &suite);
    let small = "--set duration=0.4 --trials 1 --no-warm-up --quiet";
    place
        .dyno(&format!("run ./seats.toml {small}"))
        .exits(0)
        .prints("no seat is booked twice held")
        .prints("were undone at their end, as planned");
    // With the one train all want the same seat, and PostgreSQL lets two read that it is free.
    let one = suite.replace("values.id = { from = 1, to = 50 }", "values.id = { from = 1, to = 1 }");
    place.write("seats.toml", &one);
    let result = place.dyno(&format!("run ./seats.toml {small} --with postgres")).exits(3);
    result.prints("Broken: postgres in test book: \"no seat is booked twice\" (line ");
    place.write("seats.toml", &one.replace("LIMIT 1;", "LIMIT 1 FOR UPDATE;"));
    place.dyno(&format!("run ./seats.toml {small} --with postgres")).exits(0);
    place.assert_clean();
}

#[test]
fn the_runner_that_is_written_in_the_documentation_keeps_the_protocol() {
    let place = Place::with_runner("true");
    fs::create_dir(place.path("home/runners/mine")).unwrap();
    let runner = block("docs/runners.md", "python");
    let lines = runner.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 60, "a runner of sixty lines has {lines}");
    place.write("home/runners/mine/runner.py", &runner);
    place.write("home/runners/mine/runner.toml", &block("docs/runners.md", "toml"));
    place.conforms(&["sqlite/mine"], &[]).prints("ok rows of statements are the answer, with their types");
    // Another code than 0 would mean that an answer differs from SQLite's.
    place.dyno("run speedtest --scale 0.02 --trials 1 --quiet --with sqlite,sqlite/mine").exits(0);
}

#[test]
fn the_job_in_the_documentation_is_one() {
    let job: dyno_protocol::Job = serde_json::from_str(&block("docs/protocol.md", "json")).unwrap();
    assert_eq!(job.tests[0].work.model(), "statements");
}

/// Every page of the documentation, with those at the root.
fn documents() -> Vec<PathBuf> {
    let root = repository();
    let at_root = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root.join(name));
    let folders = ["docs", "docs/decisions", "docs/tutorials"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let pages = entries.map(|entry| entry.unwrap().path());
    pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).chain(at_root).collect()
}

/// The lines of a page outside of its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// The anchor that the code host and the manual give a heading.
fn anchor(heading: &str) -> String {
    let plain = heading.to_lowercase().replace(' ', "-");
    plain.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
}

fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let lines = prose(text).collect::<Vec<_>>().join("\n");
    let parts = lines.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    parts.map(str::to_owned).collect()
}

#[test]
fn links_and_their_anchors_lead_somewhere() {
    let mut count = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in links(&text).iter().filter(|link| !link.starts_with("http")) {
            let (target, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { path.clone() } else { path.parent().unwrap().join(target) };
            assert!(target.exists(), "{} links to {link}", path.display());
            let leads = wanted.is_empty()
                || anchors(&fs::read_to_string(&target).unwrap()).iter().any(|anchor| anchor == wanted);
            assert!(leads, "{} links to {link}, and there is no such heading", path.display());
            count += 1;
        }
    }
    assert!(count > 300, "{count} links");
}

#[test]
fn the_contents_of_the_manual_list_every_page() {
    let root = repository();
    let listed = links(&fs::read_to_string(root.join("docs/README.md")).unwrap());
    let listed: Vec<PathBuf> =
        listed.iter().map(|link| root.join("docs").join(link).canonicalize().unwrap()).collect();
    for page in documents() {
        let page = page.canonicalize().unwrap();
        // The decisions have a separate list, and two pages are contents themselves.
        let is_listed = page.ends_with("README.md") || page.parent().unwrap().ends_with("decisions");
        assert!(is_listed || listed.contains(&page), "docs/README.md lacks {}", page.display());
    }
}
