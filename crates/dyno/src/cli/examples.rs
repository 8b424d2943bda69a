//! The example at the top of each command's help. A test parses every one of them exactly as it stands here.

pub const DYNO: &str = "Example: dyno run speedtest --with sqlite,sqlite:wal,postgres";

pub const LIST: &str = "\
Examples:
  dyno list                      everything on one screen
  dyno list sqlite               all drivers, builds and profiles of SQLite
  dyno list ./my.toml            checks a suite of your own, without running it";

pub const RUN: &str = "\
Examples:
  dyno run speedtest
  dyno run speedtest --with sqlite,sqlite:wal,postgres --budget 3m
  dyno run kv --n 5000,50000 --report kv.html";

pub const SHOW: &str = "\
Examples:
  dyno show                      the newest run in results/
  dyno show results/base.jsonl --costs --notes";

pub const REPORT: &str = "\
Examples:
  dyno report --open
  dyno report results/before.jsonl results/after.jsonl -o change.html";

pub const EXPORT: &str = "Example: dyno export results/base.jsonl -o samples.csv";

pub const HISTORY: &str = "\
Examples:
  dyno history
  dyno history speedtest --test 2";

pub const COMPARE: &str = "Example: dyno compare results/before.jsonl results/after.jsonl --gate 'time<=+5%'";

pub const SCALING: &str = "Example: dyno scaling results/kv-5000.jsonl results/kv-50000.jsonl";

pub const VERIFY: &str = "\
Examples:
  dyno verify results/base.jsonl
  dyno verify page.html other.jsonl --signers allowed_signers";

pub const SITE: &str = "Example: dyno site results/one.jsonl results/two.jsonl -o site";

pub const RERUN: &str = "Example: dyno rerun results/base.jsonl --out results/again.jsonl";

pub const CHALLENGE: &str = "Example: dyno challenge results/base.jsonl --runs 20 --trials 7";

pub const CAUSES: &str = "Example: dyno causes results/base.jsonl --of sqlite,sqlite:wal --only 2";

pub const IMPORT: &str = "\
Examples:
  dyno import trips.csv --into trips.db
  dyno import trips.csv.gz --into postgres://me@localhost/work --table trips --explain";

pub const PROVE: &str = "\
Examples:
  dyno prove --with sqlite,sqlite:extra,sqlite:wal
  dyno prove --command './commit.sh {dir}' --check './look.sh {dir}' --cuts 500";

pub const PROVE_RECORDER: &str = "Example: dyno prove-recorder disk log";

pub const PROVE_FILES: &str = "Example: dyno prove-files folder log";

pub const PROVE_WATCHER: &str = "Example: dyno prove-watcher 4711";

pub const AGENT: &str = "Example: dyno agent";

pub const CALIBRATE: &str = "\
Examples:
  dyno calibrate
  dyno calibrate kv --with lmdb:persistent --budget 3m
  dyno calibrate --again results/2026-01-31T12-00-00-speedtest.jsonl";

pub const DOCTOR: &str = "Example: dyno doctor --dir /var/tmp";

pub const ENGINES: &str = "Example: dyno engines install postgres@18";

pub const INSTALL: &str = "Example: dyno engines install postgres@18";

pub const CONFORMANCE: &str = "Example: dyno conformance sqlite postgres/rust";

pub const SCHEMA: &str = "Example: dyno schema run";

pub const COMPLETIONS: &str =
    "Example: dyno completions bash > ~/.local/share/bash-completion/completions/dyno";

pub const MAN: &str = "Example: dyno man run > dyno-run.1";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::{Command, CommandFactory, Parser};

    use crate::cli::Cli;

    /// The commands in the examples at the beginning of a help text, without what is said of them.
    fn examples(help: &str) -> Vec<String> {
        let heading = help.split("\n\n").next().unwrap_or_default();
        let lines = heading.lines().filter_map(|line| line.split_once("dyno ").map(|(_, rest)| rest));
        let command = |rest: &str| rest.split("   ").next().unwrap_or_default().to_owned();
        lines.map(|rest| command(rest).split(" > ").next().unwrap_or_default().to_owned()).collect()
    }

    fn all(command: &Command, path: &str, check: &mut dyn FnMut(&str, &Command)) {
        check(path, command);
        for child in command.get_subcommands() {
            all(child, format!("{path} {}", child.get_name()).trim(), check);
        }
    }

    #[test]
    fn every_help_begins_with_examples_that_can_be_typed() {
        let mut count = 0;
        all(&Cli::command(), "", &mut |path, command| {
            let help = command.clone().render_long_help().to_string();
            assert!(help.starts_with("Example"), "{path}: {help}");
            for example in examples(&help) {
                assert!(example.starts_with(path), "{path}: {example}");
                let words = std::iter::once("dyno").chain(words(&example));
                Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{example}: {error}"));
                count += 1;
            }
        });
        assert!(count >= 20, "{count} examples");
    }

    /// The command lines of dyno in a document: those that are set in, each with the lines that it goes on in.
    fn commands(text: &str) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        let mut goes_on = false;
        for line in text.lines() {
            let code = line.split("  #").next().unwrap_or_default().trim();
            let begins = line.starts_with("    dyno ");
            let part = code.trim_end_matches('\\');
            match commands.last_mut() {
                Some(last) if goes_on => last.push_str(part),
                _ if begins => commands.push(part.to_owned()),
                _ => {}
            }
            goes_on = (begins || goes_on) && code.ends_with('\\');
        }
        commands
    }

    /// The words of a command, as a shell parts them: what is between quotes is one.
    fn words(command: &str) -> Vec<&str> {
        let parts = command.split('\'').enumerate();
        parts
            .flat_map(
                |(place, part)| if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() },
            )
            .collect()
    }

    #[test]
    fn every_command_in_the_documents_can_be_typed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = ["docs", "docs/tutorials"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
        let documents = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
        let documents = documents.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
        let mut count = 0;
        for path in documents.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name))) {
            for command in commands(&fs::read_to_string(&path).unwrap()) {
                let mut words = words(&command);
                // The folders of an example need not be here.
                for place in 1..words.len() {
                    if words[place - 1] == "--dir" {
                        words[place] = ".";
                    }
                }
                Cli::try_parse_from(words)
                    .unwrap_or_else(|error| panic!("{}: {command}: {error}", path.display()));
                count += 1;
            }
        }
        assert!(count >= 90, "{count} commands");
    }
}
