//! The files behind the first one, which are read as it is: what would be misread by that is refused.

use std::slice;
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};

use super::beginning::{Beginning, asked, check_contents, check_repeatable, header};
use crate::contents::{is_parquet, lines_before};
use crate::error::Input;
use crate::guess::{self, Choice};
use crate::request::Request;
use crate::table::Column;

/// The bytes that are looked at of later files, to see that they are text.
const SAMPLE: u64 = 4096;

/// Refuses later files that are not as the first one, of text with delimiters.
///
/// # Errors
/// One is no such text, or cannot be read.
pub(super) fn check_texts(request: &Request) -> Result<()> {
    for source in request.more.iter().filter(|source| source.is_repeatable()) {
        let opened = source.open_sampled(request.encoding, SAMPLE, Arc::default(), Arc::default())?;
        let (sample, name) = (&opened.sample, source.name());
        check_contents(request, false, sample, &name).input()?;
        if is_parquet(sample) {
            return Err(anyhow!(
                "{name} is a Parquet file, and {} is not: load it with --append",
                request.source.name()
            ))
            .input();
        }
    }
    Ok(())
}

impl Beginning {
    /// Refuses a first file without a record if there are others: it shows neither their header nor their columns.
    ///
    /// # Errors
    /// It is one.
    pub fn check_first(&self, request: &Request) -> Result<()> {
        let shows_nothing = self.records.is_empty() && self.opened.whole && !request.more.is_empty();
        ensure!(
            !shows_nothing,
            "{} has no record, and the first of several files shows how all of them are read: leave it out, or name it \
             behind another one",
            request.source.name()
        );
        Ok(())
    }

    /// Asks where the first file has no header and another one may have one: it would be loaded as a row. `existing` are
    /// the columns of a table to which rows are added.
    ///
    /// # Errors
    /// The question, or a file cannot be read.
    pub fn check_later_headers(&self, request: &Request, existing: Option<&[Column]>) -> Result<()> {
        for source in &request.more {
            check_repeatable(source, "--header or --no-header says whether it names its columns")?;
            let opened = source.open(request.encoding)?;
            let (sample, skip) = (&opened.sample, lines_before(&mut opened.sample.read(), request.skip, "")?);
            let own = guess::records(&source.name(), sample, opened.whole, self.syntax, skip)?;
            let Some((first, rest)) = own.split_first() else { continue };
            // A record that is a row of the first file is a row of this one too.
            if self.records.iter().any(|record| guess::is_again(record, first)) {
                continue;
            }
            let above =
                |rest: &[Vec<Vec<u8>>]| [slice::from_ref(first), rest, self.records.as_slice()].concat();
            // Where the first file leaves a doubt, the file's own rows may still show that its first record is one.
            let guess = header(&above(&[]), existing).or_else(|_| header(&above(rest), existing));
            let reads = match guess {
                Ok(Choice { value: false, .. }) => continue,
                Ok(_) => "reads like",
                Err(_) => "may be",
            };
            let why = format!(
                "that of {} {reads} a header, and that of {} reads like data",
                source.name(),
                request.source.name()
            );
            return Err(asked(source, &guess::either(&why)));
        }
        Ok(())
    }
}
