//! Reads the job from standard input.

use std::io::BufRead;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{Job, PROTOCOL, Server, Test, Work};
use serde::Deserialize;
use serde_json::error::Category;

/// The one thing that every version of the contract has in common.
#[derive(Deserialize)]
struct Version {
    protocol: u32,
}

/// The largest number of clients that the database of a job has at once, in this process and in others.
pub fn clients(job: &Job) -> u32 {
    let clients = |test: &Test| match &test.work {
        Work::Mix(mix) => mix.part.map_or(mix.clients, |part| part.of),
        _ => 1,
    };
    job.tests.iter().map(clients).max().unwrap_or(1)
}

/// Reads one job: to the end of the input, or to the end of the first line where turns or orders follow.
pub fn read(input: &mut impl BufRead) -> Result<Job> {
    const UNREADABLE: &str = "cannot read the job from standard input";
    let mut bytes = Vec::new();
    input.read_until(b'\n', &mut bytes).context(UNREADABLE)?;
    if serde_json::from_slice(&bytes).is_ok_and(|job: Job| job.turns || job.has_parts()) {
        return whole(&bytes);
    }
    input.read_to_end(&mut bytes).context(UNREADABLE)?;
    whole(&bytes)
}

fn whole(bytes: &[u8]) -> Result<Job> {
    ensure!(
        !bytes.trim_ascii().is_empty(),
        "standard input is empty where a job is expected: a runner is started by dyno, not by hand"
    );
    let version: Version = parse(bytes)?;
    ensure!(
        version.protocol == PROTOCOL,
        "the job is in version {} of the contract and this runner speaks version {PROTOCOL}: build both from the same \
         source",
        version.protocol
    );
    parse(bytes)
}

/// A job may carry a password, and serde quotes the value that it does not like: only the place and
/// what is missing may be said.
fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let what = match error.classify() {
            Category::Data if text.starts_with("missing field") => text,
            Category::Data => {
                format!("a value of another kind at line {} column {}", error.line(), error.column())
            }
            Category::Eof => "it ends too early".to_owned(),
            _ => format!("not JSON at line {} column {}", error.line(), error.column()),
        };
        anyhow::anyhow!("the job on standard input cannot be read: {what}")
    })
}

/// Refuses a job that is for another engine or driver than those that the runner has. `served` is an engine, or a
/// protocol and so every engine that speaks it.
pub fn expect(job: &Job, served: &str, drivers: &[&str]) -> Result<()> {
    let wanted = job.speaks.as_deref().unwrap_or(&job.engine);
    if wanted != served || !drivers.contains(&job.driver.as_str()) {
        bail!(
            "this runner serves {served}/{} and the job asks for {wanted}/{}",
            drivers.join(&format!(", {served}/")),
            job.driver
        );
    }
    Ok(())
}

/// The driver's way of working that a job names; the first of those that it has where the job names none.
pub fn variant<T: Copy>(job: &Job, known: &[(&str, T)]) -> Result<T> {
    let named = job.variant.as_deref();
    let found = known.iter().find(|(name, _)| named.is_none_or(|named| named == *name));
    found.map(|(_, way)| *way).with_context(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!(
            "{}/{} has no variant '{}': it has {}",
            job.engine,
            job.driver,
            named.unwrap_or_default(),
            names.join(", ")
        )
    })
}

/// The server of a job whose engine has one.
pub fn server(job: &Job) -> Result<&Server> {
    job.server.as_ref().with_context(|| {
        format!("the job says no server, and {} is reached through one: this is an error in dyno", job.engine)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = r#"{"protocol":3,"engine":"null","driver":"rust","build":"bundled","settings":[],
        "directory":"/tmp","tests":[{"id":"1","model":"statements","file":"1.sql","count":3}]}"#;

    fn complaint(text: &str) -> String {
        read(&mut text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_job_is_read() {
        let job = read(&mut JOB.as_bytes()).unwrap();
        assert_eq!((job.engine.as_str(), job.tests.len()), ("null", 1));
        assert!(expect(&job, "null", &["rust"]).is_ok());
        let error = expect(&job, "sqlite", &["c", "other"]).unwrap_err().to_string();
        assert_eq!(error, "this runner serves sqlite/c, sqlite/other and the job asks for null/rust");
    }

    #[test]
    fn the_first_variant_is_the_usual_one() {
        let with = |variant: Option<&str>| {
            let job = Job { variant: variant.map(str::to_owned), ..read(&mut JOB.as_bytes()).unwrap() };
            super::variant(&job, &[("copy", 1), ("insert", 2)])
        };
        assert_eq!((with(None).unwrap(), with(Some("insert")).unwrap()), (1, 2));
        let error = with(Some("magic")).unwrap_err().to_string();
        assert_eq!(error, "null/rust has no variant 'magic': it has copy, insert");
    }

    #[test]
    fn another_version_is_refused_whatever_else_it_says() {
        assert!(complaint(r#"{"protocol":2,"novelty":[]}"#).contains("version 2 of the contract"));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_value() {
        assert!(complaint("").contains("standard input is empty"));
        assert!(complaint("{\"protocol\":1").contains("ends too early"));
        assert!(complaint("nonsense").contains("not JSON at line 1"));
        assert!(complaint(r#"{"protocol":3}"#).contains("missing field `engine`"));
        let secret = complaint(&JOB.replace("[],", r#"["hunter2"],"#));
        assert!(secret.contains("another kind at line 1") && !secret.contains("hunter2"), "{secret}");
    }
}
