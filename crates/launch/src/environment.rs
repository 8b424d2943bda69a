//! The environment of runners: a short list of variables, and none of the others.
//!
//! A program inherits what its user has exported: passwords of databases, keys of clouds, and variables that change
//! what a driver does, such as `PGOPTIONS`. A runner gets its passwords in the job, and its settings too, so it needs
//! none of these, and what it does not have it cannot leak or obey.

use std::env;
use std::process::Command;

/// Variables that programs, their libraries and the runtimes of their languages need or are tuned by.
const KEPT: [&str; 20] = [
    "GLIBC_TUNABLES",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LOGNAME",
    "OMP_NUM_THREADS",
    "PATH",
    "RUST_BACKTRACE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
];
/// The beginnings of names of which all are kept: of the locale, of the memory allocators, of dyno.
const KEPT_FAMILIES: [&str; 3] = ["LC_", "MALLOC_", "DYNO_"];
/// The variable of dyno's own that may hold a key.
pub const KEY: &str = "DYNO_KEY";
/// Those from which dyno takes a secret: it reaches runners and agents in the job only.
pub const SECRET: [&str; 3] = [KEY, "PGPASSWORD", "MYSQL_PWD"];

/// Makes a command start with the kept variables only. Call it before others are set.
pub fn clean(command: &mut Command) {
    command.env_clear();
    command.envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept)));
}

fn is_kept(name: &str) -> bool {
    let is_of_family = KEPT_FAMILIES.iter().any(|family| name.starts_with(family));
    (KEPT.contains(&name) || is_of_family) && !SECRET.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_kept() {
        for name in ["PGPASSWORD", "MYSQL_PWD", "PGOPTIONS", "AWS_SECRET_ACCESS_KEY", "DYNO_KEY", ""] {
            assert!(!is_kept(name), "{name}");
        }
        for name in ["PATH", "LC_ALL", "DYNO_HOME", "LD_LIBRARY_PATH", "MALLOC_ARENA_MAX"] {
            assert!(is_kept(name), "{name}");
        }
    }
}
