//! The null runner: an engine that does nothing, and so shows what dyno itself costs.
//!
//! It walks over the statements as every runner does and never looks into them. What it takes per
//! statement is the part of every other figure that is the harness; no difference between engines
//! that is smaller than this is a difference.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::hint::black_box;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use dyno_protocol::{Build, Hello, Job, PROTOCOL};
use dyno_runner::{Answer, Driver, Failure, KeyValue, Rows, Statements};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Nothing.
struct Null;

impl Rows for Null {}
impl KeyValue for Null {}

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

    fn close(self) -> Result<()> {
        Ok(())
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Null>()
}
