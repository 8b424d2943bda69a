//! Which build of a server something holds of: the digest of its program, beside the version that it reports. A package of a
//! distribution may be patched, and a wrapper may load other libraries, under one version.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dyno_engine::Contender;
use dyno_protocol::Hello;
use sha2::{Digest, Sha256};

use super::Installation;

/// Under which name the digest stands among what identifies a build.
const NAME: &str = "server";

/// By engine and build. A server's program does not change while dyno runs.
static KNOWN: Mutex<Option<HashMap<String, Option<String>>>> = Mutex::new(None);

/// What an engine reported of itself, with the digest of its program where dyno starts it as a server.
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
    let name = format!("{} {:?}", contender.engine.name, contender.build);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    known
        .entry(name)
        .or_insert_with(|| {
            let installation = Installation::find(&engine, &contender.build).ok()?;
            digest(&installation.server).ok()
        })
        .clone()
}

fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut part = vec![0; 1 << 20];
    loop {
        match file.read(&mut part)? {
            0 => break,
            count => hash.update(&part[..count]),
        }
    }
    let bytes: [u8; 32] = hash.finalize().into();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        std::fs::write(&path, "abc").unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&path).unwrap(), known);
        std::fs::write(&path, "abd").unwrap();
        assert_ne!(digest(&path).unwrap(), known);
    }
}
