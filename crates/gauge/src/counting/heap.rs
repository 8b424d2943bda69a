//! The peak of this process's heap within a section, from the library that dyno may load before all others
//! (`crates/heap`).

use std::ffi::CStr;
use std::mem::transmute;

use nix::libc::{RTLD_DEFAULT, dlsym};

/// The functions of that library.
#[derive(Debug, Clone, Copy)]
pub struct HeapPeak {
    begin: extern "C" fn(),
    peak: extern "C" fn() -> u64,
}

impl HeapPeak {
    /// Those of this process; `None` where it was started without the library.
    pub fn here() -> Option<HeapPeak> {
        let (begin, peak) = (function(c"dyno_heap_begin")?, function(c"dyno_heap_peak")?);
        // SAFETY: these names are dyno's, and its library has them with these types.
        Some(unsafe {
            HeapPeak {
                begin: transmute::<*const (), extern "C" fn()>(begin),
                peak: transmute::<*const (), extern "C" fn() -> u64>(peak),
            }
        })
    }

    /// A section begins: what is allocated now is its zero.
    pub fn begin(self) {
        (self.begin)();
    }

    /// The most bytes that were allocated at one time since then, above that zero.
    pub fn bytes(self) -> u64 {
        (self.peak)()
    }
}

/// A function of any library of this process.
fn function(name: &CStr) -> Option<*const ()> {
    // SAFETY: the name ends with a zero, and looking for it changes nothing.
    let found = unsafe { dlsym(RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found.cast_const().cast())
}
