//! Builds as their files show them: equal versions of different files, and one file under two names.

use dyno_record::{ContenderRecord, Content, Executed};

use crate::judge::Verdict;

/// The differences between contenders' files that their names and versions do not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Builds {
    /// Different files that give one version of an engine.
    Differ {
        /// The engine and its version.
        version: String,
        /// Each file, with the label of the first contender that it is of.
        files: Vec<(String, Content)>,
    },
    /// One file that several builds are.
    Same {
        /// A contender of each build.
        labels: Vec<String>,
        /// The file.
        file: Content,
    },
}

/// The differences between the files of the contenders shown. Settings and variants of one build are one build.
pub fn builds(verdict: &Verdict) -> Vec<Builds> {
    let known: Vec<(&ContenderRecord, &Content)> = verdict
        .shown_contenders()
        .filter(|(_, contender)| !contender.harness)
        .filter_map(|(_, contender)| Some((contender, contender.executed.engine.as_ref()?)))
        .collect();
    let mut found = Vec::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (contender, _) in &known {
        let Some(version) = version(contender) else { continue };
        let key = (contender.engine.as_str(), version);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let alike = known.iter().filter(|(other, _)| {
            other.engine == contender.engine
                && other.driver == contender.driver
                && self::version(other) == Some(version)
        });
        let mut files: Vec<(String, Content)> = Vec::new();
        for (other, file) in alike {
            if !files.iter().any(|(_, known)| known == *file) {
                files.push((other.label.clone(), (*file).clone()));
            }
        }
        if files.len() > 1 {
            found.push(Builds::Differ { version: format!("{} {version}", contender.engine), files });
        }
    }
    found.extend(same(&known));
    found
}

/// Files that are there under the names of several builds.
fn same(known: &[(&ContenderRecord, &Content)]) -> Vec<Builds> {
    let mut files: Vec<&Content> = Vec::new();
    let mut found = Vec::new();
    for (_, file) in known {
        if files.contains(file) {
            continue;
        }
        files.push(file);
        let mut builds: Vec<&ContenderRecord> = Vec::new();
        for (contender, _) in known.iter().filter(|(_, other)| other == file) {
            if !builds.iter().any(|known| known.build == contender.build) {
                builds.push(contender);
            }
        }
        if builds.len() > 1 {
            let labels = builds.iter().map(|contender| contender.label.clone()).collect();
            found.push(Builds::Same { labels, file: (*file).clone() });
        }
    }
    found
}

fn version(contender: &ContenderRecord) -> Option<&str> {
    contender.hello.as_ref().map(|hello| hello.engine_version.as_str())
}

/// The files of a contender that hold something else than in an earlier run: what each is, and both contents. Files that
/// are not known of both runs are left out.
pub fn changed_files<'a>(
    old: &'a ContenderRecord,
    new: &'a ContenderRecord,
) -> Vec<(&'static str, &'a Content, &'a Content)> {
    let files = |record: &'a ContenderRecord| {
        let Executed { engine, client, runner } = &record.executed;
        [("the engine's file", engine), ("the client library", client), ("the runner", runner)]
    };
    let both = files(old).into_iter().zip(files(new));
    both.filter_map(|((what, old), (_, new))| Some((what, old.as_ref()?, new.as_ref()?)))
        .filter(|(_, old, new)| old != new)
        .collect()
}
