//! `dyno schema`: the JSON Schemas of the files and lines that other programs read or write.

use anyhow::Result;
use dyno_protocol::{Event, Job};
use dyno_record::Run;
use schemars::schema_for;

use crate::cli::SchemaOf;

/// The schema as JSON.
pub fn render(what: SchemaOf) -> Result<String> {
    dyno_show::pretty(&match what {
        SchemaOf::Run => schema_for!(Run),
        SchemaOf::Job => schema_for!(Job),
        SchemaOf::Event => schema_for!(Event),
    })
}
