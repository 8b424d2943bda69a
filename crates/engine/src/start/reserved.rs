//! The settings that dyno keeps to itself, and those that an engine's `[server]` names.

use anyhow::{Result, ensure};
use dyno_protocol::Setting;

use super::{Start, normal};

/// The argument that stands for all settings.
const SETTINGS: &str = "{settings}";

impl Start {
    /// Refuses a setting whose option is an argument of dyno's: of two, many servers take the last, so that it would move
    /// the server's socket or data elsewhere, or have no effect. The arguments before the settings that name no place are
    /// defaults, which a setting may replace.
    ///
    /// # Errors
    /// The setting is such a one.
    pub(crate) fn refuse_own(&self, setting: &Setting) -> Result<()> {
        let name = normal(&setting.name);
        ensure!(
            !self.own.contains(&name),
            "dyno gives the server its own {}, so it can be no setting: leave it out",
            setting.name
        );
        let settings = self.start.iter().position(|argument| argument == SETTINGS).unwrap_or(0);
        let mut arguments = self.start.iter().enumerate();
        let own = arguments.find(|(place, argument)| {
            (*place > settings || argument.contains('{')) && option(argument).is_some_and(|own| own == name)
        });
        ensure!(
            own.is_none(),
            "dyno starts the server with its own {}, so it can be no setting: leave it out",
            own.map_or("", |(_, argument)| argument.split('=').next().unwrap_or_default())
        );
        Ok(())
    }

    /// True if a setting is named by its part of the engine's file.
    pub(crate) fn names_setting(&self, name: &str) -> bool {
        let made_with = self.made_with.iter().filter_map(|made| Some(made.setting.split_once('=')?.0));
        let instead = self.instead.keys().filter_map(|known| Some(known.split_once('=')?.0));
        let lists = self.sessions.iter().chain(&self.shaping).map(String::as_str);
        let memory = self.memory.iter().map(|memory| memory.setting.as_str());
        let limits = memory.chain(self.clients.iter().map(|clients| clients.setting.as_str()));
        made_with.chain(instead).chain(lists).chain(limits).any(|known| known == name)
    }
}

/// The name of the setting that an argument is: `--data-dir={data}`, `--skip-networking`, or `port=5432` after `-c`.
fn option(argument: &str) -> Option<String> {
    let (name, is_long) = match argument.strip_prefix("--") {
        Some(name) => (name, true),
        None => (argument, false),
    };
    match name.split_once('=') {
        Some((name, _)) => Some(normal(name)),
        None => is_long.then(|| normal(name)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Contender, Home, Registry, parse_setting};

    fn refusal(registry: &Registry, engine: &str, setting: &str) -> Option<String> {
        let start = registry.engine(engine).unwrap().start().unwrap().clone();
        start.refuse_own(&parse_setting(setting).unwrap()).err().map(|error| error.to_string())
    }

    #[test]
    fn a_setting_cannot_replace_an_argument_of_dynos() {
        let registry = Registry::load(&Home::find().unwrap()).unwrap();
        for (engine, setting) in [
            ("etcd", "listen_client_urls=http://0.0.0.0:2379"),
            ("etcd", "Data_Dir=/tmp/x"),
            ("etcd", "config_file=/tmp/x"),
            ("rqlite", "join=10.0.0.1:4002"),
            ("mariadb", "socket=/tmp/x"),
            ("mariadb", "skip_networking=0"),
            ("mysql", "mysqlx=ON"),
            ("postgres", "listen_addresses=*"),
            ("postgres", "unix_socket_directories=/tmp"),
            ("postgres", "data_directory=/tmp/x"),
            ("postgres-replica", "primary_conninfo=host=10.0.0.1"),
            ("galera", "wsrep_provider=/tmp/x.so"),
            ("galera", "wsrep_new_cluster=ON"),
        ] {
            let refusal = refusal(&registry, engine, setting);
            assert!(refusal.is_some_and(|text| text.contains("leave it out")), "{engine}, {setting}");
        }
        for (engine, setting) in [
            ("etcd", "max_txn_ops=128"),
            ("etcd", "unsafe_no_fsync=true"),
            ("mariadb", "innodb_fast_shutdown=1"),
            ("mariadb", "local_infile=OFF"),
            ("postgres", "work_mem=64MB"),
        ] {
            assert_eq!(refusal(&registry, engine, setting), None, "{engine}, {setting}");
        }
    }

    #[test]
    fn a_contender_that_would_open_its_server_to_a_network_is_refused() {
        let registry = Registry::load(&Home::find().unwrap()).unwrap();
        let error = Contender::parse("etcd,listen_client_urls=http://0.0.0.0:2379", &registry).unwrap_err();
        assert!(format!("{error:#}").contains("its own --listen-client-urls"), "{error:#}");
    }
}
