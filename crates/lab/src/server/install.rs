//! Installations of dyno's own: engines in versions that the system does not have, had without root.
//!
//! `postgres@18` is unpacked from the portable binaries that a Maven package carries, which the engine's file
//! names; the user's own Maven client fetches it with the user's own settings. dyno itself opens no
//! connection and names no host. Nothing outside the folder of installations is changed, and a folder there
//! appears complete or not at all.

use std::env;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dyno_engine::ServerEngine;
use dyno_launch::Interrupts;
use dyno_needs as needs;
use dyno_protocol::Build;

use super::installation::Installation;
use super::process::{self, tail_of};
use crate::scratch::Scratch;

/// The time limit for a program, whose download may be slow.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A version of an engine that dyno can install.
#[derive(Debug)]
pub struct Installable<'a> {
    /// What was asked for, as `postgres@18`.
    name: &'a str,
    engine: &'a ServerEngine,
    /// The Maven package of its binaries.
    package: &'a str,
    /// The versions that will do, as Maven writes them.
    range: String,
}

impl<'a> Installable<'a> {
    /// The version that a name asks for: `postgres@18` (the newest of 18) or `postgres@18.1`.
    ///
    /// # Errors
    /// The engine is not to be had this way, with what to do.
    pub fn parse(name: &'a str, servers: &'a [ServerEngine]) -> Result<Installable<'a>> {
        let (engine, version) = name.split_once('@').with_context(|| wanted(name))?;
        let engine = servers.iter().find(|known| known.name == engine).with_context(|| wanted(name))?;
        let start = engine.start.as_ref().with_context(|| wanted(name))?;
        let source = needs::of(&start.programs[0]).map(|need| need.source()).unwrap_or_default();
        let advice = || format!("{}: {}", wanted(name), start.advice.replace("{source}", &source));
        let package = start.package.as_deref().with_context(advice)?;
        let range = range(version).with_context(|| wanted(name))?;
        Ok(Installable { name, engine, package, range })
    }

    /// Installs it within a folder of installations, where it gets a folder of its name. One that is there is left as it
    /// is.
    ///
    /// # Errors
    /// Maven or a program to unpack with is missing, or there is no such version for this machine, each with what to do;
    /// or a signal came.
    pub fn install(&self, engines: &Path, interrupts: &Interrupts) -> Result<Installation> {
        let place = engines.join(self.name);
        if place.is_dir() {
            return Installation::find(self.engine, &Build::Path(place));
        }
        let make = || format!("cannot make a folder in {}", engines.display());
        fs::create_dir_all(engines).with_context(make)?;
        let scratch = Scratch::create_or(engines, "XDG_DATA_HOME names another folder").with_context(make)?;
        let work = scratch.trial()?;
        let programs = Programs { work: work.path(), interrupts };
        let package = programs.fetch(self.package, &self.range);
        let package = package.with_context(|| format!("cannot fetch {}", self.name))?;
        let new = work.path().join("new");
        fs::create_dir(&new)?;
        programs
            .run(
                Command::new("tar")
                    .args(["--no-same-owner", "--no-same-permissions", "-xJf"])
                    .arg(&package)
                    .arg("-C")
                    .arg(&new),
            )
            .with_context(|| format!("cannot unpack the package, which takes {}", xz()))?;
        // Before it gets its name, it has shown that it runs here.
        Installation::find(self.engine, &Build::Path(new.clone()))?;
        fs::rename(&new, &place).with_context(|| format!("cannot make {}", place.display()))?;
        Installation::find(self.engine, &Build::Path(place))
    }
}

fn wanted(name: &str) -> String {
    format!("dyno cannot install `{name}`: it installs versions of PostgreSQL, such as postgres@18")
}

/// The user's programs, which a signal ends.
struct Programs<'a> {
    /// A folder for what they make.
    work: &'a Path,
    interrupts: &'a Interrupts,
}

impl Programs<'_> {
    /// Fetches the archive that the package of some versions carries for this machine.
    fn fetch(&self, package: &str, range: &str) -> Result<PathBuf> {
        let architecture = match env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64v8",
            other => bail!("the portable binaries are not made for {other}"),
        };
        let project = self.work.join("pom.xml");
        let (group, artifact) = package.split_once(':').context("the package has no group")?;
        fs::write(&project, pom(group, &format!("{artifact}-{architecture}"), range))?;
        let unpacked = self.work.join("package");
        let mut maven = Command::new("mvn");
        maven.args(["--batch-mode", "--quiet", "dependency:unpack-dependencies", "--file"]).arg(&project);
        maven.arg(format!("-DoutputDirectory={}", unpacked.display()));
        self.run(&mut maven)?;
        let files = fs::read_dir(&unpacked).context("Maven has unpacked nothing")?.flatten();
        let mut files = files.map(|file| file.path());
        files
            .find(|path| path.extension().is_some_and(|e| e == "txz"))
            .context("the package has no archive in it")
    }

    /// Runs a program to its end, or to the first signal.
    fn run(&self, command: &mut Command) -> Result<()> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = self.work.join("output");
        command.stdin(Stdio::null()).process_group(0);
        let is_missing = |error: &anyhow::Error| {
            error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == ErrorKind::NotFound)
        };
        let status = match process::run(command, &output, PATIENCE, self.interrupts) {
            Err(error) if is_missing(&error) => {
                bail!("this needs the program {program}{}", needs::advice(&program))
            }
            status => status?,
        };
        if !status.success() {
            bail!("{program} failed; it said:\n{}", tail_of(&output));
        }
        Ok(())
    }
}

/// A Maven project whose one dependency is the package.
fn pom(group: &str, artifact: &str, range: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dyno</groupId>
  <artifactId>engines</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{range}</version>
    </dependency>
  </dependencies>
</project>
"
    )
}

/// The versions that begin with a number, as Maven writes a range. Its end keeps out the next one's
/// previews, which Maven counts as smaller than the next one.
fn range(version: &str) -> Option<String> {
    let parts: Vec<&str> = version.split('.').collect();
    let mut numbers = parts.iter().map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<u32>>>()?;
    if numbers.len() > 2 {
        return Some(format!("[{version}]"));
    }
    let last = numbers.last_mut()?;
    *last = last.checked_add(1)?;
    let next: Vec<String> = numbers.iter().map(u32::to_string).collect();
    Some(format!("[{version},{}-alpha)", next.join(".")))
}

/// The entry of needs.txt for the program that tar needs to read the package.
fn xz() -> String {
    needs::of("xz").map(|need| need.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use dyno_engine::{Home, Registry};

    use super::*;

    #[test]
    fn a_version_is_a_range_of_those_that_begin_with_it() {
        assert_eq!(range("18").unwrap(), "[18,19-alpha)");
        assert_eq!(range("17.4").unwrap(), "[17.4,17.5-alpha)");
        assert_eq!(range("17.4.0").unwrap(), "[17.4.0]");
        for bad in ["", "x", "18.", "18,99"] {
            assert_eq!(range(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_installed_is_reported() {
        let servers = Registry::load(&Home::find().unwrap()).unwrap().servers();
        let message = |name| Installable::parse(name, &servers).unwrap_err().to_string();
        assert!(message("mysql@9").contains("scripts/install-mysql.sh"));
        for name in ["postgres", "postgres@new", "sqlite@3", "mariadb@11"] {
            assert!(message(name).contains("postgres@18"), "{name}");
        }
    }
}
