//! A row of random letters and digits.

use rand::Rng;
use rand::rngs::ChaCha8Rng;

/// The letters of which rows are made.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The number of letters that one random number of 64 bits gives: 62¹⁰ is below 2⁶⁴.
const LETTERS_A_DRAW: usize = 10;
/// In one of this many rows, drawn at random, all cells are equal: an engine that is asked where two columns differ and
/// does not compare them counts wrong.
const EQUAL: u64 = 64;

/// Fills a row, whose cells are as wide as the first.
pub(crate) fn fill(rng: &mut ChaCha8Rng, row: &mut [u8], width: usize) {
    letters(rng, row);
    if rng.next_u64().is_multiple_of(EQUAL) {
        repeat_first(row, width);
    }
}

/// Fills a cell with random letters and digits.
pub(super) fn letters(rng: &mut ChaCha8Rng, cell: &mut [u8]) {
    for chunk in cell.chunks_mut(LETTERS_A_DRAW) {
        let mut number = rng.next_u64();
        for letter in chunk {
            *letter = LETTERS[(number % 62) as usize];
            number /= 62;
        }
    }
}

/// Makes all cells of a row, which are as wide as the first, equal to it.
fn repeat_first(row: &mut [u8], width: usize) {
    let (first, others) = row.split_at_mut(width);
    others.chunks_exact_mut(width).for_each(|cell| cell.copy_from_slice(first));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    #[test]
    fn cells_of_some_rows_are_equal() {
        let mut row = *b"abcdefghi";
        repeat_first(&mut row, 3);
        assert_eq!(&row, b"abcabcabc");
        repeat_first(&mut row, 9);
        assert_eq!(&row, b"abcabcabc");
    }

    #[test]
    fn rows_are_letters_and_digits() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cell = [0; 4096];
        letters(&mut rng, &mut cell);
        assert_eq!(cell.iter().collect::<BTreeSet<_>>().len(), 62);
        assert!(cell.iter().all(u8::is_ascii_alphanumeric));
    }
}
