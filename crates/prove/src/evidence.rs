//! Evidence: the smallest cut that shows a loss, kept in a folder with the disk that it left, all that was written to
//! that disk before, and a script that looks at it again.

mod again;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_files::HeldFolder;
use nix::sys::stat::Mode;
use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::context::{ProofContext, StorageKind};
use crate::cuts::{Cut, KeptWrites, Replay, unflushed};
use crate::disk::log::Entry;
use crate::history::{History, Line};
use crate::judge::{Losses, judge_at, name};
use crate::subject::Subject;
pub use again::KeptEvidence;

const DISK: &str = "disk.img";
const FILES: &str = "files";
const SEQUENCE: &str = "sequence.txt";
const ABOUT: &str = "about.json";
const SCRIPT: &str = "repeat.sh";
/// The mode of files of evidence, which may hold what no other user is to see.
const READABLE: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);
/// The number of smaller cuts that are tried.
const TRIES: usize = 16;

/// The facts that a repeated check needs.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecheckFacts {
    /// The label of the subject that lost something.
    pub label: String,
    /// A description of the cut, for people.
    pub cut: String,
    /// The commits that were acknowledged before.
    pub acknowledged: BTreeSet<u64>,
    /// Those that may be there; absent where any may.
    #[serde(default)]
    pub begun: Option<BTreeSet<u64>>,
    /// The acknowledged commits that are missing.
    pub lost: BTreeSet<u64>,
    /// The other errors.
    pub broken: Vec<String>,
}

impl ProofContext {
    /// Makes a cut that did harm as small as it still does, and keeps it in a new folder within `place`, which is
    /// returned. `again` are the arguments by which dyno looks for the same subject.
    ///
    /// # Errors
    /// It cannot be written, or dyno is asked to stop.
    pub fn keep(
        &self,
        subject: &dyn Subject,
        (base, history): (&Content, &History),
        cut: &Cut,
        (label, again): (&str, &[String]),
        place: &Path,
    ) -> Result<PathBuf> {
        let (cut, verdict) = self.smallest(subject, base, history, cut)?;
        let letters = label.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
        let acknowledged = history.promised(cut.place);
        let about = RecheckFacts {
            label: label.to_owned(),
            cut: format!("the power fails at entry {}; the disk keeps {}", cut.place, cut.kept),
            begun: history.begun(cut.place),
            acknowledged,
            lost: verdict.lost,
            broken: verdict.broken,
        };
        let content = Replay::new(history.entries(), base.clone()).content(&cut);
        let texts = [
            (SEQUENCE, READABLE, sequence(subject, history, &cut)),
            (ABOUT, READABLE, serde_json::to_string_pretty(&about)?),
            (SCRIPT, Mode::S_IRWXU, script(&about, again, self.storage)),
        ];
        // The evidence of an earlier proof stays as it is.
        let made = HeldFolder::named(place)?.make_fresh(&letters.take(60).collect::<String>())?;
        let save = || save(&content, &texts, &made);
        save().with_context(|| format!("cannot write to {}", made.path().display()))?;
        Ok(made.path().to_owned())
    }

    /// The first of some cuts at the same place that keep less and still do harm.
    fn smallest(
        &self,
        subject: &dyn Subject,
        base: &Content,
        history: &History,
        cut: &Cut,
    ) -> Result<(Cut, Losses)> {
        let less = [KeptWrites::None].into_iter().chain((1..TRIES).map(KeptWrites::First));
        let less = less.map(|kept| Cut { kept, why: cut.why, place: cut.place });
        for cut in less.chain([cut.clone()]) {
            self.interrupts.check()?;
            let content = Replay::new(history.entries(), base.clone()).content(&cut);
            let Some((found, _)) = self.look(subject, &content)? else { continue };
            if found.late.is_some() {
                continue;
            }
            let verdict = judge_at(subject, history, cut.place, &found);
            if !verdict.is_survived() {
                return Ok((cut, verdict));
            }
        }
        bail!("the harm of a cut did not come again, so it is not kept")
    }
}

/// Writes the content that the cut left, and texts with their names and modes, into a new folder.
fn save(content: &Content, texts: &[(&str, Mode, String)], folder: &HeldFolder) -> Result<()> {
    match content {
        Content::Disk(image) => image.write(&folder.make_file(DISK, READABLE)?)?,
        Content::Files(tree) => tree.write_into(&folder.make_folder(FILES)?)?,
    }
    for (name, mode, text) in texts {
        folder.make_file(name, *mode)?.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Everything up to the cut, a line each.
fn sequence(subject: &dyn Subject, history: &History, cut: &Cut) -> String {
    let mut text =
        "What was asked of the disk, from the beginning to the cut; bytes and offsets in decimal.\n"
            .to_owned();
    for (number, entry) in history.entries()[..cut.place].iter().enumerate() {
        let what = match entry {
            Entry::Write { offset, bytes } => format!("write {} bytes at {offset}", bytes.len()),
            Entry::Flush => "flush".to_owned(),
            Entry::Text(text) => spoken(subject, String::from_utf8_lossy(text).trim()),
            Entry::Refused => "an error".to_owned(),
            Entry::File(op) => op.describe(),
        };
        let _ = writeln!(text, "{number:>6} {}", what.chars().take(160).collect::<String>());
    }
    let unflushed = unflushed(history.entries(), cut.place).len();
    let _ = writeln!(
        text,
        "       The power fails. {unflushed} writes were not flushed; the disk keeps {}.",
        cut.kept
    );
    text
}

/// A program's line of output in words, with its commits by their names.
fn spoken(subject: &dyn Subject, line: &str) -> String {
    let commit = |number| name(number, subject.is_in_order());
    match subject.read(line) {
        Line::Begins(number) => format!("the program begins {}", commit(number)),
        Line::Acknowledged(number) => format!("the program acknowledges {}", commit(number)),
        Line::Upkeep(_) | Line::Other => format!("the program says: {line}"),
    }
}

/// A script that looks again.
fn script(about: &RecheckFacts, again: &[String], storage: StorageKind) -> String {
    let quoted = |text: &String| format!("'{}'", text.replace('\'', "'\\''"));
    let arguments: Vec<String> = again.iter().map(quoted).collect();
    let lost = about.lost.len();
    let broken = match about.broken.is_empty() {
        true => String::new(),
        false => format!(" {}", about.broken.join("; ").replace('\n', " ")),
    };
    let what = match storage {
        StorageKind::Disk(system) => format!(
            "# {DISK} is an {} as the cut left it, {SEQUENCE} what was written to it before. As root, on a copy:\n\
             #   cp --sparse=always {DISK} copy.img && mount -o loop copy.img /mnt",
            system.name()
        ),
        StorageKind::Files | StorageKind::Folder => {
            format!("# {FILES} is what the cut left, {SEQUENCE} what was done to it before.")
        }
    };
    format!(
        "#!/bin/sh\n\
         # {}, {}.\n\
         # {} commits were acknowledged, {lost} of them are gone.{broken}\n\
         {what}\n\
         # This looks again by dyno, and ends with 0 if the same is wrong.\n\
         exec \"${{DYNO:-dyno}}\" prove --again \"$(dirname \"$0\")\" {} \"$@\"\n",
        about.label,
        about.cut,
        about.acknowledged.len(),
        arguments.join(" ")
    )
}
