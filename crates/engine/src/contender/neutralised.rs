//! A contender in the trials of an experiment: a suspected cause of its difference from another is neutralised.

use dyno_protocol::Setting;
use dyno_record::Neutralised;

use super::Contender;
use crate::ServerUrl;

impl Contender {
    /// The same contender where a suspect is neutralised; `place` is its place in the pair that the experiment is about.
    /// A cache has no setting in every engine, and one at a URL is not dyno's to change: [`Contender::cache_bytes`] is
    /// none for these.
    pub fn neutralised(&self, how: &Neutralised, place: usize) -> Contender {
        let mut contender = self.clone();
        contender.label = how.suspect().label(&self.label);
        contender.neutralised = Some(how.clone());
        if let Neutralised::Cache { bytes } = how
            && let Some(setting) = bytes.get(place).and_then(|&bytes| self.cache_setting(bytes))
        {
            contender.settings.retain(|known| known.name != setting.name);
            contender.settings.push(setting);
        }
        if let Neutralised::Network { .. } = how {
            let socket = self.url.as_ref().and_then(ServerUrl::by_socket);
            contender.url = socket.or(contender.url);
        }
        contender
    }

    /// The size of its cache in bytes, where dyno can set one: what a server's settings ask for, else what was read back
    /// in an earlier run.
    pub fn cache_bytes(&self, read_back: Option<u64>) -> Option<u64> {
        if self.url.is_some() {
            return None;
        }
        match &self.engine.server {
            Some(start) => Some(start.memory.as_ref()?.asked(&self.settings)),
            None => read_back.filter(|_| self.engine.cache.is_some()),
        }
    }

    fn cache_setting(&self, bytes: u64) -> Option<Setting> {
        let of_server = || Some(self.engine.server.as_ref()?.memory.as_ref()?.of(bytes));
        self.engine.cache.as_ref().map(|knob| knob.of(bytes)).or_else(of_server)
    }
}
