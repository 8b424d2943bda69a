//! Circumstances of runners that should not matter to their speed, and sometimes do: the size of the environment
//! moves the stack, addresses decide what shares a line of a cache, and paths are allocated and read.

use anyhow::Result;
use dyno_engine::Contender;
use dyno_record::Circumstances;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::counting::are_here;

/// The most bytes by which an environment is made longer: a page, as the stack begins anew in the next.
const ENVIRONMENT: u32 = 4096;
/// The most letters by which a path is made longer: enough to move what is allocated after it.
const FOLDER: u32 = 24;
/// The variable that makes an environment longer.
const VARIABLE: &str = "DYNO_CIRCUMSTANCES";

/// The circumstances of a repeated run, by its number from 1, and the seed of its order. Half of the runs have fixed
/// addresses.
pub fn circumstances(seed: u64, number: u32) -> (Circumstances, u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(number));
    let drawn = Circumstances {
        environment_bytes: random.random_range(1..=ENVIRONMENT),
        fixed_addresses: number.is_multiple_of(2),
        folder_letters: random.random_range(1..=FOLDER),
    };
    // Exact in every JSON reader.
    (drawn, random.random_range(0..1 << 53))
}

/// A contender whose runner is started in these circumstances. A server that dyno starts for it is not.
pub fn under(contender: &Contender, circumstances: &Circumstances) -> Contender {
    let filler = "x".repeat(circumstances.environment_bytes as usize);
    let mut around = vec!["env".to_owned(), format!("{VARIABLE}={filler}")];
    if circumstances.fixed_addresses {
        around.extend(["setarch", "--addr-no-randomize"].map(str::to_owned));
    }
    let mut contender = contender.clone();
    contender.runner = contender.runner.under(&around);
    contender
}

/// Checks that the program that fixes addresses is here.
///
/// # Errors
/// It is not, with the command that installs it.
pub fn can_fix_addresses() -> Result<()> {
    are_here("dyno challenge", &[("setarch", "util-linux")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circumstances_follow_from_the_seed() {
        let drawn: Vec<_> = (1..=20).map(|number| circumstances(7, number)).collect();
        assert_eq!(drawn[4], circumstances(7, 5));
        assert_ne!(drawn[4].1, circumstances(8, 5).1);
        assert_eq!(drawn.iter().filter(|(drawn, _)| drawn.fixed_addresses).count(), 10);
        let sizes: std::collections::BTreeSet<u32> =
            drawn.iter().map(|(drawn, _)| drawn.environment_bytes).collect();
        assert!(sizes.len() > 15 && sizes.iter().all(|size| (1..=4096).contains(size)), "{sizes:?}");
    }
}
