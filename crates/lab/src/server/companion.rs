//! Programs that are installed with a server and work with it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal;

use super::account::Account;
use super::installation::Installation;

impl Installation {
    /// A command of another program that is installed next to the server's. It runs under the account of servers, which
    /// gets `folder` to work in, and the kernel kills it with the thread that starts it.
    ///
    /// # Errors
    /// The program is not there, the machine has no account for servers, or the folder cannot be made the account's.
    pub fn companion(&self, name: &str, folder: &Path) -> Result<Command> {
        let program = self.server.with_file_name(name);
        ensure!(program.is_file(), "there is no {} next to the server", program.display());
        let account = Account::for_server(&self.start.account)?;
        account.own(folder).with_context(|| format!("cannot give {} away", folder.display()))?;
        let mut command = self.own.command(&program);
        command.current_dir(folder);
        account.prepare(&mut command, Signal::SIGKILL);
        Ok(command)
    }
}
