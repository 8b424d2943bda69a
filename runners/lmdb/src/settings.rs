//! Settings: the flags of an environment and the size of its map.

use std::ffi::c_uint;

use anyhow::Result;
use dyno_protocol::{InForce, Setting};
use dyno_runner::setting::{in_force, on_off, switch, unknown, whole};

use crate::api;

/// The environment's flags that can be set, by their names in the manual.
const FLAGS: [(&str, c_uint); 6] = [
    ("nosync", api::NOSYNC),
    ("nometasync", api::NOMETASYNC),
    ("writemap", api::WRITEMAP),
    ("mapasync", api::MAPASYNC),
    ("nordahead", api::NORDAHEAD),
    ("nomeminit", api::NOMEMINIT),
];

/// The map where none is asked for: one terabyte. It is an upper limit and takes address space only; the
/// library's own default, 10 MiB, is meant to be changed.
const MAP_SIZE: usize = 1 << 40;

/// The settings that were asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    /// The environment's flags.
    pub flags: c_uint,
    /// The largest size of the database, in bytes.
    pub map_size: usize,
}

impl Settings {
    /// Reads the job's settings.
    pub fn parse(settings: &[Setting]) -> Result<Settings> {
        let mut parsed = Settings { flags: 0, map_size: MAP_SIZE };
        for setting in settings {
            let flag = FLAGS.iter().find(|(name, _)| *name == setting.name);
            match flag {
                Some((_, flag)) if switch(setting)? => parsed.flags |= flag,
                Some((_, flag)) => parsed.flags &= !flag,
                None if setting.name == "map_size" => parsed.map_size = whole(setting)?,
                None => {
                    let names: Vec<_> = FLAGS.iter().map(|(name, _)| *name).chain(["map_size"]).collect();
                    return Err(unknown("LMDB", setting, &names));
                }
            }
        }
        Ok(parsed)
    }
}

/// The settings that the environment reports to be in force.
pub fn read_back(flags: c_uint, map_size: usize) -> Vec<InForce> {
    let flags = FLAGS.iter().map(|(name, flag)| on_off(name, flags & flag != 0));
    flags.chain([in_force("map_size", map_size)]).collect()
}
