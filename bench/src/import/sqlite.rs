//! The ways to load a file into a new SQLite database.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::COLUMNS;
use crate::compare::{Contender, executed};

/// `dyno import` into a new database, with what more is said on the command line.
pub fn dyno(name: &'static str, programs: &Path, file: &Path, folder: &Path, more: &[&str]) -> Contender {
    let (mut command, folder) = (import(programs, more), folder.to_owned());
    command.arg("--into").arg(folder.join("a.db")).arg(file);
    let command = parts(&command);
    Contender::new(name, move || of(&command), move || fresh(&folder))
}

/// The same by SQLite's inserts: in a database that is there dyno writes no pages.
pub fn inserts(programs: &Path, file: &Path, folder: &Path, more: &[&str]) -> Contender {
    let (mut command, folder) = (import(programs, more), folder.to_owned());
    command.arg("--into").arg(folder.join("there.db")).args(["--table", "loaded"]).arg(file);
    let command = parts(&command);
    let (tiny, there) = (folder.with_extension("tiny.csv"), folder.join("there.db"));
    let mut prepare = import(programs, &[]);
    prepare.arg("--into").arg(&there).arg(&tiny);
    let prepare = parts(&prepare);
    let before = move || {
        fresh(&folder)?;
        fs::write(&tiny, "1\n2\n")?;
        executed(of(&prepare))?;
        nix::unistd::sync();
        Ok(())
    };
    Contender::new("dyno import by SQLite's inserts, durable", move || of(&command), before)
}

/// The same on one processor.
pub fn on_one(programs: &Path, file: &Path, folder: &Path, more: &[&str]) -> Contender {
    alone("dyno import on one processor, durable", &programs.join("dyno"), file, folder, more)
}

fn alone(name: &'static str, program: &Path, file: &Path, folder: &Path, more: &[&str]) -> Contender {
    let (mut command, folder) = (import_by(program, more), folder.to_owned());
    command.arg("--into").arg(folder.join("a.db")).arg(file);
    let command: Vec<OsString> =
        ["taskset", "-c", "0"].map(OsString::from).into_iter().chain(parts(&command)).collect();
    Contender::new(name, move || of(&command), move || fresh(&folder))
}

/// The same by another `dyno`, such as one of before a change, where one is given.
pub fn before(program: Option<&Path>, file: &Path, folder: &Path, more: &[&str]) -> Option<Contender> {
    let (mut command, folder) = (import_by(program?, more), folder.to_owned());
    command.arg("--into").arg(folder.join("a.db")).arg(file);
    let command = parts(&command);
    Some(Contender::new("dyno import of before, durable", move || of(&command), move || fresh(&folder)))
}

/// That on one processor.
pub fn before_on_one(program: Option<&Path>, file: &Path, folder: &Path, more: &[&str]) -> Option<Contender> {
    Some(alone("dyno import of before on one processor, durable", program?, file, folder, more))
}

/// Rows for a table that is there, with two rows and nothing else, by a `dyno`. `tiny` are the two.
pub fn append(
    name: &'static str,
    program: &Path,
    files: [&Path; 2],
    folder: &Path,
    more: &'static [&str],
) -> Contender {
    let [file, tiny] = files;
    let (folder, there) = (folder.to_owned(), folder.join("there.db"));
    let mut prepare = import_by(program, more);
    prepare.args(["--table", "t", "--into"]).arg(&there).arg(tiny);
    let mut command = import_by(program, &["--append", "--table", "t"]);
    command.arg("--into").arg(&there).arg(file);
    let (prepare, command) = (parts(&prepare), parts(&command));
    let before = move || {
        fresh(&folder)?;
        executed(of(&prepare))?;
        nix::unistd::sync();
        Ok(())
    };
    Contender::new(name, move || of(&command), before)
}

fn import(programs: &Path, more: &[&str]) -> Command {
    import_by(&programs.join("dyno"), more)
}

fn import_by(program: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["import", "-q", "--no-header"]).args(more);
    command
}

/// A command as its words, from which it is made anew each time.
fn parts(command: &Command) -> Vec<OsString> {
    [command.get_program()].into_iter().chain(command.get_args()).map(OsStr::to_owned).collect()
}

fn of(parts: &[OsString]) -> Command {
    let mut command = Command::new(&parts[0]);
    command.args(&parts[1..]);
    command
}

/// Copying the finished database and syncing it, which no way to load can undercut: the floor.
pub fn floor(programs: &Path, file: &Path, folder: &Path, more: &[&str]) -> Result<Contender> {
    let finished = folder.with_extension("finished.db");
    let _ = fs::remove_file(&finished);
    let mut command = import(programs, more);
    command.arg("--into").arg(&finished).arg(file);
    executed(command)?;
    let (place, folder) = (folder.to_owned(), folder.to_owned());
    let work = move || {
        let mut copy = File::create(place.join("copy.db"))?;
        std::io::copy(&mut File::open(&finished)?, &mut copy)?;
        copy.sync_all()?;
        Ok(File::open(&place)?.sync_all()?)
    };
    Ok(Contender::of("copying the finished file and syncing it", work, move || fresh(&folder)))
}

/// A program written by hand; numbers it makes itself.
pub fn in_c(
    program: &Path,
    file: &Path,
    folder: &Path,
    types: &'static str,
    count: Option<u64>,
) -> Contender {
    let (program, file, folder) = (program.to_owned(), file.to_owned(), folder.to_owned());
    let database = folder.join("c.db");
    let command = move || {
        let mut command = Command::new(&program);
        command.arg(&database).arg(&file).arg(types).args(count.map(|count| count.to_string()));
        command
    };
    Contender::new("C by hand, no safety", command, move || fresh(&folder))
}

/// The sqlite3 shell, where it is installed.
pub fn shell(file: &Path, folder: &Path, mode: &'static str) -> Option<Contender> {
    let installed = Command::new("sqlite3").arg("-version").stdout(Stdio::null()).status().is_ok();
    if !installed {
        println!("The sqlite3 shell is left out: it is not installed.");
        return None;
    }
    let (folder, import) = (folder.to_owned(), format!(".import {} t", file.display()));
    let database = folder.join("s.db");
    let command = move || {
        let mut command = Command::new("sqlite3");
        command.arg(&database).args([mode, &format!("CREATE TABLE t({COLUMNS})"), &import]);
        command
    };
    Some(Contender::new("sqlite3 .import", command, move || fresh(&folder)))
}

/// An empty folder, and nothing of before still on its way to the device.
pub fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir(folder)?;
    nix::unistd::sync();
    Ok(())
}
