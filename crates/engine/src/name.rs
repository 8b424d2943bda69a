//! Contenders' names, taken apart: `engine[@build][/driver[+variant]][:profile][,setting=value…]`.

use std::path::Path;

use anyhow::{Result, bail};

use super::settings::looks_like_setting;

/// A contender's name taken apart.
#[derive(Debug, PartialEq)]
pub struct Name<'a> {
    pub engine: &'a str,
    pub build: Option<&'a str>,
    pub driver: Option<&'a str>,
    pub variant: Option<&'a str>,
    pub profile: Option<&'a str>,
    pub settings: Vec<&'a str>,
}

/// Cuts a list of contenders at its commas. A part such as `cache_size=-65536` belongs to the
/// contender before it.
pub fn split_list(list: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match names.last_mut() {
            Some(last) if looks_like_setting(part) => {
                last.push(',');
                last.push_str(part);
            }
            _ => names.push(part.to_owned()),
        }
    }
    names
}

/// Takes a name apart. A build may be a path with slashes: its last part is a driver only where the
/// engine has a driver of that name.
pub fn take_apart<'a>(text: &'a str, is_driver: impl Fn(&str, &str) -> bool) -> Result<Name<'a>> {
    let mut parts = text.split(',').map(str::trim);
    let head = parts.next().unwrap_or_default();
    let settings: Vec<&str> = parts.collect();
    let (head, profile) = match head.split_once(':') {
        Some((head, profile)) => (head, Some(profile)),
        None => (head, None),
    };
    if profile.is_some_and(|profile| profile.contains('@')) {
        bail!(
            "a build goes before the profile, as engine@build:profile; a server that runs already is named by --url"
        );
    }
    let (engine, build, driver) = match head.split_once('@') {
        None => match head.split_once('/') {
            Some((engine, driver)) => (engine, None, Some(driver)),
            None => (head, None, None),
        },
        Some((engine, whole)) => match whole.rsplit_once('/') {
            // A folder may have the name of a driver, such as `pg`.
            Some((build, driver))
                if !build.is_empty()
                    && is_driver(engine, without_variant(driver))
                    && !Path::new(whole).exists() =>
            {
                (engine, Some(build), Some(driver))
            }
            _ => (engine, Some(whole), None),
        },
    };
    // A variant of the usual driver needs no driver's name: `sqlite+multirow`.
    let (engine, driver, variant) = match (driver, engine.split_once('+')) {
        (None, Some((engine, variant))) => (engine, None, Some(variant)),
        (Some(driver), _) => match driver.split_once('+') {
            Some((driver, variant)) => (engine, Some(driver), Some(variant)),
            None => (engine, Some(driver), None),
        },
        (None, None) => (engine, None, None),
    };
    if engine.is_empty() || [build, driver, variant, profile].contains(&Some("")) {
        bail!("a contender is written engine[@build][/driver[+variant]][:profile][,setting=value…]");
    }
    Ok(Name { engine, build, driver, variant, profile, settings })
}

fn without_variant(driver: &str) -> &str {
    driver.split_once('+').map_or(driver, |(driver, _)| driver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Name<'_> {
        take_apart(text, |engine, name| engine == "sqlite" && name == "c").unwrap()
    }

    #[test]
    fn a_name_has_five_parts() {
        let name = parts("sqlite@system/c:wal,cache_size=-65536,mmap_size=0");
        assert_eq!((name.engine, name.build, name.driver), ("sqlite", Some("system"), Some("c")));
        assert_eq!((name.profile, name.settings), (Some("wal"), vec!["cache_size=-65536", "mmap_size=0"]));
        assert_eq!(parts("postgres/pgx").driver, Some("pgx"));
        let name = parts("sqlite+multirow:wal");
        assert_eq!((name.engine, name.driver, name.variant), ("sqlite", None, Some("multirow")));
        let name = parts("postgres@18/c+copy:nosync");
        assert_eq!((name.build, name.driver, name.variant), (Some("18/c+copy"), None, None));
        let name = parts("sqlite@system/c+rowid");
        assert_eq!((name.build, name.driver, name.variant), (Some("system"), Some("c"), Some("rowid")));
    }

    #[test]
    fn a_path_is_a_build() {
        let name = parts("sqlite@/opt/new/libsqlite3.so:wal");
        assert_eq!((name.build, name.driver), (Some("/opt/new/libsqlite3.so"), None));
        let name = parts("sqlite@/opt/new/libsqlite3.so/c");
        assert_eq!((name.build, name.driver), (Some("/opt/new/libsqlite3.so"), Some("c")));
    }

    #[test]
    fn a_list_keeps_settings_with_their_contender() {
        let names = split_list("sqlite, sqlite:wal,cache_size=-65536,mmap_size=0,sqlite@system");
        assert_eq!(names, ["sqlite", "sqlite:wal,cache_size=-65536,mmap_size=0", "sqlite@system"]);
    }

    #[test]
    fn empty_parts_are_refused() {
        for bad in [
            "",
            ":wal",
            "sqlite:",
            "sqlite:wal@system",
            "sqlite@",
            "sqlite/",
            "@system",
            "sqlite/c+",
            "sqlite/+x",
            "sqlite+",
        ] {
            assert!(take_apart(bad, |_, _| false).is_err(), "{bad}");
        }
    }
}
