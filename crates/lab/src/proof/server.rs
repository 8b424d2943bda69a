//! The pass for servers that dyno starts: it opens the data anew by starting the server on them.

use anyhow::Result;
use dyno_engine::{Contender, Key};
use dyno_protocol::{Secret, Setting};
use dyno_record::{Attempt, EncryptionProof};

use super::embedded::{Opening, Prover, examine, take_cipher};
use super::plant;
use super::watch::FileWatch;
use crate::server::{Installation, PrivateServer, scratch_name};

impl Prover<'_> {
    pub(super) fn server(&mut self, contender: &Contender, proof: &mut EncryptionProof) -> Result<()> {
        let marker = plant::marker()?;
        let place = self.servers.place(contender)?;
        let watched = self.files_of(contender, &place)?;
        let watch = FileWatch::begin(vec![watched]);
        let started = self.servers.alone(contender);
        let planted = started.and_then(|(mut server, installation)| {
            let directory = self.scratch.trial()?;
            let opening = Opening {
                settings: &contender.settings,
                key: contender.engine_key(),
                server: Some(server.connection(&scratch_name())),
                directory: directory.path(),
            };
            let trial = self.plant(contender, &opening, &marker)?;
            server.stop();
            Ok((trial, server, installation))
        });
        let mut files = watch.end().files;
        let (trial, server, installation) = planted?;
        if contender.file_system.is_none() {
            // Next to them lie the inputs of the tests, in which the marker stands.
            files.retain(|(path, _)| path.starts_with(server.folder()));
        }
        take_cipher(contender, &trial, proof);
        examine(contender, &files, &marker, proof)?;
        let Some(encryption) = contender.engine.encryption().filter(|_| contender.engine_key().is_some())
        else {
            return Ok(());
        };
        let settings = &contender.settings;
        let without = encryption.without(settings);
        let other = contender.key.as_ref().map(Key::another);
        let started = &mut (server, installation);
        proof.without_key = Some(self.start_again(contender, started, &without, None)?);
        let wrong = other.as_ref().map(Key::secret);
        proof.wrong_key = Some(self.start_again(contender, started, settings, wrong)?);
        proof.own_key = Some(self.start_again(contender, started, settings, contender.engine_key())?);
        Ok(())
    }

    /// Starts the server on the same data with a key or without and reads the marked rows.
    fn start_again(
        &self,
        contender: &Contender,
        (server, installation): &mut (PrivateServer, Installation),
        settings: &[Setting],
        key: Option<&Secret>,
    ) -> Result<Attempt> {
        if let Err(error) = server.restart(installation, settings, key, self.servers.placement()) {
            let said = format!("{error:#}");
            let encryption = contender.engine.encryption();
            let refused = encryption.is_some_and(|encryption| encryption.is_refusal(&said));
            return Ok(Attempt { refused, said: shortened(&said, encryption.map_or(&[], |e| &e.refusals)) });
        }
        let directory = self.scratch.trial()?;
        let connection = server.connection(&scratch_name());
        let opening = Opening { settings, key, server: Some(connection), directory: directory.path() };
        self.attempt(contender, &opening)
    }
}

/// Of a log's end the line that says it.
fn shortened(said: &str, words: &[String]) -> String {
    let line = said.lines().find(|line| words.iter().any(|words| line.contains(words.as_str())));
    line.unwrap_or(said).to_owned()
}
