//! Settings that no engine knows and every contender has: dyno takes them out and tells the runner what they mean
//! with each test.

use anyhow::{Context, Result, bail};
use dyno_protocol::Setting;
use dyno_suite::{Index, TableForm};

/// How many operations make a transaction.
const PER_COMMIT: &str = "per_commit";
/// When the index of an import is made.
const INDEX: &str = "index";
/// Whether the table of an import has a primary key.
const PRIMARY_KEY: &str = "primary_key";

/// By which share its runner is made slower, to find out which differences a machine can show.
const SLOWDOWN: &str = "slowdown";

/// Whether it may take turns with others.
const TURNS: &str = "turns";

/// Whether each of its clients is a process of its own.
const PROCESSES: &str = "processes";

/// What a contender does its tests with, beside its engine's settings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OwnSettings {
    /// How many operations of a test make a transaction; none where nobody said.
    pub per_commit: Option<CommitSize>,
    /// The form of tables into which files are imported.
    pub form: TableForm,
    /// By which share its runner is made slower; none where nobody said.
    pub slowdown: Option<f64>,
    /// Whether its trials run by themselves where it could take turns.
    pub apart: bool,
    /// Whether each of its clients is a process of its own.
    pub processes: bool,
}

/// How many operations of a test make a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitSize {
    /// All of them.
    All,
    /// So many.
    Operations(u64),
}

impl CommitSize {
    /// How many; none: all.
    pub fn operations(self) -> Option<u64> {
        match self {
            CommitSize::All => None,
            CommitSize::Operations(count) => Some(count),
        }
    }
}

impl OwnSettings {
    /// Takes them out of settings; of one named twice the last counts.
    pub fn take(settings: &mut Vec<Setting>) -> Result<OwnSettings> {
        let mut own = OwnSettings::default();
        let is_own = |setting: &mut Setting| {
            [PER_COMMIT, INDEX, PRIMARY_KEY, SLOWDOWN, TURNS, PROCESSES].contains(&setting.name.as_str())
        };
        for Setting { name, value } in settings.extract_if(.., is_own) {
            match (name.as_str(), value.as_str()) {
                (PER_COMMIT, "all") => own.per_commit = Some(CommitSize::All),
                (PER_COMMIT, value) => own.per_commit = Some(CommitSize::Operations(operations(value)?)),
                (SLOWDOWN, value) => own.slowdown = Some(share(value)?),
                (TURNS, "yes") => own.apart = false,
                (TURNS, "no") => own.apart = true,
                (TURNS, _) => bail!("{TURNS} is yes or no, not '{value}'"),
                (PROCESSES, "yes") => own.processes = true,
                (PROCESSES, "no") => own.processes = false,
                (PROCESSES, _) => bail!("{PROCESSES} is yes or no, not '{value}'"),
                (INDEX, "none") => own.form.index = Index::None,
                (INDEX, "first") => own.form.index = Index::First,
                (INDEX, "last") => own.form.index = Index::Last,
                (INDEX, _) => bail!("{INDEX} is none, first or last, not '{value}'"),
                (_, "yes") => own.form.primary_key = true,
                (_, "none") => own.form.primary_key = false,
                _ => bail!("{PRIMARY_KEY} is yes or none, not '{value}'"),
            }
        }
        Ok(own)
    }
}

fn operations(value: &str) -> Result<u64> {
    let count = value.parse().ok().filter(|&count: &u64| count > 0);
    count.with_context(|| format!("{PER_COMMIT} is a number of operations from 1, or all, not '{value}'"))
}

fn share(value: &str) -> Result<f64> {
    let percent = value.strip_suffix('%').and_then(|number| number.parse().ok());
    let share = percent.map(|percent: f64| percent / 100.0).filter(|share| (0.0..=10.0).contains(share));
    share.with_context(|| format!("{SLOWDOWN} is a share from 0% to 1000%, as 3%, not '{value}'"))
}
