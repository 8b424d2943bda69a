//! Sizes in bytes as people write them.

use serde::{Deserialize, Deserializer, de};

/// Reads a size: 64MiB, 1G, 4096. K, M and G are powers of 1,024.
///
/// # Errors
/// It says how to write one.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("G", 30), ("M", 20), ("K", 10), ("", 0)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "write a size like 64MiB or 1GiB".to_owned())
}

/// A size as a suite writes it.
pub(crate) fn written<'d, D: Deserializer<'d>>(text: D) -> Result<Option<u64>, D::Error> {
    parse_size(&String::deserialize(text)?).map(Some).map_err(de::Error::custom)
}
