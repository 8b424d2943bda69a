//! Last names as TPC-C makes them of numbers.

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
/// The length of every name, in bytes.
pub const LAST_NAME_BYTES: usize = 16;

/// The name of a number: a syllable for each of its last three digits, filled up with blanks, so that all are of one
/// length.
pub fn last_name(number: u64) -> String {
    let digits = [number / 100, number / 10, number].map(|digit| SYLLABLES[(digit % 10) as usize]);
    format!("{:LAST_NAME_BYTES$}", digits.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_three_syllables() {
        assert_eq!(last_name(371), "PRICALLYOUGHT   ");
        assert_eq!(last_name(40).trim_end(), "BARPRESBAR");
        let longest = (0..1000).map(|number| last_name(number).len()).max();
        assert_eq!(longest, Some(LAST_NAME_BYTES));
    }
}
