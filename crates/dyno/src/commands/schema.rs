//! `dyno schema`: the JSON Schemas of the files and lines that other programs read or write.

use anyhow::Result;
use dyno_protocol::{Event, Job};
use dyno_record::Line;
use schemars::schema_for;

use crate::cli::SchemaOf;

/// The schema as JSON.
pub fn render(what: SchemaOf) -> Result<String> {
    dyno_show::pretty(&match what {
        SchemaOf::Run => schema_for!(Line),
        SchemaOf::Job => schema_for!(Job),
        SchemaOf::Event => schema_for!(Event),
    })
}
