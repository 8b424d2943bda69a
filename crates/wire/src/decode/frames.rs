//! Messages out of a stream whose pieces end anywhere.

/// Bytes of messages that have not ended.
#[derive(Debug, Default)]
pub struct Frames {
    held: Vec<u8>,
}

impl Frames {
    /// Adds bytes. `length` gives a message's size from the first bytes of it, or `None` where these are too few;
    /// `each` is called with each message that is whole, and may end the reading.
    pub fn add<E>(
        &mut self,
        bytes: &[u8],
        mut length: impl FnMut(&[u8]) -> Result<Option<usize>, E>,
        mut each: impl FnMut(&[u8]) -> Result<Then, E>,
    ) -> Result<(), E> {
        self.held.extend_from_slice(bytes);
        let mut done = 0;
        loop {
            let rest = &self.held[done..];
            let Some(size) = length(rest)?.filter(|&size| size > 0 && size <= rest.len()) else { break };
            let then = each(&rest[..size])?;
            done += size;
            if let Then::Stop = then {
                break;
            }
        }
        self.held.drain(..done);
        Ok(())
    }

    /// Takes the bytes of a message that has not ended.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// The decision whether further messages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Continue,
    Stop,
}
