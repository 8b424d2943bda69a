//! The tutorials are done as a reader does them: every file saved, every command typed as it stands.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::common::runner::program;
use crate::common::{Place, repository};

/// A step of a tutorial.
enum Step {
    /// A block of code that the sentence before says to save under this name.
    Save { name: String, text: String },
    /// A command, with the exit codes that its comment allows.
    Type { command: String, codes: Vec<i32> },
}

/// The steps of a tutorial, in their order.
fn steps(name: &str) -> Vec<Step> {
    let text = fs::read_to_string(repository().join("docs/tutorials").join(name)).unwrap();
    let mut steps = Vec::new();
    let mut lines = text.lines();
    let mut file = None;
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("    ") {
            steps.push(typed(command));
        } else if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let name: String = file.take().unwrap_or_else(|| panic!("{name}: a block without a name"));
            steps.push(Step::Save { name, text: block.join("\n") + "\n" });
        } else if let Some((_, rest)) = line.to_lowercase().split_once("save this as `") {
            file = rest.split('`').next().map(str::to_owned);
        }
    }
    steps
}

/// A command with `# exit code 1 or 5` behind it, or without, which means 0.
fn typed(line: &str) -> Step {
    let (command, comment) = line.split_once("  # exit code ").unwrap_or((line, "0"));
    let codes = comment.split(|letter: char| !letter.is_ascii_digit()).filter_map(|code| code.parse().ok());
    Step::Type { command: command.to_owned(), codes: codes.collect() }
}

/// Does a tutorial in a folder.
fn follow(name: &str, place: &Place, folder: &Path) {
    let steps = steps(name);
    let commands = steps.iter().filter(|step| matches!(step, Step::Type { .. })).count();
    assert!(commands >= 4, "{name}: {commands} commands");
    let programs = program("dyno").parent().unwrap().to_owned();
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap());
    for step in steps {
        match step {
            Step::Save { name, text } => fs::write(folder.join(name), text).unwrap(),
            Step::Type { command, codes } => {
                let mut shell = Command::new("sh");
                let dyno = place.command();
                let set = dyno.get_envs().filter_map(|(name, value)| Some((name, value?)));
                let shell = shell.args(["-c", &command]).current_dir(folder).envs(set);
                let output = shell.env("PATH", &path).output().unwrap();
                let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
                let code = output.status.code().unwrap_or(-1);
                assert!(codes.contains(&code), "{name}: {command}: exit code {code}\n{said}");
            }
        }
    }
    place.assert_clean();
}

#[test]
fn a_database_is_chosen() {
    let place = Place::new();
    follow("choose.md", &place, &place.path(""));
    assert!(place.path("load.html").exists());
}

#[test]
fn sqlite_is_set_up() {
    let place = Place::new();
    follow("sqlite.md", &place, &place.path(""));
}

#[test]
fn a_release_is_guarded() {
    let place = Place::new();
    for build in ["main.so", "change.so"] {
        fs::copy(program("libdyno_sqlite3.so"), place.path(build)).unwrap();
    }
    follow("release.md", &place, &place.path(""));
}

#[test]
fn an_engine_is_added() {
    let place = Place::with_runner("true");
    let folder = place.path("home");
    symlink(repository().join("docs"), folder.join("docs")).unwrap();
    follow("engine.md", &place, &folder);
}
