//! The seeded number stream of suites: the generator that the 2002 speed page drew from.
//!
//! Park and Miller's "minimal standard" (Communications of the ACM 31(10), 1988):
//! x ← 16807·x mod (2³¹−1), giving x/(2³¹−1). Whole-number arithmetic throughout, so every machine
//! and language draws the same.

const MULTIPLIER: u64 = 16_807;
const MODULUS: u64 = (1 << 31) - 1;

/// One stream of draws.
#[derive(Debug, Clone)]
pub struct Stream {
    x: u64,
}

impl Stream {
    /// A stream from a seed. As in the page's script, one draw is thrown away. Seeds are taken modulo 2³¹−1; the seed
    /// 0, which the generator never leaves, counts as 1.
    pub fn new(seed: u64) -> Stream {
        let mut stream = Stream { x: (seed % MODULUS).max(1) };
        stream.step();
        stream
    }

    /// A whole number from 0 up to and without `below`: ⌊below · x/(2³¹−1)⌋ of the next x.
    pub fn draw(&mut self, below: u64) -> u64 {
        let product = u128::from(below) * u128::from(self.step());
        // The quotient is smaller than `below`, so it fits.
        (product / u128::from(MODULUS)) as u64
    }

    fn step(&mut self) -> u64 {
        self.x = MULTIPLIER * self.x % MODULUS;
        self.x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_thousandth_value_is_the_published_one() {
        // Park and Miller give x(10001) = 1043618065 for x(1) = 1 as the check of an implementation.
        let mut stream = Stream { x: 1 };
        for _ in 0..10_000 {
            stream.step();
        }
        assert_eq!(stream.x, 1_043_618_065);
    }

    #[test]
    fn the_first_draws_are_those_of_the_page() {
        let mut stream = Stream::new(1);
        assert_eq!([stream.draw(100_000), stream.draw(100_000)], [13_153, 75_560]);
    }

    #[test]
    fn a_seed_of_nothing_still_draws() {
        assert_eq!(Stream::new(0).draw(1000), Stream::new(1).draw(1000));
        assert_eq!(Stream::new(MODULUS).draw(1000), Stream::new(1).draw(1000));
    }
}
