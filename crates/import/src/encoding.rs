//! Text of another encoding, read as UTF-8. What cannot be decoded is an error and never replaced.

use std::io::{self, BufRead, Read};

use encoding_rs::{DecoderResult, Encoding};

/// Reads as UTF-8 what is in another encoding.
pub struct Decoder<R> {
    input: R,
    decoder: encoding_rs::Decoder,
    /// Bytes decoded so far, for the message.
    position: u64,
    ended: bool,
    /// Decoded, where a caller's buffer is too short for a character.
    rest: Vec<u8>,
}

impl<R: BufRead> Decoder<R> {
    /// Decodes from here on; a byte order mark has been taken away.
    pub fn new(input: R, encoding: &'static Encoding) -> Decoder<R> {
        let decoder = encoding.new_decoder_without_bom_handling();
        Decoder { input, decoder, position: 0, ended: false, rest: Vec::new() }
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.rest.is_empty() {
            let count = self.rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.rest[..count]);
            self.rest.drain(..count);
            return Ok(count);
        }
        if buffer.len() < 16 {
            let mut own = [0; 64];
            let count = self.read(&mut own)?;
            self.rest = own[..count].to_vec();
            return if count == 0 { Ok(0) } else { self.read(buffer) };
        }
        while !self.ended {
            let input = self.input.fill_buf()?;
            let last = input.is_empty();
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(input, buffer, last);
            self.input.consume(read);
            self.position += read as u64;
            if let DecoderResult::Malformed(length, after) = result {
                let at = self.position - u64::from(length) - u64::from(after) + 1;
                let name = self.decoder.encoding().name();
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("byte {at} of the text is no {name}; --encoding names another"),
                ));
            }
            self.ended = last && result == DecoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], encoding: &'static Encoding) -> io::Result<String> {
        let mut text = String::new();
        Decoder::new(bytes, encoding).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn other_encodings_become_utf8() {
        assert_eq!(decode(b"caf\xe9 \x80", encoding_rs::WINDOWS_1252).unwrap(), "café €");
        assert_eq!(decode(b"a\0\xe9\0\x3d\xd8\x00\xde", encoding_rs::UTF_16LE).unwrap(), "aé😀");
    }

    #[test]
    fn what_cannot_be_decoded_is_an_error_with_its_place() {
        let error = decode(b"a\0\x3d\xd8b\0", encoding_rs::UTF_16LE).unwrap_err().to_string();
        assert!(error.contains("byte 3 of the text is no UTF-16LE"), "{error}");
        assert!(decode(b"a\0b", encoding_rs::UTF_16LE).is_err());
    }
}
