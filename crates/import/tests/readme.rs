//! The example of the README, executed. Tests of documentation run in a folder where the bundled SQLite is not found.

use std::time::Duration;

use dyno_import::{Plan, Request, Safety, Source, Sqlite};

#[test]
fn the_example_of_the_readme_loads_its_rows() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (file, database) = (folder.path().join("people.csv"), folder.path().join("people.db"));
    std::fs::write(&file, "id,name\n1,Ann\n2,Bob\n")?;
    let request = Request { indexes: vec![vec!["name".into()]], ..Request::new(Source::new(&file)) };
    let target = Sqlite::new(&database, Safety::PowerLoss, Duration::from_secs(5))?;
    let plan = Plan::make(request, Box::new(target))?;
    println!("{}", plan.explain()?);
    let report = plan.load(&())?;
    assert_eq!((report.rows, report.rejected), (2, 0));
    Ok(())
}

#[test]
fn the_readme_shows_what_is_executed() {
    let readme = include_str!("../README.md").split("```rust,no_run\n").nth(1).unwrap();
    let shown = readme.split("```").next().unwrap().lines().filter(|line| !line.starts_with("# fn main"));
    let lines = shown.map(|line| line.trim_start_matches("# ").trim()).filter(|line| *line != "}");
    let executed: Vec<&str> = include_str!("readme.rs").lines().map(str::trim).collect();
    for line in lines {
        assert!(executed.contains(&line), "this is not executed: {line}");
    }
}
