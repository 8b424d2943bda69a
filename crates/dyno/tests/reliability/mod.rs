//! The remains of dyno, its output and its files when processes, servers, disks and the way to a server fail.
//!
//! `DYNO_TRIES=10000 cargo test -p dyno --test tests reliability::many -- --ignored --nocapture` makes many tries, from
//! the seed `DYNO_SEED` on. docs/reliability.md has what came of them.

mod events;
mod family;
mod foreign;
mod planted;
pub mod proxy;
mod questions;
mod servers;
mod tls;
mod tls_mysql;
mod tls_postgres;
mod tries;

use std::collections::BTreeMap;

use servers::Server;
use tries::Try;

/// The seeds of the small test.
const SMALL: [u64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

fn servers() -> [Server; 2] {
    ["postgres", "mariadb"].map(Server::start)
}

/// Makes the tries of seeds, reports by event, and fails where one fell.
fn make(seeds: impl Iterator<Item = u64>) {
    let servers = servers();
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut fallen = Vec::new();
    for seed in seeds {
        let what = Try::draw(seed, &servers);
        let Some(fell) = what.judge(&servers) else {
            eprintln!("seed {seed}: the command was over before: {what:?}");
            continue;
        };
        let row = table.entry(what.kind()).or_default();
        row.0 += 1;
        if !fell.is_empty() {
            row.1 += 1;
            eprintln!("seed {seed}: {what:?}: {fell:#?}");
            fallen.push(seed);
        }
    }
    for (kind, (tries, fell)) in table {
        eprintln!("| {kind} | {tries} | {fell} |");
    }
    assert!(fallen.is_empty(), "seeds that fell: {fallen:?}");
}

#[test]
fn a_dozen_faults_leave_nothing_lose_nothing_and_show_no_secret() {
    make(SMALL.into_iter());
}

#[test]
#[ignore = "make soak: as many tries as DYNO_TRIES says"]
fn many() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let first = number("DYNO_SEED", 100);
    make(first..first + number("DYNO_TRIES", 10_000));
}
