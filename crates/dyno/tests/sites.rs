//! `dyno verify` and `dyno site`: what a file says must follow from its samples, and many runs are one folder.

use std::fs;
use std::process::Command;
use std::time::Instant;

use dyno_record::{Run, Seals};
use serde_json::Value;

use crate::common::browser::Browser;
use crate::common::{Place, read_json};

/// A run of two contenders of one class, whose samples the tests replace.
const RUN: &str = "run speedtest --scale 0.01 --only 2,3,4 --with sqlite:memory,sqlite:memory,cache_size=-4000 \
                   --trials 8 --quiet -o base.jsonl";

fn base(place: &Place) -> Run {
    place.dyno(RUN).exits(0);
    dyno_record::load(&place.path("base.jsonl")).unwrap()
}

/// Writes a run with new seals, as a forger would.
fn forge(place: &Place, name: &str, run: &Run) {
    fs::write(place.path(name), dyno_record::whole(run).unwrap()).unwrap();
}

/// The run of a machine on which the second contender takes `ratio` times as long as the first, less than a percent
/// more or less in each sample.
fn invented(base: &Run, number: usize, machine: &str, ratio: f64) -> Run {
    let mut run = base.clone();
    run.machine.cpu.model = Some(machine.to_owned());
    run.started = format!("2026-01-{:02}T{:02}:00:00Z", 1 + number / 24, number % 24);
    for trial in &mut run.trials {
        let contender = &run.contenders[trial.contender];
        let is_first = contender.label == run.baseline;
        let factor = if is_first { 1.0 } else { ratio };
        (trial.others, trial.beat_ns) = (None, None);
        for (test, sample) in trial.samples.iter_mut().enumerate() {
            // In a block one takes longer and the other less, in the next the other way round: equals stay equal.
            let block = trial.block as usize;
            let sign = if (block + test).is_multiple_of(2) == is_first { 1.0 } else { -1.0 };
            let jitter = ((block * 31 + test * 17 + number * 7) % 13) as f64 / 4000.0;
            sample.sample.section.nanoseconds = (2e6 * factor * (1.0 + sign * jitter)) as u64;
        }
    }
    run.elapsed_ns = u64::MAX / 4;
    run
}

#[test]
fn the_maker_of_a_run_is_stated_and_shown() {
    let place = Place::in_memory();
    let base = base(&place);
    let small = "run speedtest --scale 0.01 --only 2 --with sqlite:memory --trials 1 --quiet";
    place
        .dyno(&format!("{small} --made-by vendor:sqlite -o vendor.jsonl"))
        .exits(0)
        .prints("Made by a vendor of sqlite.");
    assert_eq!(read_json(&place.path("vendor.jsonl"))["made_by"], "vendor:sqlite");
    place.dyno("rerun vendor.jsonl --made-by maintainer --quiet -o again.jsonl").exits(0);
    place.dyno("show again.jsonl --format html").exits(0).prints("a maintainer of dyno");
    place.dyno("verify vendor.jsonl").exits(0);
    place.dyno("site base.jsonl vendor.jsonl -o site").exits(0);
    let index = fs::read_to_string(place.path("site/index.html")).unwrap();
    assert!(index.contains("<td>vendor:sqlite</td>") && index.contains("<td>not stated</td>"), "{index}");
    // A suite that was changed under its name is other work.
    let mut changed = base;
    changed.suite.text.push_str("\n# Changed.\n");
    forge(&place, "changed.jsonl", &changed);
    place.dyno("site base.jsonl changed.jsonl -o other").exits(0);
    assert_eq!(read_json(&place.path("other/runs.json"))["cohorts"].as_array().unwrap().len(), 2);
    place.dyno(&format!("{small} --made-by vendor:sqlight")).exits(2).says("did you mean sqlite?");
    place.dyno(&format!("{small} --made-by me")).exits(2).says("vendor:ENGINE");
    place.dyno("compare base.jsonl vendor.jsonl --format html").exits(2).says("dyno report OLD NEW");
}

#[test]
fn what_a_run_says_is_worked_out_again() {
    let place = Place::in_memory();
    let run = base(&place);
    place.dyno("report base.jsonl -o page.html --margin 3%").exits(0);
    place.dyno("verify base.jsonl page.html").exits(0).prints("page.html: verified: ");

    let text = fs::read_to_string(place.path("base.jsonl")).unwrap();
    place.write("changed.jsonl", &text.replacen("\"nanoseconds\":1", "\"nanoseconds\":2", 1));
    place.dyno("verify changed.jsonl").exits(3).prints("refused").prints("was changed");
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    place.write("page.html", &page.replacen("geometric mean", "geometric lean", 1));
    place.dyno("verify page.html").exits(3).prints("geometric lean");
    place.write("none.jsonl", "{}");
    place.dyno("verify none.jsonl").exits(3).prints("it cannot be read");

    // Files whose seals are whole, by someone who made them anew.
    let refused = |name: &str, forged: &Run, words: &str| {
        forge(&place, name, forged);
        assert_eq!(dyno_record::load(&place.path(name)).unwrap().seals, Seals::Whole, "{name}");
        place.dyno(&format!("verify {name}")).exits(3).without_panic().prints(words);
    };
    let mut forged = run.clone();
    forged.contenders[0].safety.as_mut().unwrap().level = dyno_record::Level::PowerLoss;
    refused("level.jsonl", &forged, "and the file says power-loss");
    let mut forged = run.clone();
    forged.contenders[0].safety.as_mut().unwrap().standing = dyno_record::Standing::Survived;
    refused(
        "survived.jsonl",
        &forged,
        "the file says that its level is survived, without the evidence for it",
    );
    let mut forged = run.clone();
    let last = forged.trials.len() - 1;
    forged.trials.swap(last, last - 1);
    refused("order.jsonl", &forged, "are not in the order of the run's seed");
    let mut forged = run.clone();
    forged.tests[0].title = "Ten times the work".into();
    refused("title.jsonl", &forged, "has another title in the suite");
    let mut forged = run.clone();
    forged.trials[last].samples[0].sample.section.client.user_ns = u64::MAX / 2;
    refused("processor.jsonl", &forged, "more processor time than its processors had");
    let mut forged = run.clone();
    forged.trials[last].began_ns = forged.elapsed_ns;
    refused("late.jsonl", &forged, "its samples end after the run");
    let mut forged = run.clone();
    let twice = forged.trials[last].samples[0].clone();
    forged.trials[last].samples.push(twice);
    refused("twice.jsonl", &forged, "has two samples");
    let mut forged = run.clone();
    let middle = forged.trials[last / 2].block;
    forged.trials.retain(|trial| trial.block != middle);
    refused("gap.jsonl", &forged, &format!("block {middle} is missing"));
    let mut forged = run.clone();
    forged.ended = dyno_record::Ended::Running;
    refused("running.jsonl", &forged, "the file ends before the run does");
    let mut forged = run.clone();
    forged.contenders[0].hello = None;
    refused("silent.jsonl", &forged, "it has samples, and no settings in force");
    let mut forged = run.clone();
    forged.contenders[0].per_commit = Some(7);
    refused("commits.jsonl", &forged, "its commit size is not what its name says");
    let mut forged = run.clone();
    forged.contenders[0].harness = true;
    refused("harness.jsonl", &forged, "its role in the harness is not what its name says");
    let mut forged = run.clone();
    forged.contenders[0].processes = true;
    refused("processes.jsonl", &forged, "its kind of clients is not what its name says");
    let mut forged = run.clone();
    forged.tests[0].prepares = true;
    refused("prepares.jsonl", &forged, "is of another kind in the suite");
    let mut forged = run.clone();
    forged.suite.only = None;
    refused("part.jsonl", &forged, "of the suite is missing");
    // No sentence of a stranger looks like one of dyno's.
    let mut forged = run.clone();
    forged.contenders[0].label = "x\nbase.jsonl: verified: all of it".into();
    forge(&place, "label.jsonl", &forged);
    let said = place.dyno("verify label.jsonl").exits(3).without_panic().stdout;
    assert!(!said.lines().any(|line| line.starts_with("base.jsonl")), "{said}");
    let mut forged = run;
    forged.suite.text = forged.suite.text.replace("[[test]]", "[[tests]]");
    refused("suite.jsonl", &forged, "its suite cannot be read");
    place.assert_clean();
}

#[test]
fn the_histogram_of_a_class_holds_what_was_done() {
    let place = Place::in_memory();
    let run = "run bank --with sqlite:nosync --only read --clients 2 --duration 0.3s --set warm_up=0.1 --set accounts=50";
    place.dyno(&format!("{run} --trials 2 --no-warm-up --quiet -o bank.jsonl")).exits(0);
    place.dyno("verify bank.jsonl").exits(0);
    let mut run = dyno_record::load(&place.path("bank.jsonl")).unwrap();
    let class = run
        .trials
        .iter_mut()
        .flat_map(|trial| &mut trial.samples)
        .flat_map(|sample| &mut sample.sample.classes);
    class.for_each(|class| class.done *= 2);
    forge(&place, "forged.jsonl", &run);
    place.dyno("verify forged.jsonl").exits(3).prints("were done, and the histogram has");
}

#[test]
fn a_signature_names_its_signer() {
    let place = Place::in_memory();
    base(&place);
    let keygen = |arguments: &[&str]| {
        let status = Command::new("ssh-keygen").args(arguments).current_dir(place.path("")).output();
        assert!(status.expect("ssh-keygen is not installed; `make needs` installs it").status.success());
    };
    keygen(&["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key"]);
    let key = fs::read_to_string(place.path("key.pub")).unwrap();
    place.write("signers", &format!("maker@example.com {key}"));
    place.dyno("verify base.jsonl --signers signers").exits(3).prints("there is no signature base.jsonl.sig");
    keygen(&["-Y", "sign", "-n", "dyno-run", "-f", "key", "base.jsonl"]);
    place.dyno("verify base.jsonl --signers signers").exits(0).prints("Signed by maker@example.com.");
    keygen(&["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "other"]);
    let other = fs::read_to_string(place.path("other.pub")).unwrap();
    place.write("others", &format!("other@example.com {other}"));
    place.dyno("verify base.jsonl --signers others").exits(3).prints("no key of others made its signature");
    fs::rename(place.path("base.jsonl.sig"), place.path("copy.jsonl.sig")).unwrap();
    let text = fs::read_to_string(place.path("base.jsonl")).unwrap();
    place.write("copy.jsonl", text.rsplit_once("\n{").unwrap().0);
    place.dyno("verify copy.jsonl --signers signers").exits(3).prints("is not of this file");
}

#[test]
fn forty_runs_of_three_machines_are_one_folder() {
    let place = Place::in_memory();
    let base = base(&place);
    let machines = [("Invented One", 0.5), ("Invented Two", 2.0), ("Invented Three", 1.0)];
    let mut names = Vec::new();
    for number in 0..40 {
        let (machine, ratio) = machines[number % 3];
        let mut run = invented(&base, number, machine, ratio);
        let name = format!("run{number:02}.jsonl");
        if number == 38 {
            run.contenders[1].safety.as_mut().unwrap().level = dyno_record::Level::PowerLoss;
        }
        forge(&place, &name, &run);
        names.push(name);
    }
    let text = fs::read_to_string(place.path("run39.jsonl")).unwrap();
    place.write("run39.jsonl", &text.replacen("\"operations\":", "\"operations\":1", 1));
    place.write("run37.jsonl.withdrawn", "measured beside a backup\n");
    let result = place.dyno(&format!("site {} -o site", names.join(" "))).exits(3).without_panic();
    let result = result.says("38 runs are in site/index.html; 2 are refused.");
    result.says("run38.jsonl is refused: ").says("run39.jsonl is refused: ");

    let site = read_json(&place.path("site/runs.json"));
    let [cohort] = &site["cohorts"].as_array().unwrap()[..] else { panic!("{site}") };
    assert_eq!(cohort["reference"], "sqlite:memory");
    assert_eq!(cohort["runs"].as_array().unwrap().len(), 37, "without the one that is withdrawn");
    let row = &cohort["rows"][0];
    assert_eq!(
        (&row["faster"], &row["slower"], &row["compared"]),
        (&1.into(), &1.into(), &3.into()),
        "{row}"
    );
    for (machine, cell) in cohort["machines"].as_array().unwrap().iter().zip(row["cells"].as_array().unwrap())
    {
        let model = machine["facts"]["processors"].as_str().unwrap();
        let (_, ratio) = machines.iter().find(|(name, _)| model.ends_with(name)).unwrap();
        let found = cell["ratio"]["ratio"].as_f64().unwrap();
        assert!((found / ratio - 1.0).abs() < 0.01, "{model}: {found} and not {ratio}");
    }
    let refused: Vec<&Value> =
        site["runs"].as_array().unwrap().iter().filter(|run| run["refused"].is_array()).collect();
    assert_eq!(refused.len(), 2);
    let index = fs::read_to_string(place.path("site/index.html")).unwrap();
    assert!(
        index.len() < 3 << 20 && index.contains("withdrawn: measured beside a backup"),
        "{}",
        index.len()
    );
    assert!(index.contains("faster on 1 and slower on 1 of 3 machines"), "{index}");
    // The site lists the sensitivity that the run's table states.
    let json: Value =
        serde_json::from_str(&place.dyno("show run00.jsonl --format json").exits(0).stdout).unwrap();
    let runs = site["runs"].as_array().unwrap();
    let first = runs.iter().find(|run| run["name"] == "run00.jsonl").unwrap();
    assert_eq!(first["sensitivity"], json["verdict"]["detectable"]["mean"], "{first}");
    assert!(first["sensitivity"].as_f64().is_some_and(|factor| factor > 1.0), "{first}");
    for number in 0..38 {
        assert!(place.path(&format!("site/run{number:02}.html")).is_file(), "{number}");
    }

    let browser = Browser::start();
    let began = Instant::now();
    browser.open(&place.path("site/index.html"));
    println!("the index is shown after {:?}", began.elapsed());
    let shown = "return [...document.querySelectorAll('table.matrix thead th')].filter((head) => !head.hidden).length";
    assert_eq!(browser.run(shown), 5);
    browser.run("location.hash = 'machine=' + encodeURIComponent(document.getElementById('machine').options[1].value)");
    assert_eq!(browser.wait_for(&format!("requestAnimationFrame(() => done((() => {{ {shown} }})()))")), 3);
    // A figure's address is made of its run and contender, and shows a sentence with the whole digest.
    browser.run("location.hash = ''");
    let figure = browser.run("return document.querySelector('table.matrix td a').parentNode.id");
    let figure = figure.as_str().unwrap().to_owned();
    let mut digests = site["runs"].as_array().unwrap().iter().map(|run| run["sha256"].as_str().unwrap());
    let digest = digests.find(|digest| figure.starts_with(&digest[..12])).unwrap();
    browser.run(&format!("location.hash = '{figure}'"));
    let cited = "requestAnimationFrame(() => done(document.getElementById('cited').textContent))";
    let cited = browser.wait_for(cited).as_str().unwrap().to_owned();
    assert!(cited.contains(" the time of sqlite:memory in ") && cited.contains(digest), "{cited}");
    assert!(cited.ends_with(&format!("site/index.html#{figure}")), "{cited}");
    browser.run("location.hash = 'suite=none'");
    browser.run("location.hash = ''");
    for (scheme, width) in [("light", 1200), ("dark", 1200), ("light", 360), ("dark", 360)] {
        browser.prefer(scheme);
        browser.resize(width, 800);
        browser.assert_fits(width);
        browser.assert_accessible(&format!("the index, {scheme}, {width} wide"));
    }
    browser.assert_quiet();
    place.assert_clean();
}

#[test]
fn what_a_licence_forbids_to_publish_is_left_out() {
    let engine = fs::read_to_string(crate::common::repository().join("engines/null.toml")).unwrap();
    let place = Place::with_engine("null", &format!("publish = false\n{engine}"));
    place.dyno("list null").exits(0);
    place
        .dyno("run speedtest --scale 0.01 --only 2 --with sqlite:memory,null --trials 1 --quiet -o run.jsonl")
        .exits(0);
    let result = place.dyno("site run.jsonl -o site").exits(0).without_panic();
    let result = result.says("run.jsonl is left out: the licence forbids publishing measurements of null");
    result.says("0 runs are in site/index.html; 0 are refused; 1 are left out.");
    let site = read_json(&place.path("site/runs.json"));
    assert!(site["runs"].as_array().unwrap().is_empty() && site["cohorts"].as_array().unwrap().is_empty());
    // Its page would pack all samples.
    assert!(!place.path("site/run.html").exists());
    assert!(!fs::read_to_string(place.path("site/index.html")).unwrap().contains("run.jsonl"));
}

#[test]
fn no_page_of_a_site_replaces_another_or_the_index() {
    let place = Place::in_memory();
    base(&place);
    for folder in ["s1", "s2"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    for name in ["s1/index.jsonl", "s1/runs.jsonl", "s1/x.jsonl", "s2/X.jsonl"] {
        fs::copy(place.path("base.jsonl"), place.path(name)).unwrap();
    }
    place.dyno("report base.jsonl -o s2/x.html").exits(0);
    let runs = "s1/index.jsonl s1/runs.jsonl s1/x.jsonl s2/x.html s2/X.jsonl";
    place
        .dyno(&format!("site {runs} -o site"))
        .exits(0)
        .says("5 runs are in site/index.html; 0 are refused.");
    let site = read_json(&place.path("site/runs.json"));
    let pages = site["runs"].as_array().unwrap().iter().map(|run| run["page"].as_str().unwrap());
    let pages: Vec<&str> = pages.collect();
    assert_eq!(pages, ["2-index.html", "2-runs.html", "x.html", "2-x.html", "3-X.html"]);
    let packed = |page: &str| {
        let page = fs::read_to_string(place.path(&format!("site/{page}"))).unwrap();
        dyno_record::packed_runs(&page).unwrap()
    };
    let base = fs::read_to_string(place.path("base.jsonl")).unwrap();
    for page in pages {
        assert_eq!(packed(page).pop().unwrap().text, base, "{page}");
        place.dyno(&format!("verify site/{page}")).exits(0);
    }
    assert!(packed("index.html").is_empty(), "a page replaced the index");
}
