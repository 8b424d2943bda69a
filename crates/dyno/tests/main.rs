//! Every test that needs the command, real engines or a browser, as one program: each program more would link
//! all of dyno once more. `cargo test -p dyno --test tests kv_runners::` runs one file of them.

mod arrays;
mod arrows;
mod bad_input;
mod builds;
mod commands;
mod common;
mod conformance;
mod docs;
mod encryption;
mod engines;
mod faults;
mod go_runner;
mod golden;
mod import;
mod import_both_ways;
mod kv;
mod kv_runners;
mod ladder;
mod needs;
mod outputs;
mod parsers;
mod protocols;
mod python;
mod report;
mod report_views;
mod rig;
mod runaways;
mod server_import;
mod server_ladder;
mod server_rows;
mod server_runners;
mod servers;
mod speedtest;
mod statistics;
