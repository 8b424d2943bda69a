//! The names of databases that trials make for themselves.

use std::hash::{BuildHasher, Hasher, RandomState};

/// An unmistakable name for a trial's own database, which no other trial has.
pub fn scratch_name() -> String {
    // The standard library's hashers start from the system's random numbers.
    format!("dyno_scratch_{:016x}", RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_names_are_unmistakable_and_differ() {
        let names = [scratch_name(), scratch_name()];
        assert!(names[0].starts_with("dyno_scratch_") && names[0].len() == 29, "{}", names[0]);
        assert_ne!(names[0], names[1]);
    }
}
