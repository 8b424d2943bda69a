//! The peak of a process's heap: this library stands before the C library's functions of memory (`LD_PRELOAD`) and
//! counts the bytes that are allocated.
//!
//! A block counts with the bytes that the C library made usable, which may be some more than were asked for. Memory that
//! a program has mapped without these functions is not part of it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

/// The errors of `posix_memalign`, as the C library numbers them.
const NO_MEMORY: c_int = 12;
const INVALID: c_int = 22;
/// The size of a page on the processors that dyno runs on, for functions that no program of today calls.
const PAGE: usize = 4096;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(memory: *mut c_void);
    fn malloc_usable_size(memory: *mut c_void) -> usize;
}

/// The bytes that are allocated now. It may be below zero: what was allocated before this library was loaded can be freed
/// after.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// The most of them since the section began.
static PEAK: AtomicI64 = AtomicI64::new(0);
/// Those where the section began.
static START: AtomicI64 = AtomicI64::new(0);

/// A section begins.
#[unsafe(no_mangle)]
pub extern "C" fn dyno_heap_begin() {
    let live = LIVE.load(Ordering::Relaxed);
    START.store(live, Ordering::Relaxed);
    PEAK.store(live, Ordering::Relaxed);
}

/// The most bytes that were allocated at one time since the section began, above those that were allocated then.
#[unsafe(no_mangle)]
pub extern "C" fn dyno_heap_peak() -> u64 {
    let peak = PEAK.load(Ordering::Relaxed) - START.load(Ordering::Relaxed);
    u64::try_from(peak).unwrap_or(0)
}

/// The bytes of a block; 0 of none.
fn size(memory: *mut c_void) -> i64 {
    // SAFETY: the block is one that the C library gave out, or null.
    let bytes = unsafe { malloc_usable_size(memory) };
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn add(bytes: i64) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(live, Ordering::Relaxed);
}

/// Counts a block that was given out.
fn given(memory: *mut c_void) -> *mut c_void {
    add(size(memory));
    memory
}

// SAFETY, of all functions below: callers promise what the C library asks of them, and each passes it on.

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    given(unsafe { __libc_malloc(size) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    given(unsafe { __libc_calloc(count, size) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(memory: *mut c_void, bytes: usize) -> *mut c_void {
    let before = size(memory);
    let new = unsafe { __libc_realloc(memory, bytes) };
    // Without memory the old block stays, unless none was asked for.
    if !new.is_null() || bytes == 0 {
        add(size(new) - before);
    }
    new
}

#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(memory: *mut c_void, count: usize, size: usize) -> *mut c_void {
    // More than there is: the C library refuses it, and says so.
    unsafe { realloc(memory, count.saturating_mul(size)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(memory: *mut c_void) {
    add(-size(memory));
    unsafe { __libc_free(memory) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    given(unsafe { __libc_memalign(alignment, size) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    unsafe { memalign(alignment, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn valloc(size: usize) -> *mut c_void {
    unsafe { memalign(PAGE, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pvalloc(size: usize) -> *mut c_void {
    unsafe { memalign(PAGE, size.next_multiple_of(PAGE)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return INVALID;
    }
    let memory = unsafe { memalign(alignment, size) };
    if memory.is_null() {
        return NO_MEMORY;
    }
    unsafe { *place = memory };
    0
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::ptr::null_mut;

    use super::*;

    /// The test's own program has these functions in place of the C library's.
    #[test]
    fn the_peak_is_the_most_at_one_time_above_the_beginning() {
        const MIB: usize = 1 << 20;
        let kept = black_box(vec![1_u8; 8 * MIB]);
        dyno_heap_begin();
        drop(black_box(vec![1_u8; 4 * MIB]));
        drop(black_box(vec![1_u8; 3 * MIB]));
        drop(kept);
        drop(black_box(vec![1_u8; 6 * MIB]));
        let mut grown = Vec::with_capacity(MIB);
        grown.resize(2 * MIB, 1_u8);
        let peak = dyno_heap_peak();
        drop(black_box(grown));
        // The largest was 4 MiB next to what was kept; the threads of the test's harness allocate little.
        assert!((4 * MIB as u64..4 * MIB as u64 + (MIB as u64) / 2).contains(&peak), "{peak}");
    }

    #[test]
    fn blocks_are_aligned_as_they_were_asked_for() {
        let mut place = null_mut();
        for alignment in [8, 64, 4096] {
            // SAFETY: the place is one for a pointer, and the block is given back once.
            unsafe {
                assert_eq!(posix_memalign(&raw mut place, alignment, 100), 0);
                assert!((place as usize).is_multiple_of(alignment) && size(place) >= 100);
                free(place);
                assert_eq!(posix_memalign(&raw mut place, 12, 100), INVALID);
            }
        }
        // SAFETY: no block is had, so none is to be given back.
        unsafe { assert!(reallocarray(null_mut(), usize::MAX, 2).is_null()) };
    }
}
