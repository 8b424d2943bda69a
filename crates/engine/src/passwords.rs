//! Reads passwords where PostgreSQL's and MySQL's own programs do: in `~/.pgpass` and `~/.my.cnf`.
//!
//! Both files are read as those programs read them, with their conditions on who else may read or write them. Nothing is
//! ever written, and no warning quotes a file's contents.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dyno_protocol::Secret;
use nix::unistd::{Uid, User};

/// The parts of the process's environment that decide which password applies.
pub struct PasswordEnvironment {
    /// The user's name on this machine.
    pub account: String,
    home: Option<PathBuf>,
    variables: BTreeMap<String, String>,
    /// The root of the file system in which sockets are looked for.
    root: PathBuf,
}

impl PasswordEnvironment {
    /// Those of this process.
    pub fn here() -> PasswordEnvironment {
        let user = User::from_uid(Uid::current()).ok().flatten();
        let home = env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = home.or_else(|| user.as_ref().map(|user| user.dir.clone()));
        let names = [
            "PGUSER",
            "PGPASSWORD",
            "PGPASSFILE",
            "MYSQL_PWD",
            "PGSSLMODE",
            "PGSSLROOTCERT",
            "PGSSLCRL",
            "PGSSLCRLDIR",
            "PGSSLCERT",
            "PGSSLKEY",
            "PGSSLCERTMODE",
            "PGSSLNEGOTIATION",
            "PGSSLSNI",
            "PGSSLMINPROTOCOLVERSION",
            "PGSSLMAXPROTOCOLVERSION",
        ];
        let variables =
            names.into_iter().filter_map(|name| Some((name.to_owned(), env::var(name).ok()?))).collect();
        let account = user.map_or_else(|| Uid::current().to_string(), |user| user.name);
        PasswordEnvironment { account, home, variables, root: "/".into() }
    }

    /// A variable of the environment that is not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// A file of the user's home.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }

    /// True if a server's socket is at an absolute path and the way there can be trusted. In a folder that every user may
    /// write to, as /tmp, another user could wait for passwords: there the socket must be root's, this user's or that of
    /// the server's usual account, and a warning names one that is not.
    pub fn has_socket(&self, path: &Path, server: &str, warnings: &mut Vec<String>) -> bool {
        let place = self.root.join(path.strip_prefix("/").unwrap_or(path));
        // A link counts with its target: each leads to the socket.
        let (Ok(link), Ok(socket)) = (fs::symlink_metadata(&place), fs::metadata(&place)) else {
            return false;
        };
        let is_shared = place.parent().and_then(|folder| fs::metadata(folder).ok());
        let is_shared = is_shared.is_none_or(|folder| folder.mode() & 0o002 != 0);
        let owners = [link.uid(), socket.uid()].map(Uid::from_raw);
        let Some(stranger) = owners.into_iter().find(|owner| is_shared && !is_trusted(*owner, server)) else {
            return true;
        };
        let name = User::from_uid(stranger).ok().flatten().map_or(stranger.to_string(), |user| user.name);
        warnings.push(format!(
            "{} is not used: it belongs to {name}, and every user can make a socket there; name its folder or file in the \
             URL to use it all the same",
            path.display()
        ));
        false
    }

    /// Made-up surroundings for tests: the account `ann` with a home, and no sockets.
    #[cfg(test)]
    pub fn for_test(home: &Path, variables: &[(&str, &str)]) -> PasswordEnvironment {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let root = home.join("root");
        PasswordEnvironment {
            account: "ann".into(),
            home: Some(home.to_owned()),
            variables: variables.collect(),
            root,
        }
    }
}

/// True if a socket of this user may be one of a server whose usual account has this name.
fn is_trusted(owner: Uid, server: &str) -> bool {
    let account = || User::from_name(server).ok().flatten().map(|user| user.uid);
    owner.is_root() || owner == Uid::effective() || account() == Some(owner)
}

/// The password of the first line of a `.pgpass` file that matches host, port, database and user.
///
/// A file that others may read is not used, and a warning says so, as libpq does.
pub fn pgpass(file: &Path, wanted: [&str; 4], warnings: &mut Vec<String>) -> Option<Secret> {
    let (mut opened, found) = open(file, warnings)?;
    if found.permissions().mode() & 0o077 != 0 {
        let file = file.display();
        warnings.push(format!("{file} is not used: others may read it; `chmod 600 {file}` keeps them out"));
        return None;
    }
    let mut text = Vec::new();
    opened.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| matching_password(line, wanted)).next().map(Secret::new)
}

/// Opens a file of passwords, with what the system knows of it. Where something else has its name, such as a FIFO that would
/// be waited for, a warning says so.
fn open(file: &Path, warnings: &mut Vec<String>) -> Option<(File, Metadata)> {
    match dyno_files::open_found(file) {
        Ok(opened) => opened.metadata().ok().map(|found| (opened, found)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            warnings.push(format!("{} is not used: it is no plain file", file.display()));
            None
        }
        Err(_) => None,
    }
}

/// The password of a line `host:port:database:user:password` whose other fields match. `*` matches
/// anything; a backslash takes the next character as it is.
fn matching_password(line: &str, wanted: [&str; 4]) -> Option<String> {
    // The sockets' usual folders go by the name of the machine itself.
    let is_usual = ["/tmp", "/var/run/postgresql", "/run/postgresql"].contains(&wanted[0]);
    let mut rest = line;
    for (index, wanted) in wanted.into_iter().enumerate() {
        let (field, literal, after) = field(rest, true);
        let matches = field == wanted || (index == 0 && is_usual && field == "localhost");
        if !(matches || (field == "*" && !literal)) {
            return None;
        }
        rest = after?;
    }
    let (password, ..) = field(rest, false);
    Some(password).filter(|password| !password.is_empty())
}

/// The field at the start of a text, whether any of it was escaped, and what follows its colon. The
/// last field has no end.
fn field(text: &str, ends: bool) -> (String, bool, Option<&str>) {
    let mut value = String::new();
    let mut escaped = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                escaped = true;
                value.extend(characters.next().map(|(_, next)| next));
            }
            ':' if ends => return (value, escaped, Some(&text[at + 1..])),
            other => value.push(other),
        }
    }
    (value, escaped, None)
}

/// The options of some groups of a `.my.cnf` file.
#[derive(Default)]
pub struct MyCnf(BTreeMap<String, String>);

impl fmt::Debug for MyCnf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

impl MyCnf {
    /// Reads the file; one that is missing has no options. One that every account may write to is not
    /// used, and a warning says so, as MySQL's programs do. `!include` lines are not followed.
    pub fn read(file: &Path, groups: &[String], warnings: &mut Vec<String>) -> MyCnf {
        let Some((mut opened, found)) = open(file, warnings) else { return MyCnf::default() };
        if found.permissions().mode() & 0o002 != 0 {
            let file = file.display();
            warnings.push(format!(
                "{file} is not used: anybody may write to it; `chmod 600 {file}` keeps them out"
            ));
            return MyCnf::default();
        }
        let mut text = Vec::new();
        if opened.read_to_end(&mut text).is_err() {
            return MyCnf::default();
        }
        MyCnf::parse(&String::from_utf8_lossy(&text), groups)
    }

    fn parse(text: &str, groups: &[String]) -> MyCnf {
        let mut options = BTreeMap::new();
        let mut wanted = false;
        for line in text.lines().map(str::trim) {
            if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
                wanted = groups.iter().any(|known| known == group.trim());
            } else if wanted
                && !line.starts_with(['#', ';', '!'])
                && let Some((name, value)) = line.split_once('=')
            {
                options.insert(name.trim().replace('_', "-"), option_value(value));
            }
        }
        MyCnf(options)
    }

    /// The value of an option that is not empty; the last one counts.
    pub fn value(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }
}

/// A value without its comment, its quotes and its escapes.
fn option_value(text: &str) -> String {
    let text = without_comment(text).trim();
    let quoted = ['"', '\''].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote));
    let mut value = String::new();
    let mut characters = quoted.unwrap_or(text).chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('b') => value.push('\u{8}'),
            Some('s') => value.push(' '),
            Some(quote @ ('\\' | '"' | '\'')) => value.push(quote),
            // A backslash before any other character is kept as it is.
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

/// The text before a `#` that is not within quotes.
fn without_comment(text: &str) -> &str {
    let mut open = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match (character, open) {
            ('#', None) => return &text[..at],
            ('"' | '\'', None) if !escaped => open = Some(character),
            (quote, Some(opened)) if quote == opened && !escaped => open = None,
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    text
}

#[cfg(test)]
mod tests;
