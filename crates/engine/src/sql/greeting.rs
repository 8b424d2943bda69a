//! Reads what an engine answered to the queries of a job: its version, and the settings in force.
//!
//! A setting is recorded in the spelling in which it was asked for, where the value found is the same.

use dyno_protocol::{Hello, InForce, ReadBackAnswer, Setting, Value};

use super::advice::unknown_setting;
use super::syntax::{DATABASE, LOCALE, SERVER_VERSION, SettingSyntax, VERSION, VERSION_COMMENT, unit_of};
use super::version::{is_postgres, short};
use crate::server::Protocol;
use crate::settings::ValueNames;

/// The answers of an engine.
pub struct EngineAnswers<'a> {
    pub syntax: SettingSyntax,
    /// The settings asked for.
    pub asked: &'a [Setting],
    /// The names of numbers.
    pub values: &'a ValueNames,
    pub answers: &'a [ReadBackAnswer],
}

impl EngineAnswers<'_> {
    /// Completes the runner's own words.
    ///
    /// # Errors
    /// A setting that was asked for cannot be read back.
    pub fn complete(&self, mut hello: Hello) -> Result<Hello, String> {
        if let Some(version) = self.text(VERSION) {
            hello.engine_version = self.engine_version(&version);
            let words = [Some(version), self.text(VERSION_COMMENT)];
            hello.build.insert("version".to_owned(), words.into_iter().flatten().collect());
        }
        hello.settings = self.settings(hello.settings)?;
        hello.read_back.clear();
        Ok(hello)
    }

    /// PostgreSQL's version as a number, as `15.18`; of what only speaks its protocol, name and version.
    fn engine_version(&self, version: &str) -> String {
        match self.syntax {
            SettingSyntax::Postgres if is_postgres(version) => {
                let number = self.text(SERVER_VERSION).unwrap_or_default();
                number.split(' ').next().unwrap_or_default().to_owned()
            }
            SettingSyntax::Postgres => version.split(" (").next().unwrap_or(version).to_owned(),
            _ => short(version).to_owned(),
        }
    }

    fn settings(&self, of_runner: Vec<InForce>) -> Result<Vec<InForce>, String> {
        let mut settings = Vec::new();
        if let Some(file) = self.answer(DATABASE) {
            settings.push(self.database(file)?);
        }
        settings.extend(of_runner);
        let is_setting =
            |name: &str| self.syntax.is_statement(name) || LOCALE.iter().any(|(fixed, _)| *fixed == name);
        let facts = [VERSION, SERVER_VERSION, VERSION_COMMENT];
        for answer in self.answers {
            let name = answer.name.as_str();
            if facts.contains(&name) || name.starts_with("unit(") || !is_setting(name) {
                continue;
            }
            let asked = self.asked.iter().rev().find(|setting| setting.name == name);
            let asked = asked.filter(|_| self.syntax.is_statement(name));
            match (first(answer), asked) {
                (Some(found), Some(asked)) => settings.push(self.spelled(asked, found)),
                (Some(found), None) => {
                    settings.push(InForce { name: name.to_owned(), value: self.named(name, found) })
                }
                (None, Some(_)) => return Err(self.unreadable(answer)),
                (None, None) => {}
            }
        }
        Ok(settings)
    }

    /// The place of the data: the engine reports whether there is a file. Of the places without one it is the one that was
    /// asked for.
    fn database(&self, file: &ReadBackAnswer) -> Result<InForce, String> {
        let asked = self.asked.iter().rev().find(|setting| setting.name == DATABASE);
        let asked = asked.map_or("file", |setting| setting.value.as_str());
        let value = match first(file).is_some_and(|file| !file.is_empty()) {
            true => "file",
            false if asked == "file" => {
                return Err("the engine opened no file where a file was asked for".to_owned());
            }
            false => asked,
        };
        Ok(InForce { name: DATABASE.to_owned(), value: value.to_owned() })
    }

    /// A setting that was asked for, in the spelling asked for if that is what is in force.
    fn spelled(&self, asked: &Setting, found: String) -> InForce {
        let unit = self.text(&unit_of(&asked.name));
        let value = match self.syntax.means(&asked.value, &found, unit.as_deref()) {
            true => asked.value.clone(),
            false => self.named(&asked.name, found),
        };
        InForce { name: asked.name.clone(), value }
    }

    /// A value that is a number by its name.
    fn named(&self, name: &str, value: String) -> String {
        let number = value.parse::<usize>().ok();
        let names = self.values.get(name).zip(number);
        names.and_then(|(names, number)| names.get(number)).map_or(value, String::clone)
    }

    fn unreadable(&self, answer: &ReadBackAnswer) -> String {
        let name = &answer.name;
        match (self.syntax, &answer.refused) {
            (SettingSyntax::Pragma, None) => format!(
                "SQLite has no setting '{name}' that can be read back from this database: see \
                 https://sqlite.org/pragma.html, or leave it out"
            ),
            (SettingSyntax::Postgres, Some(refused)) if refused.code == "42704" => {
                format!("{}: {}", unknown_setting(Protocol::Postgres, name), refused.message)
            }
            (SettingSyntax::MySql, Some(refused)) if refused.code == "1193" => {
                format!("{}: {}", unknown_setting(Protocol::MySql, name), refused.message)
            }
            (_, Some(refused)) => format!("the setting '{name}' cannot be read back: {}", refused.message),
            (_, None) => format!("the setting '{name}' cannot be read back: the engine answers nothing"),
        }
    }

    fn answer(&self, name: &str) -> Option<&ReadBackAnswer> {
        self.answers.iter().find(|answer| answer.name == name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.answer(name).and_then(first)
    }
}

/// The first value of the first row, as text.
fn first(answer: &ReadBackAnswer) -> Option<String> {
    answer.rows.first().and_then(|row| row.first()).map(|value| match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob { blob } => blob.clone(),
    })
}

#[cfg(test)]
mod tests {
    use dyno_protocol::EngineRefusal;

    use super::*;

    fn answer(name: &str, value: &str) -> ReadBackAnswer {
        ReadBackAnswer { name: name.into(), rows: vec![vec![Value::Text(value.into())]], refused: None }
    }

    fn complete(syntax: SettingSyntax, asked: &[&str], answers: &[ReadBackAnswer]) -> Result<Hello, String> {
        let asked: Vec<Setting> = asked.iter().map(|text| crate::parse_setting(text).unwrap()).collect();
        let names = ["OFF", "NORMAL", "FULL", "EXTRA"].map(String::from).to_vec();
        let values = ValueNames::from([("synchronous".to_owned(), names)]);
        let hello = Hello {
            protocol: 3,
            runner: "x 1".into(),
            engine_version: String::new(),
            driver_version: "1".into(),
            build: Default::default(),
            settings: Vec::new(),
            read_back: answers.to_vec(),
        };
        EngineAnswers { syntax, asked: &asked, values: &values, answers }.complete(hello)
    }

    fn settings(hello: &Hello) -> Vec<(&str, &str)> {
        hello.settings.iter().map(|known| (known.name.as_str(), known.value.as_str())).collect()
    }

    #[test]
    fn what_means_the_same_is_recorded_as_it_was_asked() {
        let answers = [
            answer(VERSION, "PostgreSQL 15.18 (Debian) on x"),
            answer(SERVER_VERSION, "15.18 (Debian 15.18)"),
            answer("work_mem", "64MB"),
            answer("unit(work_mem)", "kB"),
            answer("fsync", "on"),
            answer("lc_collate", "C"),
        ];
        let hello = complete(SettingSyntax::Postgres, &["work_mem=65536", "lc_collate=C"], &answers).unwrap();
        assert_eq!(settings(&hello), [("work_mem", "65536"), ("fsync", "on"), ("lc_collate", "C")]);
        assert_eq!(hello.engine_version, "15.18");
        assert_eq!(hello.build["version"], ["PostgreSQL 15.18 (Debian) on x"]);
        assert!(hello.read_back.is_empty());
    }

    #[test]
    fn a_number_has_its_name_and_a_place_its_word() {
        let answers = [answer("database", ""), answer("synchronous", "2"), answer("cache_size", "-5")];
        let hello = complete(SettingSyntax::Pragma, &["database=temporary"], &answers).unwrap();
        let expected = [("database", "temporary"), ("synchronous", "FULL"), ("cache_size", "-5")];
        assert_eq!(settings(&hello), expected);
        assert!(complete(SettingSyntax::Pragma, &[], &answers).unwrap_err().contains("opened no file"));
    }

    #[test]
    fn what_was_asked_for_must_be_there_and_what_was_not_may_be_missing() {
        let refused = |code: &str| {
            let refused = Some(EngineRefusal { code: code.into(), message: "no".into() });
            ReadBackAnswer { name: "nonsense".into(), rows: Vec::new(), refused }
        };
        let hello = complete(SettingSyntax::MySql, &[], &[refused("1193")]).unwrap();
        assert_eq!(settings(&hello), []);
        let said = complete(SettingSyntax::MySql, &["nonsense=1"], &[refused("1193")]).unwrap_err();
        assert!(said.starts_with("unknown setting 'nonsense'") && said.ends_with(": no"), "{said}");
        let nothing = ReadBackAnswer { refused: None, ..refused("") };
        let said = complete(SettingSyntax::Pragma, &["nonsense=1"], &[nothing]).unwrap_err();
        assert!(said.starts_with("SQLite has no setting 'nonsense'"), "{said}");
    }
}
