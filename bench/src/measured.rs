//! The work that is measured: suites, or some of their tests, with the contenders that a C program does the same as.

/// Some tests of a suite, or loads of rows.
#[derive(Debug)]
pub struct Measured {
    /// Its name on this program's command line.
    pub name: &'static str,
    /// The suite's name.
    pub suite: &'static str,
    /// True if rows are loaded in place of the suite's tests.
    pub loads: bool,
    /// The tests; `None` for all.
    pub only: Option<&'static str>,
    /// Parameters that are not the suite's own.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The contenders that are compared with C by default.
    pub contenders: &'static [&'static str],
}

/// With syncing, where the device decides, and without, where the processor does. Of servers only without,
/// since what a sync takes says nothing of their clients.
const SPEEDTEST: Measured = Measured {
    name: "speedtest",
    suite: "speedtest",
    loads: false,
    only: None,
    parameters: &[],
    contenders: &["sqlite", "sqlite:nosync", "postgres:nosync", "mariadb:nosync"],
};

/// The four tests and the three configurations of the page of 2009, at the second of its sizes.
const KV: Measured = Measured {
    name: "kv",
    suite: "kv",
    loads: false,
    only: Some("insert-int,select-int,insert-blob,select-blob"),
    parameters: &[("n", "50000")],
    contenders: &[
        "sqlite:transient",
        "sqlite:persistent",
        "sqlite:transactional",
        "bdb:transient",
        "bdb:persistent",
        "bdb:transactional",
    ],
};

/// All pairs in order, which Berkeley DB's manual advises to fetch in bulk; what is put off is settled first.
const SCAN: Measured = Measured {
    name: "scan",
    suite: "kv",
    loads: false,
    only: Some("scan"),
    parameters: &[("n", "50000")],
    contenders: &["bdb:transient", "bdb:persistent", "bdb:transactional"],
};

/// Prepared inserts and scans, with syncing and without.
const ROWS: Measured = Measured {
    name: "rows",
    suite: "intuition",
    loads: false,
    only: None,
    parameters: &[("rows", "100000")],
    contenders: &["sqlite", "sqlite:nosync"],
};

/// Rows into the tables of servers.
const LOADS: Measured = Measured {
    name: "loads",
    suite: "speedtest",
    loads: true,
    only: Some("1"),
    parameters: &[],
    contenders: &["postgres:nosync", "mariadb:nosync"],
};

/// All that is measured.
pub const ALL: [Measured; 5] = [SPEEDTEST, ROWS, LOADS, KV, SCAN];
