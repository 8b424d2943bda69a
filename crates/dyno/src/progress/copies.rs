//! The copies of a library that `dyno calibrate` runs, as progress names them: they lie in a temporary folder, whose name
//! says nothing to a reader.

use std::path::Path;

use dyno_lab::scratch::PREFIX;

/// The text with each path of such a copy replaced by its number: `sqlite@copy-2:nosync`.
pub(super) fn by_number(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("@/") {
        let path = &rest[start + 1..];
        let path = &path[..path.find([':', ',', ' ', '\n']).unwrap_or(path.len())];
        shown.push_str(&rest[..=start]);
        match number(Path::new(path)) {
            Some(number) => shown.push_str(&format!("copy-{number}")),
            None => shown.push_str(path),
        }
        rest = &rest[start + 1 + path.len()..];
    }
    shown + rest
}

/// The number of a copy, by its path.
fn number(path: &Path) -> Option<&str> {
    let mut folders = path.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    let (_, number) = folders.next()?.split_once("-copy-")?;
    folders.next()?.starts_with(PREFIX).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::by_number;

    #[test]
    fn copies_have_a_number_and_other_libraries_their_path() {
        let line = "block 1: sqlite@/var/tmp/dyno-scratch-9fK2/0-copy-2/libsqlite3.so:nosync 61 ms, sqlite@/opt/a.so 60 ms";
        assert_eq!(by_number(line), "block 1: sqlite@copy-2:nosync 61 ms, sqlite@/opt/a.so 60 ms");
        assert_eq!(by_number("sqlite@/home/0-copy-2/a.so"), "sqlite@/home/0-copy-2/a.so");
        assert_eq!(by_number("postgres@17 x"), "postgres@17 x");
    }
}
