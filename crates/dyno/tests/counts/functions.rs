//! The functions in which two builds differ: of SQLite behind a library that adds a function to each of its steps.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::browser::Browser;
use crate::common::{Place, read_json, run_file};

const QUICK: &str = "run speedtest --scale 0.01 --only 2,4 --trials 1 --no-warm-up --quiet --counts -o run.jsonl \
                     --with sqlite@./main.so:memory,sqlite@./change.so:memory";

/// Builds SQLite behind a library whose step does something first. dyno knows a library by the file that has
/// `sqlite3_libversion`.
fn build(place: &Place, name: &str, first: &str, flags: &[&str]) {
    let programs = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let source = place.write(
        &format!("{name}.c"),
        &format!(
            "#define _GNU_SOURCE\n\
             #include <dlfcn.h>\n\
             #include <stdlib.h>\n\
             static volatile int sum;\n\
             static __attribute__((noinline, unused)) void usual(void) {{ for (int i = 0; i < 40; i++) sum += i; }}\n\
             static __attribute__((noinline, unused)) void planted(void) {{ for (int i = 0; i < 90; i++) sum += i; }}\n\
             const char *sqlite3_libversion(void) {{\n\
               return ((const char *(*)(void))dlsym(RTLD_NEXT, \"sqlite3_libversion\"))();\n\
             }}\n\
             int sqlite3_step(void *statement) {{\n\
               static int (*step)(void *);\n\
               if (!step) step = (int (*)(void *))dlsym(RTLD_NEXT, \"sqlite3_step\");\n\
               {first}\n\
               return step(statement);\n\
             }}\n"
        ),
    );
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-Wl,--no-as-needed"]).args(flags).arg("-o");
    compiler.arg(place.path(&format!("{name}.so"))).arg(source).arg(programs.join("libdyno_sqlite3.so"));
    compiler.arg(format!("-Wl,-rpath,{}", programs.display())).arg("-ldl");
    assert!(compiler.status().unwrap().success(), "no C compiler");
}

/// The comparison of a run's two builds.
fn comparison(place: &Place) -> Value {
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    verdict["verdict"]["functions"][0].clone()
}

/// The names of the functions of a test, the one with the largest difference first.
fn names(compared: &Value) -> Vec<&str> {
    compared["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["function"].as_str().unwrap())
        .collect()
}

#[test]
fn a_planted_function_is_the_first_in_every_output() {
    let place = Place::in_memory();
    build(&place, "main", "usual();", &[]);
    build(&place, "change", "usual(); planted();", &[]);
    let shown = place.dyno(QUICK).exits(0).without_panic().prints("functions, by instructions").stdout;
    let row = shown
        .split("functions, by instructions")
        .nth(1)
        .unwrap()
        .lines()
        .find(|line| line.starts_with("all"));
    assert_eq!(row.unwrap().split_whitespace().nth(1), Some("planted"), "{shown}");
    assert!(!shown.contains("without a name executed"), "{shown}");
    let compared = comparison(&place);
    let tests = compared["tests"].as_array().unwrap();
    let ids: Vec<Option<&str>> = tests.iter().map(|test| test["test"].as_str()).collect();
    assert_eq!((ids, &compared["over"]), (vec![None, Some("2"), Some("4")], &Value::from(0)));
    for test in tests {
        let number = |value: &Value, key: &str| value[key].as_f64().unwrap();
        let gained = |value: &Value| number(value, "now") - number(value, "before");
        let first = &test["functions"][0];
        assert_eq!((names(test)[0], first["file"].as_str()), ("planted", Some("library")), "{test}");
        assert_eq!(number(first, "before"), 0.0);
        assert!(names(test).contains(&"usual") && names(test).iter().any(|name| name.starts_with("sqlite3")));
        // The rest of the difference is the call of it.
        assert!(gained(first) > 0.9 * gained(test) && gained(first) <= gained(test), "{test}");
    }
    outputs(&place);
    let run = read_json(&place.path("run.jsonl"));
    let samples =
        run["trials"].as_array().unwrap().iter().flat_map(|trial| trial["samples"].as_array().unwrap());
    assert_eq!(samples.filter(|sample| sample["functions"].is_object()).count(), 4);
    place.dyno("verify run.jsonl").exits(0);
    place.assert_clean();
}

/// The outputs besides tables and JSON.
fn outputs(place: &Place) {
    let csv = place.dyno("show run.jsonl --format csv").exits(0).stdout;
    assert!(csv.lines().next().unwrap().contains("functions_over,functions_difference,function,"), "{csv}");
    assert_eq!(csv.matches(",planted,library,").count(), 2, "{csv}");
    place.dyno("show run.jsonl --format markdown").exits(0).prints("Functions: ").prints("planted");
    place.dyno("report run.jsonl -o page.html").exits(0);
    let browser = Browser::start();
    for (scheme, width) in [("light", 1200), ("dark", 360)] {
        browser.prefer(scheme);
        browser.show(&place.path("page.html"));
        browser.resize(width, 900);
        browser.draw_all();
        browser.assert_fits(width);
        browser.assert_accessible(&format!("{scheme}, {width} wide"));
    }
    browser.assert_quiet();
    let titles = browser.run(
        "return [...document.querySelectorAll('section[aria-labelledby=functions] svg title')].map((title) => title.textContent)",
    );
    let titles: Vec<&str> = titles.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(titles.iter().any(|title| title.starts_with("planted: +")), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("usual: 0 ")), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("the engine's library: +")), "{titles:?}");
}

#[test]
fn stripped_builds_are_named_with_the_remedy() {
    let place = Place::in_memory();
    build(&place, "main", "usual();", &["-s"]);
    build(&place, "change", "usual(); planted();", &["-s"]);
    let shown = place.dyno(QUICK).exits(0).without_panic();
    shown
        .prints("without a name, in the engine's library")
        .prints("Functions without a name executed")
        .prints("-s");
    let compared = comparison(&place);
    assert_eq!(compared["nameless"].as_array().unwrap().len(), 2, "{compared}");
    assert_eq!(names(&compared["tests"][0])[0], "", "{compared}");
    place.assert_clean();
}

#[test]
fn builds_with_other_settings_have_no_table_of_functions() {
    let place = Place::in_memory();
    build(&place, "main", "usual();", &[]);
    build(&place, "change", "usual(); planted();", &[]);
    let other = QUICK.replace("change.so:memory", "change.so:memory,cache_size=10");
    let shown = place.dyno(&other).exits(0).without_panic().prints("instructions").stdout;
    assert!(!shown.contains("functions"), "{shown}");
    assert_eq!(comparison(&place), Value::Null);
}

/// The count of an event of the only contender of a run, in its first test.
fn count(place: &Place, run: &str, event: &str) -> f64 {
    let verdict = place.dyno(&format!("show {run} --format json")).exits(0).json();
    let counts = verdict["verdict"]["tests"][0]["counts"].as_array().unwrap().clone();
    let measure = counts.iter().find(|measure| measure["event"] == event).unwrap().clone();
    measure["cells"][0]["figures"]["summary"]["median"].as_f64().unwrap()
}

#[test]
fn runs_of_one_build_each_are_compared_by_their_functions() {
    let place = Place::in_memory();
    build(&place, "main", "usual();", &[]);
    build(&place, "change", "usual(); planted();", &[]);
    for name in ["main", "change"] {
        fs::copy(place.path(&format!("{name}.so")), place.path("build.so")).unwrap();
        let quick = QUICK.split(" -o ").next().unwrap();
        place
            .dyno(&format!("{quick} -o {name}.jsonl --with sqlite@./build.so:memory"))
            .exits(0)
            .without_panic();
    }
    let result = place.dyno("compare main.jsonl change.jsonl").exits(0).without_panic();
    let table = result.stdout.split("functions of sqlite@./build.so:memory, by instructions").nth(1).unwrap();
    let first = table.lines().find(|line| line.starts_with("all")).unwrap();
    assert_eq!(first.split_whitespace().nth(1), Some("planted"), "{}", result.stdout);
    let compared = place.dyno("compare main.jsonl change.jsonl --format json").exits(0).json();
    let tests = compared["functions"][0]["tests"].as_array().unwrap();
    assert_eq!(tests.iter().map(|test| names(test)[0]).collect::<Vec<_>>(), ["planted"; 3]);
    let back = place.dyno("compare change.jsonl main.jsonl --format json").exits(0).json();
    let lost = &back["functions"][0]["tests"][0]["functions"][0];
    assert_eq!((lost["function"].as_str(), lost["now"].as_f64()), (Some("planted"), Some(0.0)));
    let csv = place.dyno("compare main.jsonl change.jsonl --format csv").exits(0).stdout;
    assert_eq!(csv.matches(",planted,library,").count(), 2, "{csv}");
    place.dyno("compare main.jsonl change.jsonl --format markdown").exits(0).prints("| planted |");
    let same = place.dyno("compare main.jsonl main.jsonl --format json").exits(0).json();
    assert!(same["functions"].is_null(), "{same}");
    verified(&place);
    place.assert_clean();
}

/// Verifies the runs and their page; and refuses a run and a page whose functions were changed.
fn verified(place: &Place) {
    place.dyno("verify main.jsonl change.jsonl").exits(0).prints("the functions of 2");
    place.dyno("report main.jsonl change.jsonl -o both.html").exits(0);
    place.dyno("verify both.html").exits(0);
    let page = fs::read_to_string(place.path("both.html")).unwrap();
    let row = page.lines().find(|line| line.contains(" planted</th>")).unwrap();
    let figure = row.split("<td class=\"right\">").nth(2).unwrap().split('<').next().unwrap();
    assert!(figure.len() > 3, "{row}");
    let changed = row.replacen(figure, "1", 1);
    place.write("forged.html", &page.replacen(row, &changed, 1));
    place.dyno("verify forged.html").exits(3).prints("is not the one that this dyno makes");
    let forged = |name: &str, path: &str, value: u64, why: &str| {
        let mut run = read_json(&place.path("change.jsonl"));
        for trial in run["trials"].as_array_mut().unwrap() {
            if let Some(found) = trial.pointer_mut(path) {
                *found = value.into();
            }
        }
        place.write(name, &run_file(&run));
        place.dyno(&format!("verify {name}")).exits(3).prints(why);
    };
    let planted = "/samples/0/functions/files/library/planted";
    forged("less.jsonl", planted, 1, "test 2: its functions do not add up to its instructions");
    forged("more.jsonl", planted, 1 << 60, "test 2: its functions executed more instructions than it did");
}

#[test]
fn the_peak_of_the_heap_is_that_of_the_section() {
    let place = Place::in_memory();
    build(&place, "main", "usual();", &[]);
    build(&place, "change", "void *volatile block = malloc(8 << 20); free(block);", &[]);
    let quick = QUICK.split(" -o ").next().unwrap();
    for name in ["main", "change"] {
        place.dyno(&format!("{quick} -o {name}.jsonl --with sqlite@./{name}.so:memory")).exits(0);
    }
    let [before, now] =
        ["main", "change"].map(|name| count(&place, &format!("{name}.jsonl"), "peak_heap_bytes"));
    const MIB: f64 = (1 << 20) as f64;
    assert!(before > 0.0 && (7.9 * MIB..8.1 * MIB + before).contains(&now), "{before} {now}");
    // A peak is no sum, so no operation has a part of it.
    let verdict = place.dyno("show main.jsonl --format json").exits(0).json();
    let counts = verdict["verdict"]["tests"][0]["counts"].as_array().unwrap();
    for measure in counts.iter().filter(|measure| measure["cells"][0]["figures"]["summary"]["median"] != 0.0)
    {
        let is_peak = measure["event"] == "peak_heap_bytes";
        assert_eq!(measure["cells"][0]["per_operation"].is_null(), is_peak, "{measure}");
    }
    place.assert_clean();
}
