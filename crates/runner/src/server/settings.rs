//! Settings of a server: set for the session where the server lets it be, and read back.
//!
//! dyno compares what is asked with what is in force, and cannot know all spellings of one value: `6GB` and `6144MB`,
//! `128M` and `134217728`. So a value that means the one asked for is reported in the spelling in which it was asked.

use std::sync::OnceLock;

use anyhow::{Error, Result, anyhow, ensure};
use dyno_protocol::{InForce, Setting};

use super::Client;

/// A connection's settings.
pub trait Parameters: Client {
    /// The engine, for messages.
    const TITLE: &str;

    /// The value of a setting in the server's own spelling. The error shows whether the name is unknown.
    fn show(&self, name: &str) -> Result<String>;

    /// Sets it for the session.
    fn set(&self, setting: &Setting) -> Result<()>;

    /// True if the server refused because the setting is global or reserved for an administrator. That it is not in
    /// force as asked is for dyno to report.
    fn is_not_the_sessions(refusal: &Self::Refusal) -> bool;

    /// Returns true if a value found is the one asked for.
    fn means(&self, asked: &Setting, found: &str) -> bool;
}

/// Refuses what cannot be a setting.
pub fn check_names(asked: &[Setting], title: &str) -> Result<()> {
    for Setting { name, value } in asked {
        ensure!(is_name(name), "'{name}' cannot be a setting of {title}: it is not the name of one");
        ensure!(!value.contains('\0'), "the value of the setting '{name}' holds a NUL byte");
    }
    Ok(())
}

/// Returns true if it is a name that can stand in a statement: letters, digits, `_`, and dots between parts.
fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut letters = part.bytes();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
    })
}

/// Settings of a job, and which of them each session must set because they differ from the server's own.
#[derive(Debug)]
pub struct Asked {
    all: Vec<Setting>,
    /// Known when the first session has asked.
    own: OnceLock<Vec<Setting>>,
}

impl Asked {
    /// Settings, none of which is known to be in force.
    pub fn new(all: Vec<Setting>) -> Asked {
        Asked { all, own: OnceLock::new() }
    }

    /// All of them.
    pub fn all(&self) -> &[Setting] {
        &self.all
    }

    /// Sets for this session what the server does not have in force already. The first session finds out which settings
    /// these are; asking again would cost each of the others an exchange that no ordinary program makes.
    pub fn apply<P: Parameters>(&self, client: &P) -> Result<()> {
        match self.own.get() {
            Some(own) => own.iter().try_for_each(|setting| set(client, setting)),
            None => {
                let own = apply(client, &self.all)?;
                // Two that come at once find the same.
                let _ = self.own.set(own);
                Ok(())
            }
        }
    }
}

/// Sets what is not in force yet, for this session only. Returns which these were.
fn apply<P: Parameters>(client: &P, asked: &[Setting]) -> Result<Vec<Setting>> {
    let mut own = Vec::new();
    for setting in asked {
        if client.means(setting, &client.show(&setting.name)?) {
            continue;
        }
        set(client, setting)?;
        own.push(setting.clone());
    }
    Ok(own)
}

fn set<P: Parameters>(client: &P, setting: &Setting) -> Result<()> {
    let refused = |error: &Error| error.downcast_ref().is_some_and(P::is_not_the_sessions);
    match client.set(setting) {
        Err(error) if !refused(&error) => {
            Err(error.context(format!("{} refuses the setting '{}'", P::TITLE, setting.name)))
        }
        _ => Ok(()),
    }
}

/// Reads back what was asked for and, as far as the server has it, what the job wants read back.
pub fn in_force<'a, P: Parameters>(
    client: &P,
    asked: impl DoubleEndedIterator<Item = &'a Setting>,
    read_back: &[String],
) -> Result<Vec<InForce>> {
    let mut settings: Vec<InForce> = Vec::new();
    // Of a setting named twice the last is in force.
    for setting in asked.rev() {
        if settings.iter().all(|known| known.name != setting.name) {
            let found = client.show(&setting.name)?;
            let value = if client.means(setting, &found) { setting.value.clone() } else { found };
            settings.push(InForce { name: setting.name.clone(), value });
        }
    }
    settings.reverse();
    for name in read_back {
        if settings.iter().all(|known| known.name != *name) {
            settings.extend(
                if_reported::<P, _>(client.show(name))?.map(|value| InForce { name: name.clone(), value }),
            );
        }
    }
    Ok(settings)
}

/// Omits a value that the server refuses because it has no such thing; a lost connection is an error.
pub fn if_reported<C: Client, T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is::<C::Refusal>() => Ok(None),
        Err(error) => Err(anyhow!("cannot read the settings back: {error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_stand_in_statements() {
        let check = |name: &str| check_names(&[Setting { name: name.into(), value: "1".into() }], "X");
        for good in ["work_mem", "auto_explain.log_min_duration", "_x1"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "x\"y", "1a", "a.", "a=b", "a;b", "@@x", "x`"] {
            assert!(check(bad).unwrap_err().to_string().contains("cannot be a setting of X"), "{bad}");
        }
    }
}
