//! The trial's own database on a server: made anew, worked in, and removed whatever happens.

use anyhow::Result;

use super::Engine;

/// A connection to a database that goes away with it.
pub struct Scratch<E: Engine> {
    engine: E,
    /// `None` only while the database is being made or removed.
    client: Option<E::Client>,
    made: bool,
}

impl<E: Engine> Scratch<E> {
    /// Removes a database of that name, makes it and works in it from then on.
    pub fn make(engine: E) -> Result<Scratch<E>> {
        let mut scratch = Scratch { engine, client: None, made: false };
        let client = scratch.engine.connect()?;
        scratch.engine.remove(&client)?;
        scratch.engine.make(&client)?;
        scratch.made = true;
        scratch.client = Some(scratch.engine.enter(client)?);
        Ok(scratch)
    }

    /// The server.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The connection to the database.
    #[inline]
    pub fn client(&self) -> &E::Client {
        self.client.as_ref().expect("it is there from `make` to `remove`")
    }

    /// The connection, to load rows by it.
    #[inline]
    pub fn client_mut(&mut self) -> &mut E::Client {
        self.client.as_mut().expect("it is there from `make` to `remove`")
    }

    /// Closes the connection and removes the database.
    pub fn remove(mut self) -> Result<()> {
        self.clean()
    }

    fn clean(&mut self) -> Result<()> {
        // By a new connection, because the old one may be lost or in the middle of anything, and because
        // some servers remove no database to which somebody is connected. What it has not committed is
        // rolled back.
        self.client = None;
        if std::mem::take(&mut self.made) {
            self.engine.remove(&self.engine.connect()?)?;
        }
        Ok(())
    }
}

impl<E: Engine> Drop for Scratch<E> {
    fn drop(&mut self) {
        // After a failure, of which the cause is told elsewhere. What cannot be removed now, because the
        // server is gone say, the next trial removes.
        let _ = self.clean();
    }
}
