//! Copies records without a call of the library, which for so few bytes takes longer than copying them.

/// Copies a record. Of usual lengths it copies the first and the last bytes, which may overlap.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    const HALF: usize = 32;
    const QUARTER: usize = HALF / 2;
    const EIGHTH: usize = QUARTER / 2;
    match from.len() {
        EIGHTH..QUARTER => ends::<EIGHTH>(to, from),
        QUARTER..HALF => ends::<QUARTER>(to, from),
        HALF..=64 => ends::<HALF>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Copies `COUNT` bytes from either end.
#[inline(always)]
fn ends<const COUNT: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<COUNT>(), from.first_chunk()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<COUNT>(), from.last_chunk()) {
        *to = *from;
    }
}
