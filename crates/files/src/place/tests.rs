use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use super::*;

const STRANGER: u32 = 65534;
const OTHER: u32 = 65533;

/// The path of a file that a path leads to.
fn file(path: &Path) -> PathBuf {
    match Place::of(path).unwrap() {
        Place::File(place) => place.path(),
        other => panic!("{} leads to {other:?}", path.display()),
    }
}

fn refusal(path: &Path) -> String {
    format!("{:#}", Place::of(path).expect_err("it was accepted"))
}

/// A folder that belongs to a user, with a mode; none where this is not root.
fn folder_of(owner: u32, mode: u32) -> Option<TempDir> {
    if !Uid::effective().is_root() {
        eprintln!("not run: another user's files need root");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
    chown(folder.path(), Some(owner), Some(owner)).unwrap();
    Some(folder)
}

#[test]
fn links_lead_to_their_target_and_no_further() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    symlink("second", path("first")).unwrap();
    symlink(path("target"), path("second")).unwrap();
    symlink("round", path("round")).unwrap();
    symlink(".", path("here")).unwrap();
    assert_eq!(file(&path("first")), path("target"));
    assert_eq!(file(&path("here/first")), path("target"));
    assert_eq!(file(&path("here/../file")), path("../file"));
    assert!(refusal(&path("round")).contains("links"));
    assert!(refusal(&path("here")).contains("is a folder"));
    assert!(refusal(folder.path()).contains("is a folder"));
    assert!(matches!(Place::of(Path::new("/dev/null")), Ok(Place::Device(_))));
    assert!(matches!(Place::of(Path::new("/dev/stdout")), Ok(Place::Descriptor(1))));
    assert!(matches!(Place::of(Path::new("/dev/fd/7")), Ok(Place::Descriptor(7))));
}

#[test]
fn folders_on_the_way_are_made_and_keep_their_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let Place::File(place) = Place::of(&path("a/b/file")).unwrap() else { panic!("it is no file") };
    // Another user who owns the folder exchanges what stands at the name.
    fs::rename(path("a/b"), path("a/moved")).unwrap();
    symlink("/etc", path("a/b")).unwrap();
    fs::write(place.within(), "text").unwrap();
    assert_eq!(fs::read_to_string(path("a/moved/file")).unwrap(), "text");
}

#[test]
fn a_strangers_link_is_followed_only_where_its_maker_is_known() {
    // The stranger's folder, two that all share, and a third user's.
    for (owner, mode) in [(STRANGER, 0o755), (0, 0o1777), (0, 0o777), (OTHER, 0o755)] {
        let Some(folder) = folder_of(owner, mode) else { return };
        let path = |name: &str| folder.path().join(name);
        symlink("/etc/passwd", path("link")).unwrap();
        symlink("/etc", path("around")).unwrap();
        for link in ["link", "around"] {
            lchown(path(link), Some(STRANGER), Some(STRANGER)).unwrap();
        }
        let said = refusal(&path("link"));
        assert!(said.contains("belongs to the user") && said.contains("name /etc/passwd"), "{said}");
        let said = refusal(&path("around/passwd"));
        assert!(said.contains("around is a link") && said.contains("name /etc"), "{said}");
        assert!(HeldFolder::named(&path("around/new")).is_err());
        // Root's link, and a link of another user in a folder of root's, are what root wants.
        lchown(path("link"), Some(0), Some(0)).unwrap();
        assert_eq!(file(&path("link")), Path::new("/etc/passwd"));
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        chown(folder.path(), Some(0), Some(0)).unwrap();
        assert_eq!(file(&path("around/passwd")), Path::new("/etc/passwd"));
    }
}

#[test]
fn a_strangers_file_is_not_written_to() {
    // A folder's owner and mode, the owner of what is in it, and whether a file and a FIFO are used.
    let cases = [
        (0, 0o1777, STRANGER, (false, false)),
        (0, 0o777, STRANGER, (false, false)),
        (OTHER, 0o755, STRANGER, (false, false)),
        // A file in its owner's folder is replaced there; a link in it is not followed.
        (STRANGER, 0o755, STRANGER, (true, false)),
        (STRANGER, 0o1777, STRANGER, (true, false)),
        // Root put it there, or let it be put there.
        (0, 0o755, STRANGER, (true, true)),
        (0, 0o1777, 0, (true, true)),
        (STRANGER, 0o755, 0, (true, true)),
    ];
    for (owner, mode, of, used) in cases {
        let Some(folder) = folder_of(owner, mode) else { return };
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "theirs").unwrap();
        mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
        for name in ["file", "fifo"] {
            chown(path(name), Some(of), Some(of)).unwrap();
        }
        let found = (Place::of(&path("file")).is_ok(), Place::of(&path("fifo")).is_ok());
        assert_eq!(found, used, "a folder of {owner} with {mode:o}, a file of {of}");
        if !used.0 {
            let said = refusal(&path("file"));
            assert!(said.contains("belongs to the user") && said.contains("name another file"), "{said}");
        }
    }
}
