//! The null runner: an engine that does nothing, and so shows what dyno itself costs.
//!
//! It walks over its input as every runner does and never looks into it. What it takes per statement,
//! row or pair is the part of every other figure that is the harness; no difference between engines
//! that is smaller than this is a difference.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::hint::black_box;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use dyno_protocol::{Build, FieldKind, Hello, Job, PROTOCOL, Store};
use dyno_runner::{
    Answer, Delete, Driver, Failure, Found, Import, KeyValue, Load, Put, Rows, Scan, Slice, Statements,
    Visit, Watch,
};

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

impl KeyValue for Null {
    fn open_store(&mut self, _: &Store) -> Result<()> {
        Ok(())
    }

    fn put<W: Watch>(&mut self, put: &Put, watch: &mut W) -> Result<u64, Failure> {
        for pair in put.keys.iter().zip(put.values.iter()) {
            watch.operation(|| black_box(pair));
        }
        Ok(put.keys.len())
    }

    fn get<W: Watch>(&mut self, keys: Slice, watch: &mut W) -> Result<Found, Failure> {
        for key in keys.iter() {
            watch.operation(|| black_box(key));
        }
        Ok(Found::default())
    }

    fn scan_pairs(&mut self, _: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        Ok(())
    }

    fn range<W: Watch>(&mut self, keys: Slice, _: u64, watch: &mut W) -> Result<Found, Failure> {
        self.get(keys, watch)
    }

    fn delete<W: Watch>(&mut self, delete: &Delete, watch: &mut W) -> Result<u64, Failure> {
        self.get(delete.keys, watch)?;
        Ok(delete.keys.len())
    }

    fn keeps(&self) -> bool {
        false
    }
}

impl Driver for Null {
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
        };
        Ok((Null, hello))
    }

    fn statements(&mut self, statements: &Statements, _: &mut Answer) -> Result<u64, Failure> {
        let mut operations = 0;
        for sql in statements.iter() {
            // What an engine would be given: a pointer and a length.
            black_box(sql);
            operations += 1;
        }
        Ok(operations)
    }

    fn query(&mut self, _: &CStr, _: &mut Answer) -> Result<()> {
        Ok(())
    }

    fn changes(&mut self) -> u64 {
        0
    }

    fn reopen(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self) -> Result<()> {
        Ok(())
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Null>()
}
