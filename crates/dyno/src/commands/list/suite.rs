//! The suites: a line each, and all of one.

use anyhow::Result;
use dyno_engine::{Home, Registry};
use dyno_suite::Suite;
use serde::Serialize;

use super::item;

/// A suite.
#[derive(Serialize)]
pub struct SuiteItem {
    pub name: String,
    pub title: String,
    story: String,
    tests: Vec<TestItem>,
    parameters: Vec<ParameterItem>,
    /// The contenders that it compares when the command line names none.
    contenders: Vec<String>,
    /// Those that it compares besides when the command line asks for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more_contenders: Vec<String>,
    /// The reason that it cannot be run.
    pub trouble: Option<String>,
}

#[derive(Serialize)]
struct TestItem {
    id: String,
    shows: String,
}

#[derive(Serialize)]
struct ParameterItem {
    name: String,
    default: String,
    about: String,
}

/// All suites, by name: dyno's, then the user's. One that cannot be read says why.
pub fn all(home: &Home, registry: &Registry) -> Result<Vec<SuiteItem>> {
    let paths = home.suites()?;
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match Suite::load(path, &registry.dialects()) {
            Ok(suite) => readable(name, &suite),
            Err(error) => SuiteItem {
                name,
                title: String::new(),
                story: String::new(),
                tests: Vec::new(),
                parameters: Vec::new(),
                contenders: Vec::new(),
                more_contenders: Vec::new(),
                trouble: Some(format!("{error:#}")),
            },
        }
    };
    Ok(paths.iter().map(read).collect())
}

pub fn readable(name: String, suite: &Suite) -> SuiteItem {
    let tests = suite.tests.iter().map(|test| TestItem { id: test.id.clone(), shows: test.shows.clone() });
    let parameters = suite.parameters.iter().map(|(name, parameter)| ParameterItem {
        name: name.clone(),
        default: parameter.default.to_string(),
        about: parameter.about.clone(),
    });
    SuiteItem {
        name,
        title: suite.title.clone(),
        story: suite.story.clone(),
        tests: tests.collect(),
        parameters: parameters.collect(),
        contenders: suite.contenders(),
        more_contenders: suite.more_contenders().to_vec(),
        trouble: None,
    }
}

/// All of a suite, for people.
pub fn text(suite: &SuiteItem) -> String {
    if let Some(trouble) = &suite.trouble {
        return format!("{} cannot be run: {trouble}\n", suite.name);
    }
    let mut lines = vec![suite.title.clone()];
    let story = suite.story.split_whitespace().collect::<Vec<_>>().join(" ");
    lines.push(dyno_show::wrapped(&story, "", ""));
    lines.push(format!("\nTests (dyno run {} --only ID,…)", suite.name));
    lines.extend(suite.tests.iter().map(|test| item(&test.id, &test.shows)));
    if !suite.parameters.is_empty() {
        lines.push(format!("\nParameters (dyno run {} --set NAME=VALUE)", suite.name));
    }
    let parameters = suite.parameters.iter();
    lines.extend(parameters.map(|known| item(&format!("{}={}", known.name, known.default), &known.about)));
    lines.push(format!("\nContenders (dyno run {} --with NAME,… names others)", suite.name));
    lines.extend(suite.contenders.iter().map(|contender| format!("  {contender}")));
    if !suite.more_contenders.is_empty() {
        lines.push(format!("\nFurther contenders (dyno run {} --all)", suite.name));
    }
    lines.extend(suite.more_contenders.iter().map(|contender| format!("  {contender}")));
    lines.join("\n") + "\n"
}
