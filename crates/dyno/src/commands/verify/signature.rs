//! The signer of a run file, by OpenSSH's signatures, of which dyno makes none and has no key.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result};
use dyno_files::open_found;

/// The purpose of a signature (`ssh-keygen -Y sign -n`): one made for something else is not taken.
const NAMESPACE: &str = "dyno-run";

/// The signer of a file, by the name that `signers` gives to the key; the error says why it is not signed well. The signature
/// is in the file of the same name with `.sig` at its end, where `ssh-keygen -Y sign` puts it.
///
/// # Errors
/// `ssh-keygen` cannot be run.
pub fn signer(path: &Path, signers: &Path) -> Result<Result<String, String>> {
    let signature = PathBuf::from(format!("{}.sig", path.display()));
    if !signature.is_file() {
        return Ok(Err(format!("there is no signature {}", signature.display())));
    }
    let mut find = keygen("find-principals", signers, &signature);
    let found = run(&mut find, path)?;
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    let Some(name) = names.lines().next().filter(|_| found.status.success()) else {
        return Ok(Err(format!("no key of {} made its signature", signers.display())));
    };
    let mut verify = keygen("verify", signers, &signature);
    verify.args(["-n", NAMESPACE, "-I", name]);
    Ok(match run(&mut verify, path)?.status.success() {
        true => Ok(name.to_owned()),
        false => Err(format!("its signature by {name} is not of this file")),
    })
}

fn keygen(action: &str, signers: &Path, signature: &Path) -> Command {
    let mut command = Command::new("ssh-keygen");
    command.arg("-Y").arg(action).arg("-f").arg(signers).arg("-s").arg(signature);
    command
}

/// Runs `ssh-keygen` with the signed file on its standard input.
fn run(command: &mut Command, path: &Path) -> Result<Output> {
    let file: File = open_found(path).with_context(|| format!("cannot read {}", path.display()))?;
    let output = command.stdin(Stdio::from(file)).stderr(Stdio::null()).output();
    output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            anyhow::anyhow!("there is no ssh-keygen here; on Debian: apt-get install openssh-client")
        }
        _ => anyhow::Error::new(error).context("cannot run ssh-keygen"),
    })
}
