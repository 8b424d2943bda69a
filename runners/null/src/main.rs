//! The null runner: an engine that does nothing, and so shows what dyno itself costs.
//!
//! It walks over its input as every runner does and never looks into it. What it takes per statement,
//! row or pair is the part of every other figure that is the harness; no difference between engines
//! that is smaller than this is a difference.

mod mix;
mod store;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::hint::black_box;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use dyno_protocol::{Build, FieldKind, Hello, Job, MixWork, PROTOCOL, Store};
use dyno_runner::mix::{Connector, statements};
use dyno_runner::{Answer, Engine, Failure, Import, Load, Rows, Scan, Session, Visit};

use mix::Unexecuted;
use store::Nowhere;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Nothing.
struct Null;

impl Rows for Null {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        for row in load.rows.iter() {
            for cell in load.cells(row) {
                let _ = black_box(cell);
            }
        }
        Ok(load.rows.len())
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        self.insert_rows(load)
    }

    fn scan(&mut self, scan: &Scan, _: &mut Answer) -> Result<()> {
        black_box(scan.sql);
        Ok(())
    }

    fn read_rows(&mut self, _: &str, _: &[(&str, FieldKind)], _: &mut Visit) -> Result<()> {
        Ok(())
    }

    /// Reads and splits, which every program that imports must do.
    fn import(&mut self, import: &Import) -> Result<u64, Failure> {
        let mut reader = import.reader();
        while let Some(fields) = reader.next()? {
            black_box(fields);
        }
        Ok(reader.done())
    }
}

impl Engine for Null {
    type Session = Null;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        dyno_runner::expect(job, "null", &["rust"])?;
        ensure!(job.build == Build::Bundled, "the null engine has no build other than its own");
        if let Some(setting) = job.settings.first() {
            anyhow::bail!("the null engine has no setting '{}': it has none", setting.name);
        }
        let hello = Hello {
            protocol: PROTOCOL,
            runner: concat!("null ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine_version: VERSION.to_owned(),
            driver_version: VERSION.to_owned(),
            build: BTreeMap::new(),
            settings: Vec::new(),
            read_back: Vec::new(),
        };
        Ok((Null, hello))
    }

    fn session(&mut self) -> Result<Null> {
        Ok(Null)
    }

    fn connector(&self) -> Result<Box<Connector<'static, Null>>> {
        Ok(Box::new(|| Ok(Null)))
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

impl Session for Null {
    type Store<'s> = Nowhere;
    type Prepared<'s> = Unexecuted;

    fn prepare(&mut self, mix: &MixWork) -> Result<Unexecuted> {
        Ok(Unexecuted(statements(mix, |_| "?".to_owned())))
    }

    #[inline]
    fn execute(&mut self, sql: &CStr, _: &mut Answer) -> Result<u64> {
        // An engine would be given this: a pointer and a length.
        black_box(sql);
        Ok(0)
    }

    fn reopen(&mut self) -> Result<()> {
        Ok(())
    }

    fn store(&mut self, _: &Store) -> Result<Nowhere> {
        Ok(Nowhere)
    }

    fn settle(&mut self, _: &[Store]) -> Result<()> {
        Ok(())
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Null>()
}
