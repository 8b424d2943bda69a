//! The memory that a server's settings allow it.

use dyno_protocol::Setting;

use super::start::Memory;

impl Memory {
    /// The size that some settings ask for, in bytes; the usual one where they name none.
    pub fn asked(&self, settings: &[Setting]) -> u64 {
        let mut named = settings.iter().rev().filter(|setting| setting.name == self.setting);
        named.find_map(|setting| bytes(&setting.value, self.unit)).unwrap_or(self.usual)
    }

    /// The setting for a size in bytes, as servers report it: in their unit where that is a byte, else in MB.
    pub(super) fn of(&self, size: u64) -> Setting {
        let value = if self.unit == 1 { size.to_string() } else { format!("{}MB", size >> 20) };
        Setting { name: self.setting.clone(), value }
    }
}

/// A size as PostgreSQL (`128MB`) and MySQL (`1G`) write it, in bytes.
fn bytes(text: &str, unit: u64) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" => unit,
        "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_worked_out_from_the_settings() {
        let caches = [("shared_buffers", 8192), ("innodb_buffer_pool_size", 1)];
        let with = |name: &str, value: &str| {
            let settings = [Setting { name: name.into(), value: value.into() }];
            let (setting, unit) = caches.into_iter().find(|(known, _)| *known == name).unwrap_or(caches[0]);
            Memory { setting: setting.into(), unit, usual: 1 << 20 }.asked(&settings)
        };
        assert_eq!(with("shared_buffers", "256MB"), 256 << 20);
        assert_eq!(with("shared_buffers", "16384"), 128 << 20);
        assert_eq!(with("innodb_buffer_pool_size", "2G"), 2 << 30);
        assert_eq!(with("innodb_buffer_pool_size", "1048576"), 1 << 20);
        assert_eq!(with("work_mem", "1GB"), 1 << 20);
        assert_eq!(with("shared_buffers", "much"), 1 << 20);
    }

    #[test]
    fn a_size_that_is_set_is_asked_for() {
        for unit in [1, 8192] {
            let memory = Memory { setting: "cache".into(), unit, usual: 1 << 20 };
            assert_eq!(memory.asked(&[memory.of(512 << 20)]), 512 << 20);
        }
    }
}
