//! The names of databases that trials make for themselves.

/// An unmistakable name for a trial's own database, which no other trial has.
pub fn scratch_name() -> String {
    format!("dyno_scratch_{:016x}", fastrand::u64(..))
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
