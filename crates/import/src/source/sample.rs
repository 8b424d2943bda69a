//! The beginning of a text.

use std::io::Cursor;
use std::ops::Deref;
use std::sync::Arc;

/// The beginning of a text, which several look at.
#[derive(Debug, Clone)]
pub struct Sample(pub(super) Arc<Vec<u8>>);

impl Sample {
    /// It from its first byte on.
    pub fn read(&self) -> Cursor<Sample> {
        Cursor::new(self.clone())
    }
}

impl AsRef<[u8]> for Sample {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Deref for Sample {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Sample {
    fn from(text: &str) -> Sample {
        Sample(Arc::new(text.into()))
    }
}
