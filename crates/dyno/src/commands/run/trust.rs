//! Lists what a run file or a suite from elsewhere would load and run besides SQL on its private database, before
//! anything of it is loaded or started; dyno goes on only if the user agrees. What the user typed is trusted, and so are
//! the suites that come with dyno.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};

use anyhow::{Result, anyhow};
use dyno_engine::{Contender, Home, Registry};
use dyno_record::Parameters;
use dyno_suite::progress::PlanningProgress;
use dyno_suite::{Bounds, NO_SQL, Suite};

use super::super::outcome::AsInput;
use crate::terminal::say;

/// The most characters that are shown of a statement.
const SHOWN: usize = 160;
/// Ends of the names of settings by which a server or an engine loads or starts something, or writes elsewhere.
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

/// Returns true if a suite is one of dyno's own and unchanged.
pub fn is_own(suite: &Suite, home: &Home, registry: &Registry) -> bool {
    let path = home.suites().join(format!("{}.toml", suite.name));
    let is_name = !suite.name.contains('/');
    is_name && Suite::load(&path, &registry.dialects()).is_ok_and(|own| own.text == suite.text)
}

/// Lists what contenders load and start that neither dyno brought nor its user installed.
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
        // A profile's are dyno's.
        let own = contender.profile.settings().unwrap_or_default();
        let named = contender.settings.iter().filter(|setting| !own.contains(setting));
        let reaching = named.filter(|setting| {
            let name = setting.name.to_ascii_lowercase();
            POWERS.iter().any(|power| name.ends_with(power))
        });
        found.extend(reaching.map(|setting| format!("{label} sets {}={}", setting.name, setting.value)));
    }
    found
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
            found.extend(test.reaching_outside().into_iter().map(shown));
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
    Err(anyhow!("nothing of this was loaded or run; if you trust {}, add --trust", origin.name)).input()
}

fn is_agreed() -> bool {
    let _ = write!(io::stderr(), "Load and run these? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
