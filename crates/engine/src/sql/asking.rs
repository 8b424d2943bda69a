//! The settings in a contender's job, and in what its runner reports.

use dyno_protocol::{Hello, JobStatement, ReadBackQuery, Setting};

use super::greeting::EngineAnswers;
use crate::Contender;

impl Contender {
    /// The settings that its runner takes by calls.
    pub fn settings_by_calls(&self) -> Vec<Setting> {
        let syntax = self.engine.setting_syntax();
        let is_call = |setting: &&Setting| syntax.is_none_or(|syntax| syntax.is_call(&setting.name));
        self.settings.iter().filter(is_call).cloned().collect()
    }

    /// The statements that set the others for each connection. A server that dyno starts has most of them in force from its
    /// start: to set them again would cost each connection exchanges that no ordinary program makes.
    pub fn on_connect(&self) -> Vec<JobStatement> {
        let Some(syntax) = self.engine.setting_syntax() else { return Vec::new() };
        let start = self.engine.start().filter(|_| self.url.is_none());
        let is_left = |setting: &&Setting| start.is_none_or(|start| start.is_left_to_sessions(&setting.name));
        syntax.on_connect(self.settings.iter().filter(is_left))
    }

    /// The queries for the settings in force, of engines without SQL their names.
    pub fn read_back(&self) -> Vec<ReadBackQuery> {
        match self.engine.setting_syntax() {
            Some(syntax) => syntax.read_back(&self.settings, &self.engine.read_back),
            None => {
                let name = |name: &String| ReadBackQuery { name: name.clone(), query: String::new() };
                self.engine.read_back.iter().map(name).collect()
            }
        }
    }

    /// The greeting of its runner, with what the engine answered to the queries in dyno's words.
    ///
    /// # Errors
    /// A setting that was asked for cannot be read back.
    pub fn greeted(&self, hello: Hello) -> Result<Hello, String> {
        let Some(syntax) = self.engine.setting_syntax().filter(|_| !hello.read_back.is_empty()) else {
            return Ok(hello);
        };
        let answers = hello.read_back.clone();
        let (asked, values) = (&self.settings, &self.engine.values);
        EngineAnswers { syntax, asked, values, answers: &answers }.complete(hello)
    }
}
