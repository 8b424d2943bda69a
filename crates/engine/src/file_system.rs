//! The encrypted file systems on which a contender's data may be: dyno's own setting `file_system=gocryptfs`.

use anyhow::{Result, ensure};
use dyno_protocol::Setting;
use dyno_record::{Hole, Level, Safety, Standing};

/// The setting that names one.
pub const SETTING: &str = "file_system";
const GOCRYPTFS: &str = "gocryptfs";
/// The caveat for every level of data on it.
const CAVEAT: &str = "gocryptfs writes a block of 4 KiB anew where it lies, and cannot read one of which a power cut let only a part be written: after such cuts `dyno prove` found databases that did not open, and commits gone (docs/proofs.md); a device that never writes half a block does not close this, since each lies across two blocks of the disk";

/// An encrypted file system that dyno can mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// AES-256-GCM in blocks of 4 KiB, through FUSE.
    Gocryptfs,
}

impl FileSystem {
    /// Takes the setting out of a contender's, because no engine knows it.
    pub fn take(settings: &mut Vec<Setting>) -> Result<Option<FileSystem>> {
        let mut found = None;
        for setting in settings.extract_if(.., |setting| setting.name == SETTING) {
            ensure!(
                setting.value == GOCRYPTFS,
                "the setting {SETTING} is {GOCRYPTFS} or left out, not '{}'",
                setting.value
            );
            found = Some(FileSystem::Gocryptfs);
        }
        Ok(found)
    }

    /// The safety that is left for data on it, by the standard for engines with the same weakness. It counts as claimed
    /// only, because nothing reads back how the file system is set.
    pub fn limit(self, safety: Safety) -> Safety {
        if safety.level == Level::None {
            return Safety { consistent: false, ..safety };
        }
        let (why, hole) = match safety.level {
            Level::PowerLoss => (
                format!("{}, but gocryptfs cannot read a block half written at a power cut", safety.why),
                Some(Hole::TornPages),
            ),
            _ => (safety.why, safety.hole),
        };
        let caveats = safety.caveat.into_iter().chain([CAVEAT.to_owned()]);
        Safety {
            level: Level::ProcessCrash,
            consistent: false,
            standing: Standing::Claimed,
            why,
            caveat: Some(caveats.collect::<Vec<_>>().join("; ")),
            hole,
            ..safety
        }
    }

    /// The name, as the setting spells it.
    pub fn name(self) -> &'static str {
        GOCRYPTFS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_dynos_own() {
        let setting = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
        let mut settings = vec![setting("journal_mode", "WAL"), setting("file_system", "gocryptfs")];
        assert_eq!(FileSystem::take(&mut settings).unwrap(), Some(FileSystem::Gocryptfs));
        assert_eq!(settings, [setting("journal_mode", "WAL")]);
        let said = FileSystem::take(&mut vec![setting("file_system", "zfs")]).unwrap_err().to_string();
        assert!(said.contains("gocryptfs or left out, not 'zfs'"), "{said}");
    }
}
