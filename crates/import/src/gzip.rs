//! Text packed by gzip: one member or several, and zeros behind the last one, as tapes and padded blobs have them.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Unpacks a stream.
pub struct Gzip<R: BufRead> {
    /// None once the file has ended.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gzip<R> {
    /// From the first byte of the first member.
    pub fn new(input: R) -> Gzip<R> {
        Gzip { member: Some(GzDecoder::new(input)) }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(mut member) = self.member.take() {
            let count = member.read(buffer)?;
            if count > 0 {
                self.member = Some(member);
                return Ok(count);
            }
            let mut input = member.into_inner();
            if has_member(&mut input)? {
                self.member = Some(GzDecoder::new(input));
            }
        }
        Ok(0)
    }
}

/// True if another member follows. Zeros are skipped.
fn has_member(input: &mut impl BufRead) -> io::Result<bool> {
    let mut is_padded = false;
    loop {
        let rest = input.fill_buf()?;
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        match rest.get(zeros) {
            Some(0x1f) if !is_padded && zeros == 0 => return Ok(true),
            Some(_) => {
                let what = "the packed text is followed by what is neither packed by gzip nor zeros";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            None if rest.is_empty() => return Ok(false),
            None => is_padded = true,
        }
        input.consume(zeros);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_and_zeros_behind_them_are_read() {
        let two = [packed(b"a,b\n"), packed(b""), packed(b"1,2\n")].concat();
        for (bytes, wanted) in [
            (two.clone(), Some("a,b\n1,2\n")),
            ([two.clone(), vec![0; 700]].concat(), Some("a,b\n1,2\n")),
            ([two.clone(), b"x".to_vec()].concat(), None),
            ([two.clone(), vec![0, 0x1f]].concat(), None),
            (two[..two.len() - 1].to_vec(), None),
        ] {
            for block in [1, 7, 1000] {
                let mut text = String::new();
                let read = Gzip::new(BufReader::with_capacity(block, &bytes[..])).read_to_string(&mut text);
                assert_eq!(read.ok().map(|_| text.as_str()), wanted, "blocks of {block}");
            }
        }
    }
}
