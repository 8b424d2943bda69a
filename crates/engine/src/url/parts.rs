//! Takes a URL apart at its marks.

use std::collections::BTreeMap;

use dyno_protocol::Secret;
use percent_encoding::percent_decode_str;

use super::UrlError;

/// The parts of a URL after its scheme; nothing is filled in yet.
#[derive(Default)]
pub struct UrlParts {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub database: Option<String>,
    pub options: BTreeMap<String, String>,
}

/// Cuts what follows the scheme at its marks. Options that name a part overrule it.
pub fn take_apart(rest: &str) -> Result<UrlParts, UrlError> {
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if tail.contains(['@', '#']) {
        return Err(UrlError::Reserved);
    }
    let mut parts = UrlParts::default();
    let host = match authority.rsplit_once('@') {
        None => authority,
        Some((who, host)) => {
            let (user, password) = who.split_once(':').map_or((who, None), |(u, p)| (u, Some(p)));
            parts.user = given(user)?;
            parts.password = password.map(given).transpose()?.flatten().map(Secret::new);
            host
        }
    };
    (parts.host, parts.port) = host_and_port(host)?;
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    parts.database = given(path.strip_prefix('/').unwrap_or(path))?;
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').ok_or(UrlError::Option)?;
        let (name, value) = (decode(name)?, decode(value)?);
        match name.as_str() {
            "user" => parts.user = Some(value),
            "password" | "passwd" => parts.password = Some(Secret::new(value)),
            "host" | "socket" | "unix_socket" => parts.host = Some(value),
            "port" => parts.port = Some(port(&value)?),
            "dbname" | "database" => parts.database = Some(value),
            "sslpassword" => return Err(UrlError::KeyPassword),
            _ => {
                // Of two values a driver would drop one.
                if parts.options.insert(name, value).is_some() {
                    return Err(UrlError::Twice);
                }
            }
        }
    }
    if parts.host.as_ref().is_some_and(|host| host.contains(',') && !host.starts_with('/')) {
        return Err(UrlError::Hosts);
    }
    Ok(parts)
}

fn host_and_port(text: &str) -> Result<(Option<String>, Option<u16>), UrlError> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(address) => address.split_once(']').ok_or(UrlError::Port)?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        None => return Err(UrlError::Port),
        Some("") => None,
        Some(number) => Some(port(number)?),
    };
    Ok((given(host)?, port))
}

/// A port's number.
pub fn port(text: &str) -> Result<u16, UrlError> {
    text.parse().ok().filter(|&port| port != 0).ok_or(UrlError::Port)
}

/// The text of a part; `None` if it is empty.
fn given(text: &str) -> Result<Option<String>, UrlError> {
    decode(text).map(|text| Some(text).filter(|text| !text.is_empty()))
}

fn decode(text: &str) -> Result<String, UrlError> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| UrlError::Text)?;
    if text.contains('\0') { Err(UrlError::Text) } else { Ok(text.into_owned()) }
}
