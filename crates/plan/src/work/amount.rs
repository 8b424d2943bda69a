//! The number of operations of a work, the number of them that a contender's commits allow to be timed, and the number
//! per commit.

use dyno_protocol::{Commits, ImportWork, LoadWork, Work};

/// The work as a contender does it: committed as it says, and where each operation is a commit of its
/// own, timed for no more operations than the suite allows.
pub fn committing(mut work: Work, per_commit: Option<u64>, one_by_one: Option<u64>) -> Work {
    let count = operations(&work);
    let timed = one_by_one.filter(|&most| per_commit == Some(1) && most < count);
    match &mut work {
        Work::InsertRows(LoadWork { commits, .. })
        | Work::BulkLoad(LoadWork { commits, .. })
        | Work::ImportFile(ImportWork { commits, .. })
        | Work::KvPut { commits, .. }
        | Work::KvDelete { commits, .. } => *commits = Commits { per_commit, timed },
        _ => {}
    }
    work
}

/// True if only some of the operations are timed.
pub fn is_cut(work: &Work) -> bool {
    match work {
        Work::InsertRows(LoadWork { commits, .. })
        | Work::BulkLoad(LoadWork { commits, .. })
        | Work::ImportFile(ImportWork { commits, .. })
        | Work::KvPut { commits, .. }
        | Work::KvDelete { commits, .. } => commits.timed.is_some(),
        Work::Mix(mix) => mix.lasts.is_some(),
        _ => false,
    }
}

/// The number of a test's operations, timed or not.
pub fn operations(work: &Work) -> u64 {
    match work {
        Work::Statements { count, .. } => *count,
        Work::InsertRows(load) | Work::BulkLoad(load) => load.rows.count,
        Work::ImportFile(work) => work.records,
        Work::Reopen {} | Work::Scan { .. } | Work::KvSettle { .. } => 1,
        Work::Mix(mix) if mix.lasts.is_some() => 1,
        Work::Mix(mix) => mix.steps.iter().map(|steps| steps.count).sum(),
        Work::KvPut { pairs, .. } | Work::KvGet { pairs, .. } => pairs.keys.count,
        Work::KvRange { keys, .. } | Work::KvDelete { keys, .. } => keys.count,
        Work::KvScan { .. } => 0,
    }
}
