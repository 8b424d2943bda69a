//! A server's key as a file that has no name: it is in memory alone, and the server and its children reach it
//! by a number that they inherit.
//!
//! Some servers want to open a file with their key, as MariaDB's `file_key_management` does. A file on disk
//! would be one more place where the key stands, and would outlive a dyno that is killed.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::Command;

use anyhow::{Context, Result};
use dyno_engine::KeyGift;
use dyno_launch::inherit;
use dyno_protocol::Secret;
use nix::sys::memfd::{MFdFlags, memfd_create};

/// The file. The server reads it when it starts; it may be dropped once that runs.
#[derive(Debug)]
pub struct KeyFile<'a> {
    file: File,
    gift: &'a KeyGift,
}

impl<'a> KeyFile<'a> {
    /// A file with the key, as the server wants it.
    pub fn new(gift: &'a KeyGift, key: &Secret) -> Result<KeyFile<'a>> {
        let make = || -> std::io::Result<File> {
            let mut file = File::from(memfd_create("dyno", MFdFlags::MFD_CLOEXEC)?);
            file.write_all(gift.file.replace("{key}", key.reveal()).as_bytes())?;
            Ok(file)
        };
        make().map(|file| KeyFile { file, gift }).context("cannot keep the server's key in memory")
    }

    /// Lets a command inherit it. The file must live until the command is started.
    pub fn give(&self, command: &mut Command) {
        let number = self.file.as_raw_fd();
        let path = format!("/proc/self/fd/{number}");
        command.args(self.gift.arguments.iter().map(|argument| argument.replace("{file}", &path)));
        inherit(command, &self.file);
    }
}
