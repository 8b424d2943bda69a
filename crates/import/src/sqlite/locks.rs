//! The programs that have a file locked, as Linux lists them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::names::with_ending;

/// The other processes with a lock on a database or on its write-ahead log's index, each as `process 12 (name)`. None
/// where the kernel does not say, as of processes in other namespaces.
pub fn holders(database: &Path) -> Vec<String> {
    let index = with_ending(database, "-shm");
    let inode = |path: &Path| path.metadata().ok().map(|data| data.ino());
    let inodes: Vec<u64> = [database, Path::new(&index)].into_iter().filter_map(inode).collect();
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut processes: Vec<i32> = locks.lines().filter_map(|line| holder(line, &inodes)).collect();
    processes.sort_unstable();
    processes.dedup();
    processes.retain(|process| process.unsigned_abs() != std::process::id());
    processes.into_iter().map(named).collect()
}

/// The process of a line such as `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF`, if the file is one of these.
fn holder(line: &str, inodes: &[u64]) -> Option<i32> {
    let mut words = line.split_whitespace().skip(4);
    let process = words.next()?.parse().ok().filter(|process| *process > 0)?;
    let inode = words.next()?.rsplit(':').next()?.parse().ok()?;
    inodes.contains(&inode).then_some(process)
}

fn named(process: i32) -> String {
    match fs::read_to_string(format!("/proc/{process}/comm")) {
        Ok(name) => format!("process {process} ({})", name.trim_end()),
        Err(_) => format!("process {process}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_of_a_lock_on_the_file_is_found() {
        let line = "1: POSIX  ADVISORY  WRITE 1234 08:01:5678 1073741824 1073742335";
        assert_eq!(holder(line, &[5678]), Some(1234));
        assert_eq!(holder(line, &[5679]), None);
        assert_eq!(holder("2: OFDLCK ADVISORY  READ -1 08:01:5678 0 EOF", &[5678]), None);
        assert_eq!(holder("1: -> POSIX", &[5678]), None);
    }
}
