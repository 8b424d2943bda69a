//! Settings: every option of RocksDB's by its own name, and four of dyno's.
//!
//! RocksDB reads options from text and writes those in force to a file in the database's folder. So any
//! option can be asked for, of the database, of its column families or of its tables, and is read back.

use std::ffi::{CString, c_int};
use std::fs;
use std::path::Path;
use std::ptr;

use anyhow::{Context, Result, bail};
use dyno_protocol::{InForce, ReadBackQuery, Setting};
use dyno_runner::setting::{in_force, on_off, switch, whole};

use crate::api::{Api, Options, WriteOptions};
use crate::complaint::complaint;

/// The name of the files of options, with a number behind.
const FILE: &str = "OPTIONS-";
/// The sections of such a file that hold for every store.
const SECTIONS: [&str; 4] =
    ["[Version]", "[DBOptions]", "[CFOptions \"default\"]", "[TableOptions/BlockBasedTable \"default\"]"];
/// The settings asked for.
#[derive(Debug)]
pub struct Settings {
    /// True if a commit waits until its log is on the device.
    pub sync: bool,
    /// True if nothing is logged.
    pub disable_wal: bool,
    /// The size of the cache of blocks, in bytes.
    cache: Option<u64>,
    /// The number of parts of the cache of blocks, as a power of two.
    shard_bits: Option<u32>,
    /// RocksDB's own options.
    options: Vec<Setting>,
    /// The options that are read back though they were not asked for.
    read_back: Vec<String>,
}

impl Settings {
    /// Sorts the job's settings into dyno's and RocksDB's.
    pub fn parse(settings: &[Setting], read_back: &[ReadBackQuery]) -> Result<Settings> {
        let read_back = read_back.iter().map(|query| query.name.clone()).collect();
        let options = Vec::new();
        let (cache, shard_bits) = (None, None);
        let mut parsed = Settings { sync: true, disable_wal: false, cache, shard_bits, options, read_back };
        for setting in settings {
            match setting.name.as_str() {
                "sync" => parsed.sync = switch(setting)?,
                "disable_wal" => parsed.disable_wal = switch(setting)?,
                "cache_size" => parsed.cache = Some(whole(setting)?),
                "num_shard_bits" => parsed.shard_bits = Some(whole(setting)?),
                _ => parsed.options.push(setting.clone()),
            }
        }
        if parsed.sync && parsed.disable_wal {
            bail!("sync=on syncs a log that disable_wal=on leaves out: ask for sync=off too");
        }
        if parsed.shard_bits.is_some() && parsed.cache.is_none() {
            bail!("num_shard_bits is of a cache that is asked for: ask for cache_size too");
        }
        Ok(parsed)
    }

    /// Options for opening a database, by RocksDB's reading of them.
    pub fn options(&self, api: &Api) -> Result<*mut Options> {
        let mut own = vec!["create_if_missing=true".to_owned()];
        let mut table: Vec<String> = self.block_cache().into_iter().collect();
        for setting in &self.options {
            let text = format!("{}={}", setting.name, setting.value);
            // RocksDB decides which of the two it is.
            match read(api, &text) {
                Ok(options) => {
                    // SAFETY: they were made just now and are not used after this.
                    unsafe { (api.options_destroy)(options) };
                    own.push(text);
                }
                Err(refused) => match read(api, &of_table(std::slice::from_ref(&text))) {
                    Ok(options) => {
                        // SAFETY: as above.
                        unsafe { (api.options_destroy)(options) };
                        table.push(text);
                    }
                    Err(_) => bail!("RocksDB does not take the setting {text}: {refused}"),
                },
            }
        }
        read(api, &format!("{};{}", own.join(";"), of_table(&table)))
    }

    /// The cache of blocks, as an option of tables.
    fn block_cache(&self) -> Option<String> {
        let bytes = self.cache?;
        Some(match self.shard_bits {
            None => format!("block_cache={bytes}"),
            Some(bits) => format!("block_cache={{capacity={bytes};num_shard_bits={bits}}}"),
        })
    }

    /// Options of writes.
    pub fn write_options(&self, api: &Api) -> *mut WriteOptions {
        // SAFETY: the options are made here.
        unsafe {
            let options = (api.writeoptions_create)();
            (api.writeoptions_set_sync)(options, self.sync.into());
            (api.writeoptions_disable_WAL)(options, c_int::from(self.disable_wal));
            options
        }
    }

    /// The settings as RocksDB says them: the options of `write`, those in the files of a folder, and the size of the
    /// cache of blocks, in bytes.
    ///
    /// # Safety
    /// The options are there.
    pub unsafe fn in_force(
        &self,
        api: &Api,
        write: *mut WriteOptions,
        cache: Option<u64>,
        folder: &Path,
    ) -> Result<Vec<InForce>> {
        let options_in_force = options_in_force(folder)?;
        let find = |name: &str| options_in_force.iter().find(|(known, _)| known == name);
        let asked = self.options.iter().map(|setting| setting.name.as_str());
        let mut names: Vec<&str> = asked.chain(self.read_back.iter().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        let mut list: Vec<InForce> =
            names.into_iter().filter_map(find).map(|(name, value)| in_force(name, value)).collect();
        // SAFETY: as the caller promises.
        unsafe {
            list.push(on_off("sync", (api.writeoptions_get_sync)(write) != 0));
            list.push(on_off("disable_wal", (api.writeoptions_get_disable_WAL)(write) != 0));
        }
        list.extend(cache.map(|bytes| in_force("cache_size", bytes)));
        // The library has no call that reads it.
        list.extend(self.shard_bits.map(|bits| in_force("num_shard_bits", bits)));
        Ok(list)
    }
}

/// RocksDB's version, as it writes it to the file of options.
pub fn version(folder: &Path) -> Result<String> {
    let options_in_force = options_in_force(folder)?;
    let found = options_in_force.into_iter().find(|(name, _)| name == "rocksdb_version");
    found.map(|(_, version)| version).context("RocksDB does not report its version")
}

/// Options of tables as one option of column families.
fn of_table(options: &[String]) -> String {
    format!("block_based_table_factory={{{}}}", options.join(";"))
}

/// Options from text.
fn read(api: &Api, text: &str) -> Result<*mut Options> {
    let text = CString::new(text).context("a setting holds a NUL byte")?;
    let mut error = ptr::null_mut();
    // SAFETY: what is pointed to outlives the calls, and the options are destroyed once where they are not
    // handed on.
    unsafe {
        let (base, options) = ((api.options_create)(), (api.options_create)());
        (api.get_options_from_string)(base, text.as_ptr(), options, &mut error);
        (api.options_destroy)(base);
        if let Err(error) = complaint(api, error) {
            (api.options_destroy)(options);
            return Err(error);
        }
        Ok(options)
    }
}

/// The newest file of options: names and values.
fn options_in_force(folder: &Path) -> Result<Vec<(String, String)>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let number = |name: &str| name.strip_prefix(FILE)?.parse::<u64>().ok();
    let files = entries.flatten().filter_map(|entry| {
        let number = number(entry.file_name().to_str()?)?;
        Some((number, entry.path()))
    });
    let (_, newest) =
        files.max().context("RocksDB wrote no file of options, by which settings are read back")?;
    let text = fs::read_to_string(&newest).with_context(|| format!("cannot read {}", newest.display()))?;
    Ok(parse(&text))
}

/// The lines `name=value` of the sections that hold for every store.
fn parse(text: &str) -> Vec<(String, String)> {
    let mut wanted = false;
    let mut list = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            wanted = SECTIONS.contains(&line);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| wanted) {
            list.push((name.to_owned(), value.to_owned()));
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_options_is_read() {
        let text = "# about\n[Version]\n  rocksdb_version=7.8.3\n[DBOptions]\n  use_fsync=false\n\n\
                    [CFOptions \"default\"]\n  compression=kSnappyCompression\n\
                    [TableOptions/BlockBasedTable \"default\"]\n  filter_policy=bloomfilter:10:false\n\
                    [CFOptions \"other\"]\n  compression=kNoCompression\n";
        let pairs = parse(text);
        let names: Vec<_> = pairs.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(
            names,
            [
                "rocksdb_version 7.8.3",
                "use_fsync false",
                "compression kSnappyCompression",
                "filter_policy bloomfilter:10:false"
            ]
        );
    }

    #[test]
    fn a_sync_of_nothing_is_refused() {
        let setting = |name: &str| Setting { name: name.into(), value: "on".into() };
        assert!(
            Settings::parse(&[setting("disable_wal")], &[]).unwrap_err().to_string().contains("sync=off")
        );
    }
}
