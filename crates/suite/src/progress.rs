//! Progress and cancellation of long work on another thread.

use std::fs::{self, File};
use std::io::{self, Error, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use nix::unistd::{SysconfVar, sysconf};

/// Shared by the work and the thread that waits for it.
#[derive(Debug, Clone, Default)]
pub struct PlanningProgress(Arc<State>);

#[derive(Debug, Default)]
struct State {
    stopped: AtomicBool,
    rendering: Mutex<Option<Rendering>>,
    written: AtomicU64,
    /// The number of steps of loops that a template has taken since it last wrote text.
    idle: AtomicU64,
}

/// A template that is being rendered.
#[derive(Debug, Clone)]
pub struct Rendering {
    /// Its file, line and test.
    pub place: String,
    /// Since when.
    pub began: Instant,
    /// dyno's memory at that moment, in bytes.
    pub memory: u64,
}

impl PlanningProgress {
    /// Asks the work to stop.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// True if the work was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Begins to count the steps of a template.
    pub fn begin_rendering(&self, place: String) {
        self.reset_steps();
        self.set(Some(Rendering { place, began: Instant::now(), memory: used_memory() }));
    }

    /// The template has written a piece of its text: the count of its steps begins anew.
    pub(crate) fn reset_steps(&self) {
        self.0.idle.store(0, Ordering::Relaxed);
    }

    /// Counts a step of a loop, and returns the number of steps since the template last wrote text.
    pub(crate) fn count_step(&self) -> u64 {
        self.0.idle.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Ends the template that is being rendered.
    pub fn end_rendering(&self) {
        self.set(None);
    }

    /// The template that is being rendered.
    pub fn rendering(&self) -> Option<Rendering> {
        self.0.rendering.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bytes of inputs written so far.
    pub fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    /// Creates a file that counts the bytes written to it, and refuses more after the work was asked to stop.
    pub fn create(&self, path: &Path) -> io::Result<ProgressFile> {
        Ok(ProgressFile { file: File::create(path)?, watch: self.clone() })
    }

    fn set(&self, rendering: Option<Rendering>) {
        *self.0.rendering.lock().unwrap_or_else(PoisonError::into_inner) = rendering;
    }
}

/// dyno's private resident memory, in bytes; 0 if the kernel does not report it.
pub fn used_memory() -> u64 {
    // The first three numbers, by proc(5): all pages, resident pages, and resident pages that are shared or of files.
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Vec<u64> = pages.split(' ').map_while(|number| number.trim().parse().ok()).collect();
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(0) as u64;
    match pages[..] {
        [_, resident, shared, ..] => resident.saturating_sub(shared) * size,
        _ => 0,
    }
}

/// A file that [`PlanningProgress::create`] made.
#[derive(Debug)]
pub struct ProgressFile {
    file: File,
    watch: PlanningProgress,
}

impl ProgressFile {
    /// Syncs the file to the device.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Write for ProgressFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            return Err(Error::other("the work was asked to stop"));
        }
        let written = self.file.write(bytes)?;
        self.watch.0.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
