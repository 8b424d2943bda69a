//! The C ABI, described by `include/dyno_gauge.h`.
//!
//! Objects are given to the caller as pointers and must be given back once. Null pointers are accepted.

use std::ffi::c_char;
use std::slice;

use dyno_protocol::Cost;

use crate::{Before, Gauge, Histogram, Ready, StoreSums, TableSums};

/// The version of the interface.
const VERSION: u32 = 4;

/// A gauge with what it read before the section.
struct Open {
    gauge: Gauge,
    ready: Option<Ready>,
    before: Before,
}

/// Gives something out.
fn give<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Takes something back and drops it.
///
/// # Safety
/// The pointer is null, or was given out and not taken back.
unsafe fn take<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// The bytes that a caller lends.
///
/// # Safety
/// `pointer` refers to `length` bytes, unless it is null or `length` is 0.
unsafe fn bytes<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    if pointer.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(pointer, length) }
}

#[unsafe(no_mangle)]
extern "C" fn dyno_gauge_version() -> u32 {
    VERSION
}

#[unsafe(no_mangle)]
extern "C" fn dyno_gauge_open(server: u32) -> *mut Open {
    let gauge = Gauge::open(if server == 0 { &[] } else { slice::from_ref(&server) });
    give(Open { gauge, ready: None, before: Before::default() })
}

// SAFETY, of this function and all below: the header says what callers promise.
#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_before(open: *mut Open) {
    if let Some(open) = unsafe { open.as_mut() } {
        open.before = match open.ready.take() {
            Some(ready) => open.gauge.before_at_work(&ready),
            None => open.gauge.before(),
        };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_add_node(open: *mut Open, server: u32) {
    if let Some(open) = unsafe { open.as_mut() } {
        open.gauge.add_node(server);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_prepare(open: *mut Open) {
    if let Some(open) = unsafe { open.as_mut() } {
        open.ready = Some(open.gauge.prepare());
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_after(open: *mut Open, process: *mut Cost, server: *mut Cost) -> i32 {
    let (open, process, server) = unsafe { (open.as_mut(), process.as_mut(), server.as_mut()) };
    let Some(open) = open else { return 0 };
    let (spent, by_server) = open.gauge.after(&open.before);
    if let Some(process) = process {
        *process = spent;
    }
    match server.zip(by_server) {
        Some((server, spent)) => {
            *server = spent;
            1
        }
        None => 0,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_close(open: *mut Open) {
    unsafe { take(open) };
}

#[unsafe(no_mangle)]
extern "C" fn dyno_gauge_table_new(columns: usize) -> *mut TableSums {
    give(TableSums::new(columns))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_table_add(
    table: *mut TableSums,
    cells: *const *const u8,
    lengths: *const usize,
) {
    let Some(table) = (unsafe { table.as_mut() }) else { return };
    if cells.is_null() || lengths.is_null() {
        return;
    }
    let columns = 0..table.columns();
    table.add(columns.map(|column| unsafe { bytes(*cells.add(column), *lengths.add(column)) }));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_table_sums(table: *const TableSums, sums: *mut u64) {
    if let Some(table) = unsafe { table.as_ref() }.filter(|_| !sums.is_null()) {
        for (place, sum) in table.sums().enumerate() {
            unsafe { sums.add(place).write(sum) };
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_table_free(table: *mut TableSums) {
    unsafe { take(table) };
}

#[unsafe(no_mangle)]
extern "C" fn dyno_gauge_store_new() -> *mut StoreSums {
    give(StoreSums::default())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_store_add(
    store: *mut StoreSums,
    key: *const u8,
    key_length: usize,
    value: *const u8,
    value_length: usize,
) {
    if let Some(store) = unsafe { store.as_mut() } {
        unsafe { store.add(bytes(key, key_length), bytes(value, value_length)) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_store_sums(store: *const StoreSums, sums: *mut u64) {
    if let Some(store) = unsafe { store.as_ref() }.filter(|_| !sums.is_null()) {
        for (place, sum) in store.sums().into_iter().enumerate() {
            unsafe { sums.add(place).write(sum) };
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_store_free(store: *mut StoreSums) {
    unsafe { take(store) };
}

#[unsafe(no_mangle)]
extern "C" fn dyno_gauge_histogram_new() -> *mut Histogram {
    give(Histogram::default())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_histogram_record(histogram: *mut Histogram, nanoseconds: u64) {
    if let Some(histogram) = unsafe { histogram.as_mut() } {
        histogram.record(nanoseconds);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_histogram_text(
    histogram: *const Histogram,
    text: *mut c_char,
    room: usize,
) -> usize {
    let Some(histogram) = (unsafe { histogram.as_ref() }) else { return 0 };
    let encoded = histogram.response().0;
    if encoded.len() < room && !text.is_null() {
        unsafe {
            text.copy_from_nonoverlapping(encoded.as_ptr().cast(), encoded.len());
            text.add(encoded.len()).write(0);
        }
    }
    encoded.len()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dyno_gauge_histogram_free(histogram: *mut Histogram) {
    unsafe { take(histogram) };
}
