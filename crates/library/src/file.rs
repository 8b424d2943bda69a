//! Finds the file that a library's functions were loaded from.

use std::ffi::c_void;
use std::fs;

/// The file that an address was mapped from, as the kernel names it: with the address of one of its
/// functions, the library that is really in use.
pub fn file_of(address: *const c_void) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    file_at(&maps, address as u64)
}

/// The same for people: `unknown` if the kernel does not report it.
pub fn file_title(address: *const c_void) -> String {
    file_of(address).unwrap_or_else(|| "unknown".to_owned())
}

/// Looks an address up in lines as `7f00-7f80 r-xp 00000000 08:01 1234   /path with spaces`.
fn file_at(maps: &str, address: u64) -> Option<String> {
    let within = |line: &&str| {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(from)?..number(to)?).contains(&address))
    };
    let line = maps.lines().find(|line| within(line).unwrap_or(false))?;
    line.find('/').map(|start| line[start..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_its_file() {
        let maps = "10-20 r--p 00000000 08:01 7    /a b/c.so\n20-30 rw-p 00000000 00:00 0 \n";
        assert_eq!(file_at(maps, 0x1f).as_deref(), Some("/a b/c.so"));
        assert_eq!(file_at(maps, 0x20), None);
        assert_eq!(file_at(maps, 0x30), None);
    }
}
