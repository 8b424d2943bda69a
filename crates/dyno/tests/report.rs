//! The page, in a real browser.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use crate::common::browser::Browser;
use crate::common::{Place, read_json};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json")
}

#[test]
fn the_charts_show_the_samples_of_the_run() {
    let place = Place::new();
    let browser = Browser::start();
    browser.show(&place.page(&[&golden()]));
    let run = read_json(&golden());
    let verdict = place.dyno(&format!("show {} --format json", golden().display())).json();
    for test in verdict["verdict"]["tests"].as_array().unwrap() {
        let id = test["id"].as_str().unwrap();
        // Each dot says its block and time; its place must be in the order of the times.
        let dots = browser.run(&format!(
            "return [...document.querySelectorAll('#test-{id} svg circle')].map((dot) =>
                [dot.querySelector('title').textContent, dot.getBoundingClientRect().x + dot.getBoundingClientRect().width / 2])"
        ));
        let samples = samples(&run, id);
        let mut drawn: Vec<(String, f64)> = dots
            .as_array()
            .unwrap()
            .iter()
            .map(|dot| (dot[0].as_str().unwrap().into(), dot[1].as_f64().unwrap()))
            .collect();
        assert_eq!(drawn.len(), samples.len(), "test {id}");
        drawn.sort_by(|a, b| a.1.total_cmp(&b.1));
        for ((said, at), (label, block, ns)) in drawn.iter().zip(&samples) {
            assert!(
                said.starts_with(&format!("{label}, block {block}: ")),
                "{said} at {at}, not {label} {block} {ns}"
            );
        }
        assert_linear_or_log(&drawn, &samples);
        let labels = browser
            .run(&format!("return document.querySelector('#test-{id} svg').getAttribute('aria-label')"));
        for cell in test["cells"].as_array().unwrap() {
            let label =
                run["contenders"][cell["contender"].as_u64().unwrap() as usize]["label"].as_str().unwrap();
            assert!(labels.as_str().unwrap().contains(&format!("{label}: ")), "{labels}");
        }
    }
    browser.assert_quiet();
}

/// Label, block and nanoseconds of every measured sample of a test, the fastest first.
fn samples(run: &Value, test: &str) -> Vec<(String, u64, f64)> {
    let mut samples = Vec::new();
    for trial in run["trials"].as_array().unwrap() {
        let contender = &run["contenders"][trial["contender"].as_u64().unwrap() as usize];
        if trial["block"] == 0 || contender["named"] == false {
            continue;
        }
        let of_test = trial["samples"].as_array().unwrap().iter().filter(|sample| sample["test"] == test);
        samples.extend(of_test.map(|sample| {
            let label = contender["label"].as_str().unwrap().to_owned();
            (label, trial["block"].as_u64().unwrap(), sample["nanoseconds"].as_f64().unwrap())
        }));
    }
    samples.sort_by(|a, b| a.2.total_cmp(&b.2));
    samples
}

/// The places of the dots are a straight line over the times or over their logarithms.
fn assert_linear_or_log(drawn: &[(String, f64)], samples: &[(String, u64, f64)]) {
    let off = |scale: fn(f64) -> f64| {
        let (first, last) = (scale(samples[0].2), scale(samples[samples.len() - 1].2));
        let (left, right) = (drawn[0].1, drawn[drawn.len() - 1].1);
        let worst = drawn.iter().zip(samples).map(|(dot, sample)| {
            (left + (scale(sample.2) - first) / (last - first) * (right - left) - dot.1).abs()
        });
        worst.fold(0.0, f64::max)
    };
    assert!(
        off(|x| x) < 1.0 || off(f64::ln) < 1.0,
        "dots are off by {} and {} pixels",
        off(|x| x),
        off(f64::ln)
    );
}

#[test]
fn tables_are_sorted_with_the_mouse_and_the_keyboard() {
    let place = Place::new();
    let browser = Browser::start();
    browser.show(&place.page(&[&golden()]));
    let column = "return [...document.querySelector('table.glance').tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value))";
    let values = || -> Vec<f64> {
        browser.run(column).as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    browser.run("document.querySelectorAll('table.glance button.sort')[1].click()");
    assert!(values().len() > 2 && values().is_sorted(), "{:?}", values());
    browser.run("document.querySelectorAll('table.glance button.sort')[1].focus()");
    browser.press("Enter", 13, "\r");
    assert!(values().iter().rev().is_sorted(), "{:?}", values());
    let said =
        browser.run("return document.querySelectorAll('table.glance th')[1].getAttribute('aria-sort')");
    assert_eq!(said, "descending");
    // The first key press on the page offers to skip to the results.
    browser.open(&place.path("page.html"));
    browser.press("Tab", 9, "");
    assert_eq!(browser.run("return document.activeElement.className"), "skip");
    browser.assert_quiet();
}

#[test]
fn light_and_dark_and_narrow_are_readable_by_everyone() {
    let place = Place::new();
    let browser = Browser::start();
    let page = place.page(&[&golden()]);
    let mut backgrounds = Vec::new();
    for (scheme, width) in [("light", 1200), ("dark", 1200), ("light", 360)] {
        browser.prefer(scheme);
        browser.show(&page);
        browser.resize(width, 900);
        browser.draw_all();
        browser.assert_fits(width);
        browser.assert_accessible(&format!("{scheme}, {width} wide"));
        backgrounds.push(browser.run("return getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(backgrounds[0], backgrounds[1]);
    browser.run("document.getElementById('theme').click()");
    assert_eq!(browser.run("return getComputedStyle(document.body).backgroundColor"), backgrounds[1]);
    browser.assert_quiet();
}

#[test]
fn what_a_file_says_stays_text() {
    const EVIL: &str = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'><svg onload=window.hacked=1>{{ 7*7 }}<!--";
    let place = Place::new();
    let mut run = read_json(&golden());
    let contender = run["contenders"][1]["label"].as_str().unwrap().to_owned();
    run["suite"]["title"] = EVIL.into();
    run["suite"]["name"] = EVIL.into();
    run["suite"]["text"] = format!("story = '''{EVIL}'''\n[[published]]\nsource = '''{EVIL} 2002'''\nhardware = '''{EVIL}'''\nlink = 'javascript:window.hacked=1'\n[published.seconds]\n'''{EVIL}''' = [1.0]").into();
    run["command"] = json!(["dyno", "run", EVIL]);
    run["machine"]["cpu"]["model"] = EVIL.into();
    run["tests"][0]["title"] = EVIL.into();
    run["tests"][0]["shows"] = EVIL.into();
    run["tests"][0]["first"] = json!([EVIL]);
    run["tests"][0]["published"] = json!({EVIL: 1.0});
    run["contenders"][1]["label"] = format!("{contender}{EVIL}").into();
    run["contenders"][1]["link"] = "javascript:window.hacked=1".into();
    run["contenders"][1]["reason"] = EVIL.into();
    run["contenders"][1]["hello"]["build"] = json!({EVIL: [EVIL]});
    run["contenders"][1]["hello"]["settings"] = json!([{"name": EVIL, "value": EVIL}]);
    run["trials"][0]["failure"] = json!({"test": run["tests"][0]["id"], "message": EVIL});
    let file = place.write("evil.json", &run.to_string());
    let browser = Browser::start();
    browser.show(&place.page(&[Path::new(&file)]));
    assert_eq!(browser.run("return window.hacked ?? null"), Value::Null);
    assert_eq!(browser.run("return document.querySelectorAll('img, a[href^=\"javascript\" i]').length"), 0);
    assert_eq!(browser.run("return document.querySelector('h1').textContent"), EVIL);
    assert_eq!(browser.run("return document.querySelectorAll('script:not([type])').length"), 2);
    assert!(
        browser
            .run("return document.querySelector('#test-1 .statements').textContent")
            .as_str()
            .unwrap()
            .contains(EVIL)
    );
    browser.assert_quiet();
    // In Markdown it may stand in blocks of code, where nothing is markup.
    place.dyno("report evil.json -o evil.md").exits(0);
    let text = std::fs::read_to_string(place.path("evil.md")).unwrap();
    assert!(text.contains("&lt;script>window.hacked"), "{text}");
    let markup = |line: &&str| {
        let marks = ["<script", "<img", "<svg", "<!--", "](javascript", "<javascript"];
        marks.iter().any(|mark| line.contains(mark))
    };
    let found: Vec<&str> = text.lines().filter(markup).filter(|line| !line.starts_with("    ")).collect();
    assert_eq!(found, Vec::<&str>::new());
}

#[test]
fn the_run_file_is_within_the_page_and_two_runs_are_compared() {
    let place = Place::new();
    let mut newer = read_json(&golden());
    newer["machine"]["kernel"]["release"] = "9.9.9".into();
    let newer = place.write("newer.json", &newer.to_string());
    let browser = Browser::start();
    browser.show(&place.page(&[&golden(), Path::new(&newer)]));
    let unpacked = browser.wait_for(
        "const link = [...document.querySelectorAll('a.download')].at(-1);
         const bytes = Uint8Array.from(atob(link.href.split(',')[1]), (c) => c.charCodeAt(0));
         new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(done)",
    );
    let unpacked: Value = serde_json::from_str(unpacked.as_str().unwrap()).unwrap();
    assert_eq!(unpacked["trials"], read_json(&golden())["trials"]);
    assert_eq!(unpacked["machine"]["kernel"]["release"], "9.9.9");
    browser.run("[...document.querySelectorAll('a.download')].at(-1).click()");
    let named = browser.wait_for(
        "const link = [...document.querySelectorAll('a.download')].at(-1);
         const look = () => link.href.startsWith('blob:') ? done(link.download) : setTimeout(look, 20); look()",
    );
    assert_eq!(named, "newer.json");
    let changed = browser.run("return document.querySelector('.changes').textContent");
    assert!(changed.as_str().unwrap().contains("9.9.9 now"), "{changed}");
    // Equal samples: every ratio is 1.
    let ratios = browser.run(
        "return [...document.querySelectorAll('section[aria-labelledby=compared-0] tbody tr')].map((row) => row.cells[4].dataset.value)",
    );
    assert!(ratios.as_array().unwrap().iter().all(|ratio| ratio == "1.0"), "{ratios}");
    browser.assert_quiet();
}

#[test]
fn a_page_of_fifty_tests_and_twenty_contenders_opens() {
    let place = Place::new();
    let file = place.write("large.json", &large().to_string());
    let page = place.page(&[Path::new(&file)]);
    let browser = Browser::start();
    browser.resize(1200, 900);
    let began = Instant::now();
    browser.open(&page);
    let opened = began.elapsed();
    let loaded = browser.run("return performance.getEntriesByType('navigation')[0].loadEventEnd");
    // Timings are printed and not asserted: the machine that tests may be busy. The aim is a second.
    println!("50 tests, 20 contenders, 30 trials: loaded after {loaded} ms, opened after {opened:?}");
    assert!(browser.run("return document.querySelectorAll('article.test').length") == 50);
    // Charts far below are not drawn before a reader scrolls to them.
    assert_eq!(browser.run("return document.querySelector('#test-50 svg')"), Value::Null);
    browser.draw_all();
    assert_eq!(browser.run("return document.querySelectorAll('#test-50 svg circle').length"), 600);
    browser.assert_quiet();
}

/// 50 tests of 20 contenders in 30 trials, made from a run.
fn large() -> Value {
    let mut run = read_json(&golden());
    let (contender, test) = (run["contenders"][0].clone(), run["tests"][0].clone());
    let sample = run["trials"][0]["samples"][0].clone();
    let levels = ["power-loss", "process-crash", "none"];
    let contenders = (0..20).map(|place| {
        let mut contender = contender.clone();
        contender["label"] = format!("sqlite:profile{place}").into();
        contender["safety"]["level"] = levels[place % 3].into();
        contender
    });
    run["contenders"] = contenders.collect();
    run["baseline"] = "sqlite:profile0".into();
    run["tests"] = (1..=50)
        .map(|id: u32| {
            let mut test = test.clone();
            test["id"] = id.to_string().into();
            test
        })
        .collect();
    let trial = |block: u64, contender: u64| {
        let samples = (1..=50).map(|id: u64| {
            let mut sample = sample.clone();
            sample["test"] = id.to_string().into();
            sample["nanoseconds"] =
                (id * 1_000_000 * (5 + contender) + (block * 7919 + id * 104_729) % 500_000).into();
            sample["wait_ns"] = 0.into();
            sample
        });
        json!({"block": block, "contender": contender, "began_ns": 0, "samples": samples.collect::<Vec<_>>()})
    };
    run["trials"] = (0..=30)
        .flat_map(|block| (0..20).map(move |contender| (block, contender)))
        .map(|(b, c)| trial(b, c))
        .collect();
    run
}
