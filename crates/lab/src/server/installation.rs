//! Installations of server engines: where their programs are and how to run them.
//!
//! Looks at files and asks programs for their version; starts no server and installs nothing.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use dyno_engine::{ServerEngine, Start};
use dyno_needs as needs;
use dyno_protocol::Build;

use super::account::Account;
use super::installed::installed;
use super::libraries::{Libraries, matching};
use super::protocol;

/// The programs of one server engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The engine.
    pub engine: ServerEngine,
    /// The engine's description of how it is started.
    pub(super) start: Start,
    /// The version, as `15.14` or `10.11.19-MariaDB`.
    pub version: String,
    /// The server program.
    pub server: PathBuf,
    /// The program that makes an empty data folder; the server itself for MySQL.
    pub(super) initializer: PathBuf,
    /// The folder above that of the server program, which MySQL calls its base.
    pub(super) base: PathBuf,
    /// The folders of the programs' libraries, if these are not the system's.
    pub(super) own: Libraries,
}

impl Installation {
    /// Lets the account of the server enter a folder of dyno's own, on the way to the server's folders.
    ///
    /// # Errors
    /// The machine has no account for servers, or the folder's mode cannot be changed.
    pub fn admit(&self, folder: &Path) -> Result<()> {
        Account::for_server(&self.start.account)?.admit(folder)
    }

    /// Finds the programs of an engine.
    ///
    /// [`Build::System`] is what is on `PATH` and then in the usual places of Debian, Red Hat and of
    /// installations from source, the newest first. [`Build::Path`] is the server program itself or an
    /// installation folder: one with `bin/`, one into which packages of a distribution were unpacked, or
    /// the bare version of one that dyno or its scripts installed, as `18`.
    ///
    /// # Errors
    /// There is none, with the commands that get one; or what is there is another engine's or does not
    /// run, with why.
    pub fn find(engine: &ServerEngine, build: &Build) -> Result<Installation> {
        let start = engine.start.as_ref().with_context(|| {
            let (title, scheme) = (&engine.title, engine.scheme());
            format!(
                "dyno does not know how to start a server of {title}; name a running one: --url {scheme}://…"
            )
        })?;
        let wanted = Wanted { engine, start };
        let mut refused = Vec::new();
        let named = match build {
            Build::Path(path) => path.to_str().and_then(|version| installed(&engine.name, version)),
            _ => None,
        };
        let named = named.map(Build::Path);
        let build = named.as_ref().unwrap_or(build);
        let found = match build {
            Build::Bundled => bail!("no server of {} comes with dyno; use @system or @PATH", engine.name),
            Build::System => {
                let path = env::var_os("PATH").unwrap_or_default();
                let folders = env::split_paths(&path).chain(
                    ["/", "/usr/local", "/usr/local/pgsql", "/usr/local/mysql"].iter().flat_map(folders),
                );
                search(wanted, folders, &Libraries::default(), &mut refused)
            }
            Build::Path(path) if path.is_dir() => {
                let path = &std::path::absolute(path)?;
                let mut own = Libraries::within(path);
                if !start.initializer.is_empty() {
                    // One program starts another, and so would leave the loader behind.
                    own.loader = None;
                }
                search(wanted, folders(path), &own, &mut refused)
            }
            Build::Path(path) => {
                let folder = path.parent().map(Path::to_owned);
                search(wanted, folder, &Libraries::default(), &mut refused)
            }
        };
        found.with_context(|| explain(wanted, build, &refused))
    }

    /// A command of this installation, with an environment in which nothing of the user's has a say.
    pub(super) fn command(&self, program: &Path) -> Command {
        self.own.command(program)
    }
}

/// The engine and the build to find.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    engine: &'a ServerEngine,
    start: &'a Start,
}

/// The folders within `root` that may hold the programs, the newest version first.
fn folders(root: impl AsRef<Path>) -> Vec<PathBuf> {
    let root = root.as_ref();
    let mut versions: Vec<PathBuf> = ["usr/lib/postgresql", "lib/postgresql"]
        .iter()
        .flat_map(|place| matching(&root.join(place), |name| name.parse::<u32>().is_ok()))
        .chain(matching(&root.join("usr"), |name| name.starts_with("pgsql-")))
        .collect();
    let number = |path: &PathBuf| -> u32 {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.trim_start_matches("pgsql-").parse().unwrap_or(0)
    };
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    let plain = ["bin", "sbin", "libexec", "usr/sbin", "usr/bin", "usr/libexec", ""];
    plain.iter().map(|place| root.join(place)).chain(versions.iter().map(|path| path.join("bin"))).collect()
}

/// The first complete installation in the folders; what is wrong with others goes to `refused`.
fn search(
    wanted: Wanted,
    folders: impl IntoIterator<Item = PathBuf>,
    own: &Libraries,
    refused: &mut Vec<String>,
) -> Option<Installation> {
    for folder in folders {
        let servers = wanted.start.programs.iter().map(|name| folder.join(name));
        for server in servers.filter(|path| is_program(path)) {
            match examine(wanted, &server, own) {
                Ok(installation) => return Some(installation),
                Err(error) => {
                    // The same program is often in several of these folders, by links.
                    let path = fs::canonicalize(&server).unwrap_or(server);
                    let reason = format!("{} {error:#}", path.display());
                    if !refused.contains(&reason) {
                        refused.push(reason);
                    }
                }
            }
        }
    }
    None
}

/// Reads the version of a server program and finds the programs that belong to it.
fn examine(wanted: Wanted, server: &Path, own: &Libraries) -> Result<Installation> {
    let Wanted { engine, start } = wanted;
    let output = own.command(server).arg("--version").output().context("cannot be run")?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("does not run: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let version = protocol::version(engine.speaks, &said);
    let version = version.with_context(|| format!("is unknown: {}", said.trim()))?;
    if !engine.version.allows(&version) {
        bail!("is {version}, not {}", engine.title);
    }
    // Its other programs lie next to the program itself, not next to a link to it.
    let linked = server.parent().context("is in no folder")?;
    let server = fs::canonicalize(server).context("cannot be found")?;
    let folder = server.parent().context("is in no folder")?;
    let base = folder.parent().unwrap_or(folder);
    let places = [folder.to_owned(), base.join("bin"), base.join("scripts"), linked.to_owned()];
    let initializer = match start.initializer.is_empty() {
        true => server.clone(),
        false => beside(&places, &start.initializer)?,
    };
    let base = base.to_owned();
    let (engine, start) = (engine.clone(), start.clone());
    Ok(Installation { engine, start, version, server, initializer, base, own: own.clone() })
}

fn beside(places: &[PathBuf], names: &[String]) -> Result<PathBuf> {
    let mut paths = places.iter().flat_map(|place| names.iter().map(|name| place.join(name)));
    paths.find(|path| is_program(path)).with_context(|| format!("has no {} next to it", names[0]))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The reason that no installation was found, with advice.
fn explain(Wanted { engine, start }: Wanted, build: &Build, refused: &[String]) -> String {
    let ServerEngine { name, title, .. } = engine;
    let looked = match build {
        Build::Path(path) if !path.exists() => {
            let path = path.display();
            format!("there is no {path}, and no {title} is installed by that name for dyno")
        }
        Build::Path(path) => format!("there is no {title} server in {}", path.display()),
        _ => format!("there is no {title} server on PATH or in the usual places"),
    };
    let refused = match refused {
        [] => String::new(),
        some => format!(" ({})", some.join("; ")),
    };
    let source = needs::of(&start.programs[0]).map(|need| need.source()).unwrap_or_default();
    let advice = start.advice.replace("{source}", &source);
    format!(
        "{looked}{refused}; {advice}; name an installation folder as {name}@PATH, or measure a running \
         server by its URL"
    )
}

#[cfg(test)]
mod tests {
    use dyno_engine::{Home, Registry};

    use super::*;

    fn engine(name: &str) -> ServerEngine {
        let registry = Registry::load(&Home::find().unwrap()).unwrap();
        registry.engine(name).unwrap().server().unwrap()
    }

    #[test]
    fn servers_are_reported_apart_by_their_versions() {
        let engines = ["postgres", "mariadb", "mysql"].map(engine);
        for (said, name, version) in [
            ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n", "postgres", "15.14"),
            ("postgres (PostgreSQL) 18beta1\n", "postgres", "18beta1"),
            (
                "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n",
                "mariadb",
                "10.11.19-MariaDB",
            ),
            (
                "/usr/sbin/mysqld  Ver 9.7.0 for Linux on x86_64 (MySQL Community Server - GPL)\n",
                "mysql",
                "9.7.0",
            ),
        ] {
            let is_own = |engine: &&ServerEngine| {
                let found = protocol::version(engine.speaks, said);
                found.is_some_and(|found| found == version && engine.version.allows(&found))
            };
            let own: Vec<_> = engines.iter().filter(is_own).map(|engine| engine.name.as_str()).collect();
            assert_eq!(own, [name], "{said}");
        }
        assert!(engines.iter().all(|engine| protocol::version(engine.speaks, "hello").is_none()));
    }

    #[test]
    fn a_missing_server_comes_with_the_command_that_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let build = Build::Path(folder.path().to_owned());
        let message = |name| Installation::find(&engine(name), &build).unwrap_err().to_string();
        assert!(message("postgres").contains("apt-get install --no-install-recommends postgresql"));
        assert!(message("mariadb").contains("apt-get install --no-install-recommends mariadb-server"));
        assert!(message("mysql").contains("scripts/install-mysql.sh"));
        assert!(
            message("mysql")
                .contains("Ubuntu: sudo apt-get install --no-install-recommends mysql-server-core")
        );
        let other = ServerEngine { start: None, title: "Other".into(), ..engine("postgres") };
        let said = Installation::find(&other, &build).unwrap_err().to_string();
        assert!(
            said.contains("does not know how to start a server of Other")
                && said.contains("--url postgres://")
        );
    }

    #[test]
    fn another_engines_server_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/mysqld");
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::write(&program, "#!/bin/sh\necho 'mysqld  Ver 11.4.2-MariaDB for Linux'\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let build = Build::Path(folder.path().to_owned());
        let error = Installation::find(&engine("mysql"), &build).unwrap_err();
        assert!(error.to_string().contains("is 11.4.2-MariaDB, not MySQL"), "{error}");
    }

    #[test]
    fn versions_of_postgresql_are_tried_newest_first() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9", "15", "17"] {
            fs::create_dir_all(root.path().join("usr/lib/postgresql").join(version)).unwrap();
        }
        let found = folders(root.path());
        let last: Vec<_> = found.iter().rev().take(3).rev().collect();
        let expected = ["17", "15", "9"].map(|v| root.path().join(format!("usr/lib/postgresql/{v}/bin")));
        assert_eq!(last, expected.iter().collect::<Vec<_>>());
    }
}
