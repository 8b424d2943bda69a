//! The views of the page that some suites call for, of real runs in a real browser.

use std::path::Path;

use dyno_record as record;
use dyno_verdict as verdict;
use serde_json::Value;

use crate::common::browser::Browser;
use crate::common::{Place, read_json};

/// The title of each mark of a chart, and its middle.
fn marks(browser: &Browser, within: &str, kind: &str) -> Vec<(String, f64, f64)> {
    let found = browser.run(&format!(
        "return [...document.querySelectorAll('{within} svg {kind}')].filter((mark) => mark.querySelector('title')).map((mark) => {{
            const box = mark.getBoundingClientRect();
            return [mark.querySelector('title').textContent, box.x + box.width / 2, box.y + box.height / 2];
        }})"
    ));
    let mark = |mark: &Value| {
        (mark[0].as_str().unwrap().to_owned(), mark[1].as_f64().unwrap(), mark[2].as_f64().unwrap())
    };
    found.as_array().unwrap().iter().map(mark).collect()
}

/// Shows another test in a view.
fn choose(browser: &Browser, section: &str, name: &str) {
    let chosen = browser.run(&format!(
        "const select = document.querySelector('section[aria-labelledby={section}] select');
         select.selectedIndex = [...select.options].findIndex((option) => option.text.startsWith('{name}'));
         select.dispatchEvent(new Event('change'));
         return select.selectedIndex"
    ));
    assert!(chosen.as_i64().unwrap() >= 0, "there is no {name}");
}

/// Places are a straight line over the logarithms of values.
fn assert_logarithmic(points: &[(f64, f64)]) {
    let least = points.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let most = points.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let slope = (most.1 - least.1) / (most.0.ln() - least.0.ln());
    for (value, place) in points {
        let wanted = least.1 + (value.ln() - least.0.ln()) * slope;
        assert!((place - wanted).abs() < 2.0, "{value} is at {place}, not at {wanted}: {points:?}");
    }
}

fn everyone_can_read(browser: &Browser, page: &Path) {
    for (scheme, width) in [("light", 1200), ("dark", 360)] {
        browser.prefer(scheme);
        browser.show(page);
        browser.resize(width, 900);
        browser.draw_all();
        browser.assert_fits(width);
        browser.assert_accessible(&format!("{scheme}, {width} wide"));
    }
    browser.prefer("light");
    browser.show(page);
    browser.assert_quiet();
}

#[test]
fn pairs_are_drawn_as_rates_over_sizes_and_by_their_percentiles() {
    let place = Place::new();
    let with = "sqlite:transactional,sqlite:per-commit,sqlite:transient";
    place
        .dyno(&format!(
            "run kv --n 300,900 --trials 1 --latency --with {with} --quiet -o kv.json --report kv.html"
        ))
        .exits(0);
    let (page, last) = (place.path("kv.html"), place.path("kv.n900.json"));
    let browser = Browser::start();
    browser.show(&page);
    rates(&browser, &place, &last);
    sizes(&browser, &place);
    percentiles(&browser, &last);
    carried(&place, &last);
    everyone_can_read(&browser, &page);
    // A run of another size next to several of one: compared with its like, and drawn over sizes.
    let last = last.display();
    place.dyno(&format!("report kv.n300.json {last} {last} -o again.html")).exits(0);
    browser.show(&place.path("again.html"));
    assert_eq!(browser.run("return document.querySelectorAll('#scaling, #compared-0').length"), 2);
    assert_eq!(browser.run("return document.querySelectorAll('#compared-1').length"), 0);
    browser.assert_quiet();
}

/// The samples stand where the rates are, those that stand for all operations are marked.
fn rates(browser: &Browser, place: &Place, run: &Path) {
    let record = record::load(run).unwrap();
    let verdict = place.dyno(&format!("show {} --format json", run.display())).exits(0).json();
    for test in verdict["verdict"]["tests"].as_array().unwrap() {
        let id = test["id"].as_str().unwrap();
        // Tests that are settled have no rate.
        let amount = record.tests.iter().find(|test| test.id == id).unwrap().amount.as_ref();
        let Some(count) = amount.map(|amount| amount.count as f64) else { continue };
        let dots = marks(browser, &format!("#test-{id} figure"), "circle");
        let mut drawn = Vec::new();
        for cell in test["cells"].as_array().unwrap() {
            let index = cell["contender"].as_u64().unwrap() as usize;
            let label = &record.contenders[index].label;
            let rate = count / cell["figures"]["summary"]["median"].as_f64().unwrap() * 1e9;
            let said = format!("{label}, block 1: ");
            let dot = dots.iter().find(|(title, ..)| title.starts_with(&said)).unwrap();
            assert!(dot.0.contains("/s, "), "{}", dot.0);
            drawn.push((rate, dot.1));
            let row = format!("#test-{id} tbody tr:nth-child({})", drawn.len());
            let shown =
                browser.run(&format!("return document.querySelector('{row}').cells[2].dataset.value"));
            let shown: f64 = shown.as_str().unwrap().parse().unwrap();
            assert!((shown / rate - 1.0).abs() < 1e-9, "{shown} is not {rate}");
            let text = browser.run(&format!("return document.querySelector('{row}').cells[2].textContent"));
            let sampled = text.as_str().unwrap().contains('~');
            assert_eq!(sampled, cell["figures"]["extrapolated"] == true, "{id}, {label}: {text}");
        }
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(drawn.is_sorted_by(|a, b| a.1 <= b.1), "more is not further to the right: {drawn:?}");
    }
    let heads = browser.run("return document.querySelector('#test-insert-int thead').textContent");
    assert!(heads.as_str().unwrap().contains("Operations a second"), "{heads}");
}

/// Each contender has a point at each size, as high as its rate.
fn sizes(browser: &Browser, place: &Place) {
    let scaling = place.dyno("scaling kv.n300.json kv.n900.json --format json").exits(0).json();
    for test in scaling["tests"].as_array().unwrap() {
        if test["id"].as_str().unwrap().starts_with("settle-") || test["id"] == "settle" {
            // Tests that are settled have no rate.
            continue;
        }
        choose(browser, "scaling", test["id"].as_str().unwrap());
        let points = marks(browser, "section[aria-labelledby=scaling]", ":is(circle, path)");
        let mut slopes = Vec::new();
        for line in test["lines"].as_array().unwrap() {
            let said = format!("{}: ", line["contender"].as_str().unwrap());
            let mut of: Vec<_> = points.iter().filter(|(title, ..)| title.starts_with(&said)).collect();
            of.sort_by(|a, b| a.1.total_cmp(&b.1));
            let rates: Vec<f64> = line["points"]
                .as_array()
                .unwrap()
                .iter()
                .map(|point| point["per_second"].as_f64().unwrap())
                .collect();
            assert_eq!(of.len(), rates.len(), "{test}: {points:?}");
            slopes.push((of[0].2 - of[1].2, (rates[1] / rates[0]).ln()));
        }
        let steepest = slopes.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
        let height = steepest.0 / steepest.1;
        assert!(height > 0.0, "more is not higher: {slopes:?}");
        for (rise, change) in &slopes {
            assert!((rise - change * height).abs() < 3.0, "{slopes:?} are not on one logarithmic axis");
        }
    }
}

/// JSON and CSV hold the percentiles too.
fn carried(place: &Place, run: &Path) {
    let record = record::load(run).unwrap();
    let verdict = place.dyno(&format!("show {} --format json", run.display())).exits(0).json();
    let csv = place.dyno(&format!("show {} --format csv", run.display())).exits(0).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    for test in verdict["verdict"]["latency"]["tests"].as_array().unwrap() {
        for line in test["lines"].as_array().unwrap() {
            let label = &record.contenders[line["contender"].as_u64().unwrap() as usize].label;
            let is_it = |row: &&csv::StringRecord| {
                test["test"] == row[column("test")] && label == &row[column("contender")]
            };
            let row = rows.iter().find(is_it).unwrap();
            for (name, key) in [("p50_ns", "p50"), ("p99_ns", "p99"), ("slowest_ns", "max")] {
                let reported = line["percentiles"].get(key).map(ToString::to_string).unwrap_or_default();
                assert_eq!(row[column(name)], reported, "{label}, {name}");
            }
        }
    }
}

/// Medians and slowest operations stand where they are on a logarithmic axis.
fn percentiles(browser: &Browser, run: &Path) {
    let verdict = verdict::judge(&record::load(run).unwrap());
    let tests = &verdict.views.latency.as_ref().unwrap().tests;
    assert!(tests.len() > 4, "{tests:?}");
    for test in tests {
        choose(browser, "latency", &test.test);
        let dots = marks(browser, "section[aria-labelledby=latency]", "circle");
        let mut drawn = Vec::new();
        for (index, contender) in verdict.shown_contenders() {
            let found = test.lines.iter().find(|line| line.contender == index).unwrap().percentiles;
            for (name, nanoseconds) in [("median", found.p50), ("slowest", found.max)] {
                let said = format!("{}, {name}: ", contender.label);
                let dot = dots.iter().find(|(title, ..)| title.starts_with(&said)).unwrap();
                drawn.push((nanoseconds as f64, dot.1));
            }
        }
        assert_logarithmic(&drawn);
    }
}

#[test]
fn published_rates_stand_higher_the_more_they_are() {
    let place = Place::new();
    place
        .dyno("run kv --n 5000 --only insert-int,select-int --trials 1 --no-warm-up --with sqlite:transient --quiet -o kv.json")
        .exits(0);
    let run = read_json(&place.path("kv.json"));
    let browser = Browser::start();
    browser.show(&place.page(&[&place.path("kv.json")]));
    choose(&browser, "published", "select-int");
    let points = marks(&browser, "section[aria-labelledby=published]", "circle");
    let test = run["tests"].as_array().unwrap().iter().find(|test| test["id"] == "select-int").unwrap();
    let count = test["amount"]["count"].as_f64().unwrap();
    let mut drawn = Vec::new();
    for (system, seconds) in test["published"].as_object().unwrap() {
        let said = format!("{system}: ");
        let point = points.iter().find(|(title, ..)| title.starts_with(&said)).unwrap();
        assert!(point.0.contains("/s, published"), "{}", point.0);
        drawn.push((count / seconds.as_f64().unwrap(), -point.2));
    }
    assert_eq!(drawn.len(), 6);
    assert_logarithmic(&drawn);
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(drawn.is_sorted_by(|a, b| a.1 <= b.1), "more is not higher: {drawn:?}");
    assert!(
        points
            .iter()
            .any(|(title, ..)| title.starts_with("sqlite:transient: ") && title.ends_with("this run"))
    );
    browser.assert_quiet();
}

#[test]
fn encryption_is_drawn_over_the_same_engine_without_it() {
    let place = Place::new();
    let with = "sqlite:plain,sqlite@mc:raw-key,sqlite@sqlcipher:raw-key";
    place
        .dyno(&format!(
            "run encryption --scale 0.02 --only open,1-2 --trials 6 --with {with} --quiet -o run.json"
        ))
        .exits(0);
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    let overheads = verdict["verdict"]["overheads"].as_array().unwrap().clone();
    assert_eq!(overheads.len(), 2);
    let run = read_json(&place.path("run.json"));
    let browser = Browser::start();
    let page = place.page(&[&place.path("run.json")]);
    browser.show(&page);
    let dots = marks(&browser, "section[aria-labelledby=encryption]", "circle");
    for overhead in &overheads {
        let label =
            run["contenders"][overhead["contender"].as_u64().unwrap() as usize]["label"].as_str().unwrap();
        let (said, ..) = dots.iter().find(|(title, ..)| title.starts_with(&format!("{label}: "))).unwrap();
        let percent: f64 = said
            .rsplit_once(": ")
            .and_then(|(_, change)| {
                change.replace(['+', ' ', '%', '≈', '?'], "").replace('−', "-").parse().ok()
            })
            .unwrap();
        let mean = overhead["geometric_mean"]["ratio"].as_f64().unwrap();
        assert!((percent / 100.0 + 1.0 - mean).abs() < 0.01 * mean, "{said} is not {mean}");
    }
    let reported =
        browser.run("return document.querySelector('section[aria-labelledby=encryption] ul').textContent");
    assert!(reported.as_str().unwrap().contains("Encrypted: sqlite@mc:raw-key"), "{reported}");
    everyone_can_read(&browser, &page);
}

#[test]
fn a_ladder_is_a_waterfall() {
    let place = Place::new();
    place.dyno("run import --rows 2000 --trials 1 --no-warm-up --quiet -o run.json").exits(0);
    let verdict = place.dyno("show run.json --format json").exits(0).json();
    let rungs = verdict["verdict"]["ladders"][0]["rungs"].as_array().unwrap().clone();
    assert!(rungs.len() > 10, "{rungs:?}");
    let browser = Browser::start();
    let page = place.page(&[&place.path("run.json")]);
    browser.show(&page);
    let drawn = marks(&browser, "section[aria-labelledby=ladder]", "path");
    let (mut own, mut published) = (Vec::new(), Vec::new());
    for (index, rung) in rungs.iter().enumerate() {
        let said = format!("{} {}: ", index + 1, rung["name"].as_str().unwrap());
        let (of, level): (Vec<_>, Vec<_>) = drawn
            .iter()
            .filter(|(title, ..)| title.starts_with(&said))
            .partition(|(title, ..)| title.ends_with("published"));
        // The mark at the end of the bar; the bar says the same.
        assert!(!level.is_empty(), "{said} is not drawn");
        let right = browser.run(&format!(
            "return [...document.querySelectorAll('section[aria-labelledby=ladder] svg g path')].filter((mark) => mark.getAttribute('transform') && mark.querySelector('title')?.textContent.startsWith({said:?})).map((mark) => Number(mark.getAttribute('transform').match(/[\\d.]+/)[0]))[0]"
        ));
        own.push((rung["rate"].as_f64().unwrap(), right.as_f64().unwrap()));
        if let Some(rate) = rung["published"].as_f64() {
            assert_eq!(of.len(), 1, "{said}");
            published.push((rate, of[0].1));
        }
    }
    assert_logarithmic(&own);
    assert_logarithmic(&published);
    let words =
        browser.run("return document.querySelector('section[aria-labelledby=ladder] svg').textContent");
    for level in ["survives power loss", "may lose commits in a crash", "published, other hardware"] {
        assert!(words.as_str().unwrap().contains(level), "{words}");
    }
    everyone_can_read(&browser, &page);
}

#[test]
fn seconds_are_bars_and_stalls_stand_out() {
    let place = Place::new();
    let run = "run bank --only read --with sqlite:wal --clients 2 --duration 6s --set accounts=50 --set warm_up=0.1";
    place.dyno(&format!("{run} --trials 1 --no-warm-up --quiet -o run.jsonl")).exits(0);
    // Nothing was done in the third second, as far as the record says.
    let mut record = record::load(&place.path("run.jsonl")).unwrap();
    let samples = record.trials.iter_mut().flat_map(|trial| &mut trial.samples);
    for sample in samples.filter(|sample| sample.sample.test == "read") {
        let second = &mut sample.sample.ticks[2];
        second.set_succeeded(0);
        second.classes.iter_mut().for_each(|class| class.done = 0);
    }
    std::fs::write(place.path("run.jsonl"), record::whole(&record).unwrap()).unwrap();
    let shown = place.dyno("show run.jsonl").exits(0).prints("read: second by second");
    // A busy machine adds what its clients waited for the processor just before and after.
    let row = shown.stdout.split("second by second").nth(1).unwrap().lines().nth(1).unwrap();
    let longest =
        row.trim_end().strip_suffix(" s").and_then(|row| row.rsplit(' ').next()?.parse::<f64>().ok());
    assert!(longest.is_some_and(|longest| (1.0..2.0).contains(&longest)), "one stall of a second: {row}");
    place.dyno("report run.jsonl -o page.html").exits(0);
    let browser = Browser::start();
    browser.show(&place.path("page.html"));
    // Only the marks of what went on next to the seconds have a description.
    let seconds = |kind| marks(&browser, "section[aria-labelledby=seconds]", kind);
    let bars = seconds("g:not([aria-description]) > path");
    assert_eq!(bars.len(), 6, "{bars:?}");
    let (stalls, others): (Vec<_>, Vec<_>) = bars.into_iter().partition(|(text, ..)| text.contains(": 0/s"));
    assert_eq!((stalls.len(), others.len()), (1, 5), "{stalls:?} {others:?}");
    // The disk's work has a separate line, with as many parts as there are seconds of which it is known.
    let ticks = || {
        record.trials.iter().flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == "read")
    };
    let reported =
        ticks().flat_map(|sample| &sample.around).filter(|around| around.disk_busy_ns.is_some()).count();
    let disk = seconds("g[aria-description] > path");
    assert_eq!(disk.len(), reported.min(6), "{disk:?}");
    assert!(disk.iter().all(|(text, _, y)| text.contains("disk busy") && *y > stalls[0].2), "{disk:?}");
    assert!(stalls[0].0.contains("trial 1, second 3"), "{stalls:?}");
    everyone_can_read(&browser, &place.path("page.html"));
    place.assert_clean();
}
