//! Indexes on one column of whole numbers, whose entries are kept as pairs, read by SQLite and compared with those that
//! SQLite makes of the same rows.

mod sqlite;

use std::fs::File;
use std::path::Path;

use proptest::prelude::*;
use sqlite::{Found, Judge};
use sqlite_pages::{Database, IndexLeaves, IndexTree, KeySorter, Leaves, Object, PageSize, Pages, TableTree};

/// The version that the header of these files names.
const VERSION: u32 = 3_046_000;

/// A row: its number, the key, and a text.
type Row = (i64, Option<i64>, String);

const TABLE: &str = "CREATE TABLE t(k INTEGER, x TEXT)";
const INDEX: &str = "CREATE INDEX i ON t(k)";

/// The way in which the entries of an index are sorted and written.
#[derive(Debug, Clone)]
struct Way {
    size: u32,
    memory: usize,
    sorters: usize,
    threads: usize,
}

fn write(path: &Path, rows: &[Row], way: &Way) {
    let file = File::create_new(path).unwrap();
    let database = Database::new(&file, PageSize::new(way.size).unwrap());
    let pages = database.pages();
    let (mut leaves, mut tree) = (Leaves::new(pages), TableTree::default());
    for (number, key, text) in rows {
        let Some(mut row) = leaves.begin(*number, 2, text.len()) else { panic!("no page holds the row") };
        match key {
            Some(key) => row.integer(*key),
            None => row.null(),
        }
        row.text(text.as_bytes(), 0, text.len());
        let made = row.end().unwrap();
        leaves.add(made).unwrap();
    }
    tree.append(leaves.place(pages).unwrap(), pages).unwrap();
    let roots = [tree.finish(pages).unwrap(), index(path.parent().unwrap(), pages, rows, way)];
    let object = |kind, name, root, sql| Object { kind, name, table: "t", root, sql: Some(sql) };
    let objects = [object("table", "t", roots[0], TABLE), object("index", "i", roots[1], INDEX)];
    database.finish(&objects, VERSION).unwrap();
}

fn index(folder: &Path, pages: &Pages, rows: &[Row], way: &Way) -> u32 {
    let mut sorters: Vec<_> = (0..way.sorters).map(|_| KeySorter::new(folder, way.memory)).collect();
    for (place, (number, key, _)) in rows.iter().enumerate() {
        sorters[place / 5 % way.sorters].push(*key, *number).unwrap();
    }
    let mut tree = IndexTree::default();
    for (place, mut part) in KeySorter::merge(sorters, way.threads).unwrap().enumerate() {
        let mut leaves = if place == 0 { IndexLeaves::new(pages) } else { IndexLeaves::behind(pages) };
        while let Some((key, number)) = part.next().unwrap() {
            leaves.push_key(key, number).unwrap();
        }
        tree.append(leaves.finish().unwrap(), pages).unwrap();
    }
    tree.finish(pages).unwrap()
}

/// The same rows inserted by SQLite.
fn insert(path: &Path, rows: &[Row]) -> Judge {
    let judge = Judge::open(path);
    for sql in ["BEGIN", TABLE] {
        judge.rows(sql);
    }
    for (number, key, text) in rows {
        let key = match key {
            None => "NULL".to_owned(),
            Some(i64::MIN) => "(-9223372036854775807 - 1)".to_owned(),
            Some(key) => key.to_string(),
        };
        judge.rows(&format!("INSERT INTO t(rowid, k, x) VALUES ({number}, {key}, '{text}')"));
    }
    for sql in [INDEX, "COMMIT"] {
        judge.rows(sql);
    }
    judge
}

fn check(rows: &[Row], way: &Way) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("written.db"), rows, way);
    let (written, inserted) =
        (Judge::open(&folder.path().join("written.db")), insert(&folder.path().join("inserted.db"), rows));
    written.assert_whole();
    for sql in [
        "SELECT rowid, typeof(k), k, x FROM t ORDER BY rowid",
        "SELECT k, rowid FROM t INDEXED BY i ORDER BY k, rowid",
    ] {
        let found: Vec<Vec<Found>> = written.rows(sql);
        assert!(found == inserted.rows(sql), "{sql}");
    }
    let below = "SELECT count(*) FROM t INDEXED BY i WHERE k < 0";
    assert_eq!(written.number(below), inserted.number(below));
    for sql in
        ["DELETE FROM t WHERE rowid % 3 = 0", "UPDATE t SET k = k / 2", "INSERT INTO t SELECT * FROM t"]
    {
        written.rows(sql);
    }
    written.assert_sound();
}

/// Whole numbers at every width that SQLite stores them in, and few of which many rows have.
fn key() -> impl Strategy<Value = Option<i64>> {
    let widths = prop::sample::select(vec![0u32, 1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 62]);
    prop_oneof![
        1 => Just(None),
        4 => (widths, -2..3i64, any::<bool>()).prop_map(|(bits, more, minus)| {
            let edge = (1i64 << bits) + more;
            Some(if minus { -edge } else { edge })
        }),
        2 => (-3..3i64).prop_map(Some),
        2 => any::<i64>().prop_map(Some),
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]).prop_map(Some),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
    #[test]
    fn sqlite_finds_the_rows_by_whole_numbers(
        keys in prop::collection::vec((1..5i64, key(), "[a-z]{0,30}"), 0..900),
        size in prop::sample::select(vec![512u32, 1024, 4096, 65_536]),
        memory in prop_oneof![100..5_000usize, Just(1 << 20)], sorters in 1..4usize, threads in 1..4usize,
        first in prop_oneof![Just(i64::MIN), Just(-500), Just(1 << 40)],
    ) {
        let mut number = first;
        let rows: Vec<Row> = keys.into_iter().map(|(step, key, text)| {
            number += step;
            (number, key, text)
        }).collect();
        check(&rows, &Way { size, memory, sorters, threads });
    }
}

/// `SQLITE_PAGES_CASES` makes the run longer.
fn cases() -> u32 {
    std::env::var("SQLITE_PAGES_CASES").map_or(40, |cases| cases.parse().unwrap())
}

#[test]
fn an_index_of_several_levels_is_whole_at_every_count_of_entries() {
    for count in (0..150).chain([5_003]) {
        let rows: Vec<Row> = (0..count).map(|row| (row, Some(row * 7_919 % 1_000), String::new())).collect();
        check(&rows, &Way { size: 512, memory: 8_000, sorters: 2, threads: 1 + count as usize % 3 });
    }
}
