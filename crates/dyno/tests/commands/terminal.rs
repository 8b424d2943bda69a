//! Tables and lists on terminals of any width.

use crate::common::{Place, is_thorough};

/// The output of dyno on a terminal with a number of columns.
fn on_terminal(place: &Place, columns: usize, arguments: &str) -> String {
    let dyno = place.command().get_program().to_string_lossy().into_owned();
    let command = format!("stty rows 40 cols {columns}; {dyno} {arguments}");
    let output = std::process::Command::new("script").args(["-qec", &command, "/dev/null"]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().replace('\r', "")
}

#[test]
fn a_table_takes_the_width_of_its_terminal() {
    let place = Place::new();
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/run.json");
    let at = |columns: usize| on_terminal(&place, columns, &format!("show {run} --color never"));
    for columns in [60, 80, 100, 200] {
        let text = at(columns);
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{text}");
        assert!(text.contains("61.0 ms ±4%"), "{columns}:\n{text}");
    }
    // With enough room nothing is cut and every ratio has its interval.
    let wide = at(200);
    assert!(
        wide.contains("2500 INSERTs in a transaction") && wide.contains("0.0461× (0.0445–0.0480)"),
        "{wide}"
    );
}

#[test]
fn further_tables_and_lists_keep_to_a_narrow_terminal() {
    let place = if is_thorough() { Place::new() } else { Place::with_runner_and_few_others("exit 0") };
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/run.json");
    let all = format!("show {run} --color never --costs --notes --published --tax");
    for columns in [60, 80, 120, 200] {
        // The list is at most 100 columns wide, which another test checks, and starts every runner.
        let list = [("list", "wal-normal")].into_iter().filter(|_| columns < 100);
        for (arguments, holds) in
            [(all.as_str(), "CPU system"), ("doctor", "file system")].into_iter().chain(list)
        {
            let text = on_terminal(&place, columns, arguments);
            assert!(text.contains(holds), "{columns}:\n{text}");
            let over = text.lines().find(|line| line.chars().count() > columns);
            assert_eq!(over, None, "{arguments} in {columns} columns:\n{text}");
        }
    }
}
