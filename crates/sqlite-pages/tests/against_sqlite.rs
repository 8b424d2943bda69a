//! Databases that were written page by page, read by SQLite: every value with its type, SQLite's check, and the changes
//! that SQLite then makes. They are compared with databases into which SQLite inserted the same rows.

mod sqlite;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sqlite::{Found, Judge};
use sqlite_pages::{
    Database, IndexLeaves, IndexTree, Leaves, Object, PageSize, Pages, Sorter, TableTree, Value,
};
use tempfile::TempDir;

/// The version that the header of these files names.
const VERSION: u32 = 3_046_000;

#[derive(Debug, Clone, PartialEq)]
enum Own {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Own {
    fn value(&self) -> Value<'_> {
        match self {
            Own::Null => Value::Null,
            Own::Integer(number) => Value::Integer(*number),
            Own::Real(number) => Value::Real(*number),
            Own::Text(text) => Value::Text(text.as_bytes()),
            Own::Blob(bytes) => Value::Blob(bytes),
        }
    }

    fn found(&self) -> Found {
        match self {
            Own::Null => Found::Null,
            Own::Integer(number) => Found::Integer(*number),
            Own::Real(number) => Found::Real(*number),
            Own::Text(text) => Found::Text(text.clone().into_bytes()),
            Own::Blob(bytes) => Found::Blob(bytes.clone()),
        }
    }

    fn literal(&self) -> String {
        match self {
            Own::Null => "NULL".into(),
            Own::Integer(i64::MIN) => "(-9223372036854775807 - 1)".into(),
            Own::Integer(number) => number.to_string(),
            Own::Real(number) => format!("{number:e}"),
            Own::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Own::Blob(bytes) => {
                format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
        }
    }
}

/// A database of table `t`, whose columns have no type, with indexes, and of table `w` WITHOUT ROWID.
struct Written {
    folder: TempDir,
    columns: usize,
}

impl Written {
    fn path(&self) -> PathBuf {
        self.folder.path().join("written.db")
    }

    fn names(&self) -> Vec<String> {
        (0..self.columns).map(|column| format!("c{column}")).collect()
    }

    /// Writes the rows, `run` of them by one set of leaves, and the indexes in parts for several threads.
    fn new(
        size: u32,
        columns: usize,
        rows: &[(i64, Vec<Own>)],
        run: usize,
        threads: usize,
        skip: Option<u32>,
    ) -> Written {
        let written = Written { folder: tempfile::tempdir().unwrap(), columns };
        let file = std::fs::File::create_new(written.path()).unwrap();
        let database = Database::new(&file, PageSize::new(size).unwrap());
        let pages = database.pages();
        if let Some(skip) = skip {
            pages.skip_to(skip);
        }
        let mut tree = TableTree::default();
        let mut leaves = Leaves::new(pages);
        for rows in rows.chunks(run) {
            for (number, row) in rows {
                push(&mut leaves, *number, &values(row));
            }
            assert_eq!(leaves.bytes() % size as usize, 0);
            let placed = leaves.place(pages).unwrap();
            assert_eq!(placed.rows, rows.len() as u64);
            tree.append(placed, database.pages()).unwrap();
        }
        let t = tree.finish(pages).unwrap();
        let one = index(&written, pages, rows, threads, |row| vec![row[0].value()]);
        let all = index(&written, pages, rows, threads, |row| values(row).into_iter().rev().collect());
        let w = without_rowid(&written, pages, rows, threads);
        let names = written.names();
        let table = format!("CREATE TABLE t({})", names.join(", "));
        let by_one = "CREATE INDEX one ON t(c0)".to_owned();
        let reversed: Vec<&str> = names.iter().rev().map(String::as_str).collect();
        let by_all = format!("CREATE INDEX reversed ON t({})", reversed.join(", "));
        let keyed = format!("CREATE TABLE w(k PRIMARY KEY, {}) WITHOUT ROWID", names.join(", "));
        let object = |kind, name, table, root, sql| Object { kind, name, table, root, sql: Some(sql) };
        let objects = [
            object("table", "t", "t", t, table.as_str()),
            object("index", "one", "t", one, by_one.as_str()),
            object("index", "reversed", "t", all, by_all.as_str()),
            object("table", "w", "w", w, keyed.as_str()),
        ];
        database.finish(&objects, VERSION).unwrap();
        written
    }

    /// SQLite reads what was written, finds it whole, and goes on with it.
    fn check(&self, rows: &[(i64, Vec<Own>)]) {
        let judge = Judge::open(&self.path());
        judge.assert_whole();
        let expected: Vec<Vec<Found>> = rows
            .iter()
            .map(|(number, row)| {
                [Found::Integer(*number)].into_iter().chain(row.iter().map(Own::found)).collect()
            })
            .collect();
        assert!(judge.rows("SELECT rowid, * FROM t ORDER BY rowid") == expected);
        assert!(judge.rows("SELECT * FROM w ORDER BY k") == expected);
        let through = judge.rows("SELECT rowid, c0 FROM t INDEXED BY one ORDER BY c0, rowid");
        assert_eq!(through, judge.rows("SELECT rowid, c0 FROM t NOT INDEXED ORDER BY c0, rowid"));
        let plan = judge.rows("EXPLAIN QUERY PLAN SELECT rowid FROM t WHERE c0 = 1");
        assert!(format!("{:?}", text(&plan)).contains("INDEX"), "{plan:?}");
    }

    fn change(&self) {
        let judge = Judge::open(&self.path());
        let marks = vec!["'new'"; self.columns].join(", ");
        for sql in [
            "DELETE FROM t WHERE rowid % 3 = 0",
            &format!("INSERT INTO t SELECT {marks} FROM w LIMIT 50"),
            &format!("INSERT INTO w VALUES ('a new key', {marks})"),
            "UPDATE t SET c0 = length(c0) WHERE rowid % 2 = 0",
            "DELETE FROM w WHERE k % 5 = 1",
            "PRAGMA journal_mode = WAL",
            "UPDATE t SET c0 = c0 || 'x' WHERE rowid % 7 = 0",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "PRAGMA journal_mode = DELETE",
        ] {
            judge.rows(sql);
        }
        assert_eq!(text(&judge.rows("PRAGMA integrity_check")), ["ok"]);
        judge.rows("VACUUM");
        judge.assert_sound();
        // The result of VACUUM depends on the rows alone. Occasionally VACUUM leaves a page free.
        let free = judge.number("PRAGMA freelist_count");
        if free > 0 {
            assert_eq!(free, self.free_by_sqlite(&judge));
        }
    }

    /// The number of pages that VACUUM leaves free of the same tables if SQLite has made all of them.
    fn free_by_sqlite(&self, judge: &Judge) -> i64 {
        let alone = Judge::open(&self.folder.path().join("alone.db"));
        alone.rows(&format!("PRAGMA page_size = {}", judge.number("PRAGMA page_size")));
        for sql in text(&judge.rows("SELECT sql FROM sqlite_schema ORDER BY rowid")) {
            alone.rows(&sql);
        }
        alone.rows(&format!("ATTACH '{}' AS written", self.path().display()));
        let names = self.names().join(", ");
        alone.rows(&format!("INSERT INTO t(rowid, {names}) SELECT rowid, * FROM written.t"));
        alone.rows("INSERT INTO w SELECT * FROM written.w");
        alone.rows("DETACH written");
        alone.rows("VACUUM");
        alone.assert_sound();
        alone.number("PRAGMA freelist_count")
    }

    /// The size of the file after SQLite has inserted the same rows into tables and indexes of the same names.
    fn size_by_sqlite(&self, size: u32, rows: &[(i64, Vec<Own>)]) -> u64 {
        let path = self.folder.path().join("sqlite.db");
        let judge = Judge::open(&path);
        judge.rows(&format!("PRAGMA page_size = {size}"));
        judge.rows("BEGIN");
        let names = self.names().join(", ");
        judge.rows(&format!("CREATE TABLE t({names})"));
        judge.rows(&format!("CREATE TABLE w(k PRIMARY KEY, {names}) WITHOUT ROWID"));
        for (number, row) in rows {
            let literals: Vec<String> = row.iter().map(Own::literal).collect();
            let literals = literals.join(", ");
            judge.rows(&format!("INSERT INTO t(rowid, {names}) VALUES ({number}, {literals})"));
            judge.rows(&format!("INSERT INTO w(k, {names}) VALUES ({number}, {literals})"));
        }
        judge.rows("CREATE INDEX one ON t(c0)");
        let reversed: Vec<String> = self.names().into_iter().rev().collect();
        judge.rows(&format!("CREATE INDEX reversed ON t({})", reversed.join(", ")));
        judge.rows("COMMIT");
        assert!(
            judge.rows("SELECT rowid, * FROM t ORDER BY rowid")
                == Judge::open(&self.path()).rows("SELECT rowid, * FROM t ORDER BY rowid")
        );
        path.metadata().unwrap().len()
    }
}

fn text(rows: &[Vec<Found>]) -> Vec<String> {
    let last = |row: &Vec<Found>| match row.last() {
        Some(Found::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        other => panic!("{other:?}"),
    };
    rows.iter().map(last).collect()
}

fn values(row: &[Own]) -> Vec<Value<'_>> {
    row.iter().map(Own::value).collect()
}

/// Adds a row: where it lies on one page every other one is made there, as `dyno import` does.
fn push(leaves: &mut Leaves, number: i64, values: &[Value]) {
    let length = |value: &Value| match value {
        Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    let bytes = values.iter().map(length).sum();
    match leaves.begin(number, values.len(), bytes) {
        Some(mut row) if number % 2 == 0 => {
            values.iter().for_each(|value| row.value(value));
            let made = row.end().unwrap();
            leaves.add(made).unwrap();
        }
        _ => leaves.push(number, values).unwrap(),
    }
}

/// Writes an index in parts for several threads.
fn index<'r>(
    written: &Written,
    pages: &Pages,
    rows: &'r [(i64, Vec<Own>)],
    threads: usize,
    key: impl Fn(&'r [Own]) -> Vec<Value<'r>>,
) -> u32 {
    // Of one part the file is as small as can be; each other may take a page more.
    let memory = if threads == 1 { 64 << 20 } else { 64 << 10 };
    let mut sorter = Sorter::new(written.folder.path(), memory, written.columns + 1);
    for (number, row) in rows {
        let mut values = key(row);
        values.push(Value::Integer(*number));
        sorter.push(&values).unwrap();
    }
    tree(sorter, pages, threads)
}

fn without_rowid(written: &Written, pages: &Pages, rows: &[(i64, Vec<Own>)], threads: usize) -> u32 {
    let mut sorter = Sorter::new(written.folder.path(), if threads == 1 { 64 << 20 } else { 1 << 20 }, 1);
    for (number, row) in rows.iter().rev() {
        let mut all = vec![Value::Integer(*number)];
        all.extend(values(row));
        sorter.push(&all).unwrap();
    }
    tree(sorter, pages, threads)
}

fn tree(sorter: Sorter, pages: &Pages, threads: usize) -> u32 {
    let mut tree = IndexTree::default();
    for (place, mut part) in Sorter::merge(vec![sorter], threads).unwrap().enumerate() {
        let mut leaves = if place == 0 { IndexLeaves::new(pages) } else { IndexLeaves::behind(pages) };
        while let Some(record) = part.next().unwrap() {
            leaves.push(record).unwrap();
        }
        tree.append(leaves.finish().unwrap(), pages).unwrap();
    }
    tree.finish(pages).unwrap()
}

/// Lengths around those at which the layout changes on a page of `size` bytes.
fn lengths(size: usize) -> Vec<usize> {
    let edges = [0, 1, 57, 58, size * 32 / 255, size * 64 / 255, size - 35, size, 2 * size, 5 * size];
    edges.into_iter().flat_map(|edge| edge.saturating_sub(30)..edge + 12).collect()
}

fn own(size: usize) -> impl Strategy<Value = Own> {
    prop_oneof![
        2 => Just(Own::Null),
        3 => any::<i64>().prop_map(Own::Integer),
        4 => (-200..200i64).prop_map(Own::Integer),
        2 => (0..63u32, -1..2i64).prop_map(|(shift, more)| Own::Integer((1i64 << shift) + more)),
        2 => (-1e9..1e9).prop_map(Own::Real),
        4 => "[a-zä']{0,40}".prop_map(Own::Text),
        1 => (any::<u8>(), prop::sample::select(lengths(size)))
            .prop_map(|(letter, length)| Own::Text(((letter % 26 + b'a') as char).to_string().repeat(length))),
        1 => (any::<u8>(), prop::sample::select(lengths(size)))
            .prop_map(|(byte, length)| Own::Blob(vec![byte; length])),
    ]
}

fn table() -> impl Strategy<Value = (u32, usize, Vec<(i64, Vec<Own>)>, usize)> {
    let size = prop::sample::select(vec![512, 1024, 4096, 65_536]);
    (size, 1..9usize).prop_flat_map(|(size, columns)| {
        let row = (
            prop_oneof![9 => 1..4i64, 1 => 1..1i64 << 40],
            prop::collection::vec(own(size as usize), columns),
        );
        let rows = prop::collection::vec(row, 0..300).prop_map(|rows| {
            let mut number = -500;
            let numbered = rows.into_iter().map(|(step, row)| {
                number += step;
                (number, row)
            });
            numbered.collect()
        });
        (Just(size), Just(columns), rows, 1..120usize)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
    #[test]
    fn sqlite_reads_what_was_written_and_goes_on_with_it(
        (size, columns, rows, run) in table(), threads in 1..4usize,
    ) {
        let written = Written::new(size, columns, &rows, run, threads, None);
        written.check(&rows);
        written.change();
    }

    #[test]
    fn a_file_is_as_small_as_the_one_that_sqlite_writes((size, columns, rows, _) in table()) {
        let written = Written::new(size, columns, &rows, usize::MAX, 1, None);
        let own = written.path().metadata().unwrap().len();
        let theirs = written.size_by_sqlite(size, &rows);
        // SQLite may share two last pages out otherwise, in the table and in each of three other trees.
        prop_assert!(own <= theirs + theirs / 100 + 4 * u64::from(size), "{own} > {theirs}");
    }
}

/// `SQLITE_PAGES_CASES` makes the run longer.
fn cases() -> u32 {
    std::env::var("SQLITE_PAGES_CASES").map_or(40, |cases| cases.parse().unwrap())
}

#[test]
fn every_length_around_an_edge_is_split_where_sqlite_splits_it() {
    for size in [512, 1024, 4096, 65_536] {
        let long = |(number, length): (i64, usize)| {
            (number, vec![Own::Text("x".repeat(length)), Own::Integer(number)])
        };
        let rows: Vec<_> = (1..).zip(lengths(size as usize)).map(long).collect();
        let written = Written::new(size, 2, &rows, 100, 1, None);
        written.check(&rows);
        written.change();
    }
}

#[test]
fn trees_of_several_levels_are_whole_at_every_count_of_leaves() {
    let row = |number: i64| (number * 1_000_003, vec![Own::Text("y".repeat(150)), Own::Integer(-number)]);
    // On pages of 512 bytes some 40 leaves have one page above them, and 1,600 have two levels.
    for count in (0..140).chain([3_000, 5_003]) {
        let rows: Vec<_> = (0..count).map(row).collect();
        Written::new(512, 2, &rows, 1_000, 1 + count as usize % 3, None).check(&rows);
    }
}

#[test]
fn a_schema_may_be_longer_than_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.db");
    let file = std::fs::File::create_new(&path).unwrap();
    let database = Database::new(&file, PageSize::new(512).unwrap());
    let names: Vec<String> = (0..300).map(|table| format!("t{table}")).collect();
    let statements: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(table, name)| format!("CREATE TABLE {name}(a{}, b)", "z".repeat(table * 3)))
        .collect();
    let objects: Vec<Object> = names
        .iter()
        .zip(&statements)
        .map(|(name, sql)| {
            let root = TableTree::default().finish(database.pages()).unwrap();
            Object { kind: "table", name, table: name, root, sql: Some(sql) }
        })
        .collect();
    for count in [0, 1, 3, 5, 10, 300] {
        let path = folder.path().join(format!("{count}.db"));
        let file = std::fs::File::create_new(&path).unwrap();
        let database = Database::new(&file, PageSize::new(512).unwrap());
        for _ in 0..count {
            TableTree::default().finish(database.pages()).unwrap();
        }
        database.finish(&objects[..count], VERSION).unwrap();
        let judge = Judge::open(&path);
        judge.assert_whole();
        assert_eq!(judge.number("SELECT count(*) FROM sqlite_schema"), count as i64);
        if count > 0 {
            judge.rows("INSERT INTO t0 VALUES (1, 2)");
            judge.rows(&format!("DROP TABLE t{}", count - 1));
            judge.rows("VACUUM");
            judge.assert_whole();
        }
    }
}

/// Beyond the page of the locks, in a file that is sparse up to there. SQLite's check also covers the pages in between,
/// which no list names as free, so only what can be read without them is compared.
#[test]
fn rows_lie_around_the_page_of_the_locks() {
    let rows: Vec<_> = (1..2_000)
        .map(|number| (number, vec![Own::Text(format!("{number:0900}")), Own::Blob(vec![7; 9_000])]))
        .collect();
    let lock = 0x4000_0000 / 4096 + 1;
    let written = Written::new(4096, 2, &rows, 300, 2, Some(lock - 500));
    let judge = Judge::open(&written.path());
    let found = judge.rows("SELECT rowid, * FROM t ORDER BY rowid");
    assert_eq!(found.len(), rows.len());
    for (found, (number, row)) in found.iter().zip(&rows) {
        assert!(found[0] == Found::Integer(*number) && found[1..] == [row[0].found(), row[1].found()]);
    }
    assert_eq!(judge.number("SELECT count(*) FROM t INDEXED BY one WHERE c0 > ''"), 1_999);
    assert_eq!(judge.number("SELECT count(*) FROM w"), 1_999);
    assert_locks_unused(&written.path(), lock);
}

fn assert_locks_unused(path: &Path, lock: u32) {
    use std::os::unix::fs::FileExt;
    let mut page = vec![0; 4096];
    std::fs::File::open(path).unwrap().read_exact_at(&mut page, u64::from(lock - 1) * 4096).unwrap();
    assert!(page.iter().all(|byte| *byte == 0));
}

#[test]
fn rows_out_of_order_and_rows_too_long_are_refused() {
    let file = tempfile::tempfile().unwrap();
    let database = Database::new(&file, PageSize::new(4096).unwrap());
    let mut leaves = Leaves::new(database.pages());
    leaves.push(5, &[Value::Null]).unwrap();
    let error = leaves.push(5, &[Value::Null]).unwrap_err().to_string();
    assert_eq!(error, "the row with number 5 comes after the one with number 5");
    let huge = vec![0; 1_000_000_000];
    assert!(leaves.push(6, &[Value::Blob(&huge)]).unwrap_err().to_string().contains("longer than SQLite"));
    let (mut tree, mut other) = (TableTree::default(), Leaves::new(database.pages()));
    other.push(4, &[Value::Null]).unwrap();
    let pages = database.pages();
    tree.append(leaves.place(pages).unwrap(), pages).unwrap();
    assert!(tree.append(other.place(pages).unwrap(), pages).is_err());
}
