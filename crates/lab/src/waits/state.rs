//! The state of a thread at the moment of a look: the kernel's `/proc/PID/task/TID/syscall` names the system
//! call in which it waits.

use std::fs;

use nix::libc::{self, c_long};

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadState {
    /// It is on a processor, or ready and waiting for one.
    Running,
    /// It waits until written data are on the device.
    Flush,
    /// It waits in another call on a file, or for a page of memory.
    Io,
    /// It waits for a lock on a file.
    FileLock,
    /// It waits for bytes or for room: of a socket, a pipe, or several of them.
    Peer,
    /// It sleeps for a time.
    Asleep,
    /// It waits for another thread.
    Futex,
    /// It waits for something else.
    Other,
}

/// The number of states.
pub const STATES: usize = 8;

const FLUSHES: &[c_long] = &[libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync, libc::SYS_syncfs];
const READS: &[c_long] = &[libc::SYS_read, libc::SYS_readv];
const WRITES: &[c_long] =
    &[libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64, libc::SYS_pwritev, libc::SYS_pwritev2];
const FILES: &[c_long] = &[
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_ftruncate,
    libc::SYS_truncate,
    libc::SYS_fallocate,
    libc::SYS_sync_file_range,
    libc::SYS_msync,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_madvise,
    libc::SYS_fstat,
    libc::SYS_getdents64,
    libc::SYS_io_getevents,
    libc::SYS_io_uring_enter,
];
const PEERS: &[c_long] = &[
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_pwait,
];
/// Calls that only some processors have.
#[cfg(target_arch = "x86_64")]
const MORE_FILES: &[c_long] =
    &[libc::SYS_open, libc::SYS_unlink, libc::SYS_rename, libc::SYS_stat, libc::SYS_lstat];
#[cfg(target_arch = "x86_64")]
const MORE_PEERS: &[c_long] = &[libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_wait];
#[cfg(not(target_arch = "x86_64"))]
const MORE_FILES: &[c_long] = &[];
#[cfg(not(target_arch = "x86_64"))]
const MORE_PEERS: &[c_long] = &[];

impl ThreadState {
    /// The state of a thread of a process by what its file says: `running`, or the number of a call and its arguments
    /// in hexadecimal, or -1 where it waits outside of a call.
    pub fn read(process: u32, text: &str) -> ThreadState {
        let mut words = text.split_ascii_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse::<c_long>().ok()) else {
            return ThreadState::Running;
        };
        let arguments: Vec<u64> =
            words.map_while(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()).collect();
        let argument = |place: usize| arguments.get(place).copied().unwrap_or(0);
        let any = |lists: &[&[c_long]]| lists.iter().any(|list| list.contains(&number));
        match number {
            // No call: a page that is not there yet.
            -1 => ThreadState::Io,
            _ if any(&[FLUSHES]) => ThreadState::Flush,
            libc::SYS_msync if argument(2) & libc::MS_SYNC as u64 != 0 => ThreadState::Flush,
            _ if any(&[WRITES]) && is_synced(process, number, &arguments) => ThreadState::Flush,
            _ if any(&[READS, WRITES]) && !is_file(process, argument(0)) => ThreadState::Peer,
            _ if any(&[READS, WRITES, FILES, MORE_FILES]) => ThreadState::Io,
            libc::SYS_fcntl | libc::SYS_flock => ThreadState::FileLock,
            _ if any(&[PEERS, MORE_PEERS]) => ThreadState::Peer,
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => ThreadState::Asleep,
            libc::SYS_futex | libc::SYS_semop | libc::SYS_semtimedop => ThreadState::Futex,
            _ => ThreadState::Other,
        }
    }

    /// True if the state says what is done, and not only that another thread or process is waited for.
    pub fn is_work(self) -> bool {
        matches!(self, ThreadState::Running | ThreadState::Flush | ThreadState::Io | ThreadState::FileLock)
    }
}

/// True if a descriptor is of a file or a device that is no terminal, and not of a socket or a pipe.
fn is_file(process: u32, descriptor: u64) -> bool {
    let target = fs::read_link(format!("/proc/{process}/fd/{descriptor}")).unwrap_or_default();
    target.is_absolute()
}

/// True if a write returns only when its bytes are on the device.
fn is_synced(process: u32, number: c_long, arguments: &[u64]) -> bool {
    let flags = arguments.get(5).copied().unwrap_or(0);
    if number == libc::SYS_pwritev2 && flags & (libc::RWF_DSYNC | libc::RWF_SYNC) as u64 != 0 {
        return true;
    }
    let descriptor = arguments.first().copied().unwrap_or(0);
    let about = fs::read_to_string(format!("/proc/{process}/fdinfo/{descriptor}")).unwrap_or_default();
    let flags =
        about.lines().find_map(|line| i32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_DSYNC != 0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    fn state(number: c_long, arguments: &[u64]) -> ThreadState {
        let words: Vec<String> = arguments.iter().map(|argument| format!("{argument:#x}")).collect();
        ThreadState::read(std::process::id(), &format!("{number} {} 0x7ffd 0x7f12", words.join(" ")))
    }

    #[test]
    fn a_call_says_what_its_thread_waits_for() {
        assert_eq!(ThreadState::read(1, "running\n"), ThreadState::Running);
        assert_eq!(ThreadState::read(1, "-1 0x7ffd 0x7f12\n"), ThreadState::Io);
        assert_eq!(state(libc::SYS_fdatasync, &[3, 0, 0, 0, 0, 0]), ThreadState::Flush);
        assert_eq!(state(libc::SYS_msync, &[0x1000, 4096, 4, 0, 0, 0]), ThreadState::Flush);
        assert_eq!(state(libc::SYS_msync, &[0x1000, 4096, 1, 0, 0, 0]), ThreadState::Io);
        assert_eq!(state(libc::SYS_futex, &[0; 6]), ThreadState::Futex);
        assert_eq!(state(libc::SYS_fcntl, &[0; 6]), ThreadState::FileLock);
        assert_eq!(state(libc::SYS_clock_nanosleep, &[0; 6]), ThreadState::Asleep);
        assert_eq!(state(libc::SYS_wait4, &[0; 6]), ThreadState::Other);
    }

    #[test]
    fn what_is_read_or_written_decides() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str, flags: i32| {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).custom_flags(flags);
            options.open(folder.path().join(name)).unwrap()
        };
        let (plain, synced) = (open("plain", 0), open("synced", libc::O_DSYNC));
        let (near, _far) = std::os::unix::net::UnixStream::pair().unwrap();
        let at = |descriptor: i32| [descriptor as u64, 0, 0, 0, 0, 0];
        assert_eq!(state(libc::SYS_write, &at(plain.as_raw_fd())), ThreadState::Io);
        assert_eq!(state(libc::SYS_pwrite64, &at(synced.as_raw_fd())), ThreadState::Flush);
        assert_eq!(state(libc::SYS_read, &at(near.as_raw_fd())), ThreadState::Peer);
        assert_eq!(state(libc::SYS_pread64, &at(plain.as_raw_fd())), ThreadState::Io);
        let mut in_one = at(plain.as_raw_fd());
        in_one[5] = libc::RWF_DSYNC as u64;
        assert_eq!(state(libc::SYS_pwritev2, &in_one), ThreadState::Flush);
    }
}
