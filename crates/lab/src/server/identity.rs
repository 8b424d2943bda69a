//! The build of a server that a proof is about: the digest of its program, besides the version that it reports. A
//! distribution may patch a package, and a wrapper may load other libraries, under one version.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use dyno_engine::Contender;
use dyno_protocol::{Build, Hello};

use super::Installation;
use crate::content::digest;

/// Under which name the digest stands among what identifies a build.
const NAME: &str = "server";

/// Digests by engine and build.
type Known = HashMap<(String, Build), Option<String>>;

/// By engine and build. A server's program does not change while dyno runs.
static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// The identity that an engine reported, with the digest of its program where dyno starts it as a server.
pub fn identified(contender: &Contender, hello: &Hello) -> Hello {
    let mut hello = hello.clone();
    if contender.url.is_none()
        && let Some(digest) = program(contender)
    {
        hello.build.insert(NAME.to_owned(), vec![digest]);
    }
    hello
}

fn program(contender: &Contender) -> Option<String> {
    let engine = contender.engine.server()?;
    let name = (contender.engine.name.clone(), contender.build.clone());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    known
        .entry(name)
        .or_insert_with(|| {
            let installation = Installation::find(&engine, &contender.build).ok()?;
            let mut file = dyno_files::open_found(&installation.server).ok()?;
            Some(digest(&mut file).ok()?.sha256)
        })
        .clone()
}
