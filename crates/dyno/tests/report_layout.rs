//! Where things stand on the page: the answer and the chart on the first screen, wide tables within reach. Of kept runs, in a
//! real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::browser::Browser;
use crate::common::{Place, repository};

/// The page of a run in `runs/`.
fn kept(place: &Place, name: &str) -> PathBuf {
    let packed = repository().join(format!("runs/{name}.jsonl.gz"));
    let unpacked = Command::new("gzip").arg("-dc").arg(packed).output().unwrap();
    assert!(unpacked.status.success());
    let file = place.write("run.jsonl", &String::from_utf8(unpacked.stdout).unwrap());
    place.page(&[Path::new(&file)])
}

fn number(browser: &Browser, script: &str) -> f64 {
    browser.run(script).as_f64().unwrap_or_else(|| panic!("{script} is no number"))
}

/// The top or another edge of the first element that is selected.
fn edge(browser: &Browser, selector: &str, edge: &str) -> f64 {
    number(browser, &format!("return document.querySelector('{selector}').getBoundingClientRect().{edge}"))
}

#[test]
fn the_first_screen_has_the_answer_and_the_chart() {
    const GLANCE: &str = ".overview :is(svg, table)";
    let place = Place::new();
    let browser = Browser::start();
    for (name, answers) in [("kv", 2..9), ("bank", 1..2), ("speedtest", 2..9)] {
        browser.show(&kept(&place, name));
        let found = number(&browser, "return document.querySelectorAll('.answer, .answers li').length");
        assert!(answers.contains(&(found as usize)), "{name} has {found} answers");
        browser.resize(1440, 900);
        browser.draw_all();
        let top = edge(&browser, GLANCE, "top");
        assert!(top < 900.0, "{name}: the chart begins at {top}");
        assert!(edge(&browser, ".facts", "top") > edge(&browser, GLANCE, "bottom"), "{name}");
        browser.resize(390, 844);
        browser.draw_all();
        let (answer, top) = (edge(&browser, ".answer", "bottom"), edge(&browser, GLANCE, "top"));
        assert!(answer < top, "{name}");
        if name != "speedtest" {
            assert!(top < 844.0, "{name}: on a phone the chart begins at {top}");
        }
        browser.assert_fits(390);
        browser.assert_quiet();
    }
}

#[test]
fn what_only_prepares_has_no_ratio_at_a_glance() {
    let place = Place::new();
    let browser = Browser::start();
    browser.show(&kept(&place, "kv"));
    let ratios = |test: &str| {
        let row = format!("document.querySelector('.glance a[href=\"#test-{test}\"]').closest('tr')");
        number(&browser, &format!("return {row}.querySelectorAll('.ratio').length"))
    };
    assert_eq!((ratios("insert-int"), ratios("settle")), (6.0, 0.0));
    // The test's own table has them.
    let own = browser.run("return document.querySelector('#test-settle tbody tr:last-child').textContent");
    assert!(own.as_str().unwrap().contains('×'), "{own}");
    let page = browser.run("return document.body.textContent");
    assert!(page.as_str().unwrap().contains("64.0\u{a0}MiB"), "a line may end within 64.0 MiB");
}

/// A script's expression for the region around the first table.
const REGION: &str = "document.querySelector('.glance').parentElement";

/// True if the first table is wider than its region.
fn is_wide(browser: &Browser) -> bool {
    browser.run(&format!("return {REGION}.scrollWidth > {REGION}.clientWidth")) == true
}

/// True if the right edge of the first table's region is darker or lighter than the paper.
fn is_shaded(browser: &Browser) -> bool {
    let place = |edge| number(browser, &format!("return {REGION}.getBoundingClientRect().{edge}"));
    browser.run(&format!("{REGION}.scrollIntoView({{behavior: 'instant'}})"));
    let top = place("top") + 4.0;
    browser.pixel(place("right") - 2.0, top) != browser.pixel(place("left") - 2.0, top)
}

#[test]
fn a_wide_table_is_whole_or_shows_that_it_goes_on() {
    let place = Place::new();
    let page = kept(&place, "kv");
    let browser = Browser::start();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.show(&page);
        // Seven contenders.
        browser.resize(1440, 900);
        assert_eq!(is_wide(&browser), is_shaded(&browser), "{scheme}, 1440 wide");
        browser.resize(800, 900);
        assert!(is_wide(&browser) && is_shaded(&browser), "{scheme}, 800 wide");
        browser.run(&format!("{REGION}.scrollLeft = 9999"));
        assert!(!is_shaded(&browser), "{scheme}: nothing follows the end");
        // Five.
        browser.run("for (const row of document.querySelector('.glance').rows) for (const _ of [1, 2]) row.deleteCell(-1)");
        browser.resize(1440, 900);
        assert!(!is_wide(&browser) && !is_shaded(&browser), "{scheme}, five at 1440");
        browser.assert_fits(1440);
    }
    let named = browser.run(&format!("return {REGION}.matches('[tabindex=\"0\"][role=region][aria-label]')"));
    assert_eq!(named, true);
    browser.assert_quiet();
}

#[test]
fn on_a_phone_the_first_column_stays_and_the_next_one_fits() {
    let place = Place::new();
    let page = kept(&place, "kv");
    let browser = Browser::start();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.show(&page);
        browser.resize(390, 844);
        browser.draw_all();
        let cut = browser.run(
            "return [...document.querySelectorAll('.scroll')].filter((region) => region.checkVisibility()).filter((region) => {
                const [first, second] = region.querySelector('tbody tr').cells;
                return second.getBoundingClientRect().right > region.getBoundingClientRect().right + 1;
            }).map((region) => region.getAttribute('aria-label'))",
        );
        assert_eq!(cut, Value::Array(Vec::new()), "{scheme}: the second column is cut");
        let moved = browser.run(&format!(
            "const region = {REGION}; region.scrollLeft = 200;
             const left = (cell) => cell.getBoundingClientRect().left - region.getBoundingClientRect().left;
             return [...region.querySelectorAll('tr')].map((row) => [left(row.cells[0]), left(row.cells[2])])"
        ));
        for row in moved.as_array().unwrap() {
            assert_eq!(row[0], 0.0, "{scheme}: {moved}");
        }
        let colours = browser.run(&format!(
            "return [document.body, ...{REGION}.querySelectorAll('th:first-child')].map((part) => getComputedStyle(part).backgroundColor)"
        ));
        let colours = colours.as_array().unwrap();
        assert!(colours.iter().all(|colour| colour == &colours[0]), "{scheme}: {colours:?}");
        // The caption is one line and stays too.
        let caption = edge(&browser, ".glance caption span", "left");
        assert_eq!(caption, edge(&browser, ".glance th", "left"), "{scheme}");
        browser.assert_fits(390);
    }
    browser.assert_quiet();
}

#[test]
fn printed_tables_are_as_wide_as_the_paper() {
    /// A4 without margins of a centimetre, in CSS pixels.
    const PAPER: u32 = 718;
    let place = Place::new();
    let browser = Browser::start();
    for name in ["kv", "bank", "speedtest"] {
        browser.show(&kept(&place, name));
        browser.run("document.querySelectorAll('details').forEach((details) => (details.open = true))");
        browser.print();
        browser.resize(PAPER, 900);
        let cut = browser.run(&format!(
            "return [...document.querySelectorAll('table')].filter((table) => table.getBoundingClientRect().right > {PAPER}).map((table) => table.parentElement.getAttribute('aria-label'))"
        ));
        assert_eq!(cut, Value::Array(Vec::new()), "{name}");
        let place = browser.run("return getComputedStyle(document.querySelector('.glance th')).position");
        assert_eq!(place, "static");
        browser.assert_fits(PAPER);
        browser.prefer("light");
    }
}
