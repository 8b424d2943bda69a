//! The settings that an engine's file names.

use std::collections::BTreeSet;

use super::super::file_system;
use super::super::own_settings;
use super::super::tuned::Tuned;
use super::super::upkeep::Upkeep;
use super::Engine;

/// The names of the settings that dyno takes itself, for all engines.
pub(super) fn common_settings() -> impl Iterator<Item = &'static str> {
    own_settings::NAMES.into_iter().chain([file_system::SETTING])
}

impl Engine {
    /// The names of the settings that its file mentions, and of those that dyno has for all engines.
    pub fn known_settings(&self) -> BTreeSet<String> {
        let of_profiles = self.profiles.iter().flat_map(|profile| &profile.settings);
        let of_rules = self.rules.iter().flat_map(|rule| &rule.when);
        let of_tuned = self.tuned.iter().flat_map(Tuned::options).map(|option| &option.setting);
        let names = of_profiles
            .chain(of_rules)
            .chain(of_tuned)
            .filter_map(|text| Some(text.split_once('=')?.0.to_owned()));
        let cache = self.cache.iter().map(|knob| knob.setting.clone());
        names.chain(cache).chain(common_settings().map(str::to_owned)).collect()
    }

    /// True if its file names a setting, in whatever place. All other settings may do anything, such as load a
    /// library: a server may take the first letters of an option for the option.
    pub fn names_setting(&self, name: &str) -> bool {
        let of_isolation = self.isolation.iter().flat_map(|rule| &rule.when);
        let mut of_rules = of_isolation.filter_map(|text| Some(text.split_once('=')?.0));
        self.known_settings().contains(name)
            || self.read_back.iter().any(|known| known == name)
            || self.values.contains_key(name)
            || self.upkeep.iter().flat_map(Upkeep::limits).any(|limit| limit.name == name)
            || self.server.as_ref().is_some_and(|start| start.names_setting(name))
            || of_rules.any(|known| known == name)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Home, Registry};

    #[test]
    fn the_settings_of_its_file_are_named_and_no_abbreviations_of_options() {
        let registry = Registry::load(&Home::find().unwrap()).unwrap();
        let names = |engine: &str, name: &str| registry.engine(engine).unwrap().names_setting(name);
        for (engine, name) in [
            ("mariadb", "innodb_buffer_pool_size"),
            ("mariadb", "max_connections"),
            ("mariadb", "innodb_page_size"),
            ("mariadb", "unique_checks"),
            ("postgres", "work_mem"),
            ("postgres", "data_checksums"),
            ("sqlite", "cache_size"),
            ("duckdb", "memory_limit"),
        ] {
            assert!(names(engine, name), "{engine}, {name}");
        }
        for (engine, name) in [
            ("mariadb", "init_fil"),
            ("mariadb", "plugin_load_ad"),
            ("mariadb", "innodb_buffer_pool_siz"),
            ("galera", "wsrep_notify_cmd"),
            ("postgres", "session_preload_libraries"),
            ("sqlite", "cipher_log"),
            ("duckdb", "log_query_path"),
            ("etcd", "config_file"),
        ] {
            assert!(!names(engine, name), "{engine}, {name}");
        }
    }
}
