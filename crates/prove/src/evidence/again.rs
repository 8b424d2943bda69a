//! Looks again at evidence. Another user may have put together what is in its folder.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_files::{Found, HeldFolder};
use nix::unistd::Uid;

use super::{ABOUT, DISK, FILES, RecheckFacts};
use crate::content::Content;
use crate::context::{ProofContext, StorageKind};
use crate::disk::files::SIZE;
use crate::errors;
use crate::image::Image;
use crate::judge::{Losses, judge};
use crate::subject::Subject;
use crate::tree::Tree;

/// The longest facts that are read, in bytes: those of a million commits.
const LONGEST_FACTS: u64 = 64 << 20;

/// A folder of evidence. It is held open, so that what is looked at is in the folder whose owner was known.
#[derive(Debug)]
pub struct KeptEvidence {
    path: PathBuf,
    folder: HeldFolder,
}

impl KeptEvidence {
    /// Opens a folder that the user named.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<KeptEvidence> {
        // The user may name it by a link.
        let folder = HeldFolder::open(&path.join("."));
        let folder = folder.with_context(|| format!("cannot open {}", path.display()))?;
        Ok(KeptEvidence { path: path.to_owned(), folder })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if only users whom dyno trusts can have put into it what is there: root, and the one who runs dyno.
    ///
    /// # Errors
    /// The system does not say it.
    pub fn is_own(&self) -> Result<bool> {
        Ok(self.folder.is_own()?)
    }

    /// The facts that were kept.
    ///
    /// # Errors
    /// Nothing was kept there.
    pub fn facts(&self) -> Result<RecheckFacts> {
        let shown =
            || format!("cannot read {}, which dyno prove --keep writes", self.path.join(ABOUT).display());
        let read = || io::read_to_string(self.file(ABOUT, LONGEST_FACTS)?.take(LONGEST_FACTS));
        let text = read().with_context(shown)?;
        serde_json::from_str(&text).with_context(shown)
    }

    /// The disk or the files as the cut left them.
    fn content(&self, storage: StorageKind) -> Result<Content> {
        let shown = |name: &str| format!("cannot read {}", self.path.join(name).display());
        Ok(match storage {
            StorageKind::Disk(_) => {
                let read = || Image::read(&self.file(DISK, SIZE)?);
                Content::Disk(read().with_context(|| shown(DISK))?)
            }
            StorageKind::Files | StorageKind::Folder => {
                let read = || Tree::read(&self.folder.folder(FILES)?);
                Content::Files(read().with_context(|| shown(FILES))?)
            }
        })
    }

    /// A regular file that is no longer than dyno makes one.
    fn file(&self, name: &str, longest: u64) -> io::Result<File> {
        let file = self.folder.file(Path::new(name))?;
        if file.metadata()?.len() > longest {
            let why = format!("it is longer than {longest} bytes, and dyno keeps none so long");
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        Ok(file)
    }
}

impl ProofContext {
    /// Looks at a disk or at files that were kept.
    ///
    /// # Errors
    /// They cannot be read, the file system on the disk cannot be mounted, or what is on it is not what an engine leaves.
    pub fn again(&self, subject: &dyn Subject, kept: &KeptEvidence, facts: &RecheckFacts) -> Result<Losses> {
        let content = kept.content(self.storage)?;
        if let Content::Files(tree) = &content {
            check_owners(tree, subject.accounts())?;
        }
        let stand = self.stand(&content)?;
        errors::make_room(stand.folder());
        let found = subject.check_accepted(stand.folder(), &accept)?;
        stand.end()?;
        if let Some(why) = found.late {
            bail!("the data could not be looked at: {why}; give it more time by --timeout");
        }
        let may_have = |commit| facts.begun.as_ref().is_none_or(|begun| begun.contains(&commit));
        Ok(judge(&found, &facts.acknowledged, subject.before(), may_have, subject.is_in_order()))
    }
}

/// Refuses files of other accounts than those that own a subject's files: as root, dyno would give copies away.
fn check_owners(tree: &Tree, accounts: Option<Vec<Uid>>) -> Result<()> {
    let Some(accounts) = accounts.filter(|_| Uid::effective().is_root()) else { return Ok(()) };
    match tree.owners().into_iter().find(|&owner| !accounts.contains(&Uid::from_raw(owner))) {
        None => Ok(()),
        Some(owner) => bail!(
            "some of the kept files belong to {}, and what this contender leaves belongs to root or to the account of its \
             server; give them back to these by chown",
            dyno_files::user_name(owner)
        ),
    }
}

/// Accepts a folder in which no link and no device leads out.
fn accept(folder: &Path) -> Result<()> {
    check_entries(&HeldFolder::open(folder)?, Path::new(""))
}

/// Refuses what would lead an engine out of the folder in which it works, as root perhaps.
fn check_entries(folder: &HeldFolder, within: &Path) -> Result<()> {
    // The engine cannot read either what dyno cannot: the cut has broken it.
    for name in folder.names().unwrap_or_default() {
        let path = within.join(&name);
        match folder.find(&name) {
            Ok((Found::Folder(inner), _)) => check_entries(&inner, &path)?,
            Ok((Found::Link(to), _)) if !stays_within(&to, within) => {
                bail!("{} is a link to {}, outside of what was kept; remove it", path.display(), to.display())
            }
            Ok((Found::Device, _)) => {
                bail!("{} is a device, which no engine leaves; remove it", path.display())
            }
            _ => {}
        }
    }
    Ok(())
}

/// True if a link in a folder leads to something in the same tree, whatever other such links stand on the way.
fn stays_within(to: &Path, folder: &Path) -> bool {
    let parts: Vec<Component> = to.components().filter(|part| *part != Component::CurDir).collect();
    // Behind a name, which may be that of a link, it is not known where `..` leads.
    let (up, down) = parts.split_at(parts.iter().take_while(|part| **part == Component::ParentDir).count());
    let is_down = down.iter().all(|part| matches!(part, Component::Normal(_)));
    is_down && up.len() <= folder.components().count()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::time::Duration;

    use dyno_lab::file_system::Mounted;
    use dyno_launch::Interrupts;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;
    use crate::disk::files::System;
    use crate::subject::{Encrypted, Program};

    const DISKS: StorageKind = StorageKind::Disk(System::Ext4);
    const NOBODY: u32 = 65534;

    /// The error in words.
    fn said<T>(outcome: Result<T>) -> String {
        outcome.map_or_else(|error| format!("{error:#}"), |_| "nothing is wrong".to_owned())
    }

    #[test]
    fn only_regular_files_of_evidence_are_read_and_none_that_is_too_long() {
        let place = tempfile::tempdir().unwrap();
        let kept = KeptEvidence::open(place.path()).unwrap();
        let refused = |error: &str| {
            for found in [said(kept.facts()), said(kept.content(DISKS))] {
                assert!(found.contains(place.path().to_str().unwrap()) && found.contains(error), "{found}");
            }
        };
        let each = |make: &dyn Fn(&Path)| {
            for path in [ABOUT, DISK].map(|name| place.path().join(name)) {
                let _ = fs::remove_file(&path);
                make(&path);
            }
        };
        refused("No such file");
        each(&|path| mkfifo(path, Mode::S_IRWXU).unwrap());
        refused("it is not a regular file");
        each(&|path| symlink("/etc/passwd", path).unwrap());
        refused("it is not a regular file");
        each(&|path| File::create(path).unwrap().set_len(SIZE + 1).unwrap());
        refused("it is longer than");
        symlink("/etc", place.path().join(FILES)).unwrap();
        assert!(said(kept.content(StorageKind::Files)).contains("Not a directory"));
        // The user may name the folder itself by a link.
        symlink(place.path(), place.path().join("link")).unwrap();
        KeptEvidence::open(&place.path().join("link")).unwrap();
    }

    #[test]
    fn evidence_that_others_can_change_is_not_the_users_own() {
        let place = tempfile::tempdir().unwrap();
        let is_own = || KeptEvidence::open(place.path()).unwrap().is_own().unwrap();
        assert!(is_own());
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(!is_own());
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_own());
        if Uid::effective().is_root() {
            chown(place.path(), Some(NOBODY), None).unwrap();
            assert!(!is_own());
        }
    }

    #[test]
    fn files_of_other_accounts_are_refused() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: only root gives files away");
        }
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("inner")).unwrap();
        fs::write(place.path().join("inner/file"), "text").unwrap();
        chown(place.path().join("inner/file"), Some(NOBODY), None).unwrap();
        let tree = Tree::of(place.path()).unwrap();
        let root = Uid::effective();
        assert!(
            said(check_owners(&tree, Some(vec![root])))
                .starts_with("some of the kept files belong to the user")
        );
        check_owners(&tree, Some(vec![root, Uid::from_raw(NOBODY)])).unwrap();
        // A user's own program may work under any account.
        check_owners(&tree, None).unwrap();
    }

    #[test]
    fn links_in_encrypted_evidence_are_refused_once_they_are_in_the_clear() {
        let place = tempfile::tempdir().unwrap();
        let key = dyno_lab::key::obtain(None).unwrap();
        let placement = dyno_lab::placement::choose(None, None).unwrap();
        match Mounted::new(place.path(), &key, &placement) {
            Ok(mounted) => symlink("/etc/passwd", mounted.clear().join("data")).unwrap(),
            Err(error) => return eprintln!("not run: {error:#}"),
        }
        accept(place.path()).unwrap();
        let (patience, interrupts) = (Duration::from_secs(60), Interrupts::default());
        let inner =
            Program { command: String::new(), check: "cat {dir}/data".to_owned(), patience, interrupts };
        let subject = Encrypted { inner: Box::new(inner), key, placement };
        let checked = said(subject.check_accepted(place.path(), &accept));
        assert!(checked.starts_with("data is a link to /etc/passwd, outside of what was kept"), "{checked}");
    }

    #[test]
    fn links_that_lead_out_of_evidence_are_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("one/two")).unwrap();
        let link = place.path().join("one/two/link");
        for (to, is_refused) in [
            ("file", false),
            ("./three/file", false),
            ("..", false),
            ("../../file", false),
            ("../../..", true),
            ("../../../file", true),
            ("three/../file", true),
            ("/etc/passwd", true),
        ] {
            let _ = fs::remove_file(&link);
            symlink(to, &link).unwrap();
            let checked = said(accept(place.path()));
            assert_eq!(checked.starts_with("one/two/link is a link to"), is_refused, "{to}: {checked}");
        }
    }
}
