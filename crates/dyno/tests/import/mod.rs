//! `dyno import` as people use it: real files into real databases, read back by Python's own sqlite3.

mod all_or_nothing;
mod append;
mod bad;
mod both_ways;
mod changed;
mod chosen;
mod exact;
mod fifos;
mod headers;
mod hostile;
mod locks;
mod lossless;
mod names;
mod parquet;
mod planted;
mod private;
mod refused;
mod replaced;
mod servers;
mod shape;
mod syncs;
mod types;
mod values;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use dyno_lab::machine::{cap, storage};
use serde_json::Value;

use crate::common::{Place, Result};

const PEOPLE: &str = "id,name,size,code\n1,Ann,1.5,007\n2,\"B, \"\"ob\"\"\",,008\n3,Çem,2,\n";

/// The rows of a query, by a SQLite that is not dyno's.
fn query(database: &Path, sql: &str) -> Value {
    let script = "import json,sqlite3,sys;print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))";
    let output = Command::new("python3").args(["-c", script]).arg(database).arg(sql).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The safety that dyno reports of rows in a folder at most: there may be storage on which it promises less.
fn most(folder: &Path) -> &'static str {
    match cap(&storage(folder).unwrap()) {
        None => "Survives power-loss: ",
        Some(_) => "Survives process-crash: ",
    }
}

fn import(place: &Place, arguments: &str) -> Result {
    place.dyno(&format!("import {arguments}")).without_panic()
}

/// Runs dyno with something on its standard input.
fn import_input(place: &Place, arguments: &str, input: &[u8]) -> Result {
    let mut command = place.command();
    command.arg("import").args(arguments.split_whitespace());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may have seen enough before the end.
    let _ = child.stdin.take().unwrap().write_all(input);
    Result::from(child.wait_with_output().unwrap()).without_panic()
}

/// The names in the folder, hidden ones too.
fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "data");
    names.sort();
    names
}
