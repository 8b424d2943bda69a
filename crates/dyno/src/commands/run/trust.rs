//! Lists what a run file or a suite from elsewhere would load, run and connect to besides SQL on its private database,
//! before anything of it is loaded, started or reached; dyno goes on only if the user agrees. What the user typed is
//! trusted, and so are the suites that come with dyno.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};

use anyhow::{Result, anyhow};
use dyno_engine::{Contender, Home, Registry, SettingSyntax};
use dyno_protocol::Setting;
use dyno_record::Parameters;
use dyno_suite::progress::PlanningProgress;
use dyno_suite::reach::{is_harmless_pragma, is_harmless_setting};
use dyno_suite::{Bounds, NO_SQL, Suite};

use super::super::outcome::AsInput;
use crate::terminal::say;

/// The most characters that are shown of a statement.
const SHOWN: usize = 160;
/// Ends of the names of settings by which a server or an engine loads or starts something, or writes elsewhere: they are
/// listed although an engine's file names some of them.
const POWERS: [&str; 16] = [
    "command",
    "dir",
    "directory",
    "file",
    "filename",
    "init_connect",
    "libraries",
    "library",
    "log_bin",
    "log_error",
    "path",
    "plugin_load",
    "plugin_load_add",
    "priv",
    "program",
    "provider",
];

/// The characters, besides letters and digits, of values that are no path.
const PLAIN: &str = " %+-.:_";
/// The reason why an address is listed.
const SENDS: &str =
    "is connected to, with the password for it that your environment, ~/.pgpass or ~/.my.cnf holds";

/// The parts of a request that come from elsewhere.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file that they come from.
    pub name: String,
    /// True if the contenders do.
    pub contenders: bool,
    /// True if the suite does.
    pub suite: bool,
}

/// Returns true if a suite is one of dyno's or the user's own and unchanged.
pub fn is_own(suite: &Suite, home: &Home, registry: &Registry) -> bool {
    let path = home.suite(&suite.name);
    let is_name = !suite.name.contains('/');
    is_name && Suite::load(&path, &registry.dialects()).is_ok_and(|own| own.text == suite.text)
}

/// Lists what contenders load and start that neither dyno brought nor its user installed, and the servers that they reach.
pub fn of_contenders(contenders: &[Contender], origin: &Origin) -> Vec<String> {
    if !origin.contenders {
        return Vec::new();
    }
    let mut found = Vec::new();
    for contender in contenders {
        let label = &contender.label;
        if let Some(path) = contender.own_path() {
            let what =
                if contender.engine.is_server() { "starts the server in" } else { "loads the library" };
            found.push(format!("{label} {what} {}", path.display()));
        }
        if let Some(url) = &contender.url {
            found.push(format!("{} {SENDS}", url.label()));
        }
        // A profile's are dyno's.
        let own = contender.profile.settings().unwrap_or_default();
        let named = contender.settings.iter().filter(|setting| !own.contains(setting));
        let reaching = named.filter(|setting| may_reach(contender, setting));
        found.extend(reaching.map(|setting| format!("{label} sets {}={}", setting.name, setting.value)));
    }
    found
}

/// True unless a setting is one of those that are known to reach nothing, with a plain value.
fn may_reach(contender: &Contender, setting: &Setting) -> bool {
    let Setting { name, value } = setting;
    let is_harmless = match contender.engine.setting_syntax() {
        Some(SettingSyntax::Pragma) => is_harmless_pragma(name),
        Some(SettingSyntax::Postgres | SettingSyntax::Duckdb) => is_harmless_setting(name),
        // A server of MySQL's kind takes an abbreviation for an option.
        Some(SettingSyntax::MySql) | None => false,
    };
    let is_known = is_harmless || contender.engine.names_setting(name);
    let is_plain = value.chars().all(|letter| letter.is_ascii_alphanumeric() || PLAIN.contains(letter));
    !is_known || !is_plain || POWERS.iter().any(|power| name.to_ascii_lowercase().ends_with(power))
}

/// Statements of the suite that may reach files, libraries, programs or other servers.
///
/// # Errors
/// A template does not render.
pub fn of_statements(
    suite: &Suite,
    parameters: &Parameters,
    contenders: &[Contender],
    bounds: Bounds,
    watch: &PlanningProgress,
) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for Contender { engine, form, .. } in contenders {
        if engine.dialect == NO_SQL || !seen.insert((&engine.dialect, form.name())) {
            continue;
        }
        for test in suite.render_form(parameters, &engine.dialect, *form, bounds, watch)? {
            let shown = |statement: &str| {
                let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("test {}: {}", test.id, words.chars().take(SHOWN).collect::<String>())
            };
            found.extend(test.reaching_outside(&engine.dialect).into_iter().map(shown));
        }
    }
    Ok(found.into_iter().collect())
}

/// Lists what was found, and goes on if the user agrees: by `--trust`, or by an answer on a terminal.
///
/// # Errors
/// The user does not agree, or dyno runs without a terminal and cannot ask.
pub fn confirm(found: &[String], origin: &Origin, trust: bool) -> Result<()> {
    if found.is_empty() || trust {
        return Ok(());
    }
    say(&format!("dyno: {} loads or runs more than SQL on a private database:", origin.name));
    found.iter().for_each(|what| say(&format!("  {what}")));
    if io::stdin().is_terminal() && io::stderr().is_terminal() && is_agreed() {
        return Ok(());
    }
    Err(anyhow!("nothing of this was loaded, run or connected to; if you trust {}, add --trust", origin.name))
        .input()
}

fn is_agreed() -> bool {
    let _ = write!(io::stderr(), "Go on with these? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
