//! The first sentence of a page on how long operations took: nothing of contenders whose operations take as long,
//! and what was planted.

use dyno_protocol::{Class, Response, empty_histogram};
use dyno_record::Run;
use dyno_verdict::judge;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::pages::{Page, Scatter};
use super::{margin, normal};

/// The durations of a contender's operations in a trial: a factor of all, and the share of trials in which one
/// operation takes a hundred times as long.
#[derive(Clone, Copy)]
struct Durations {
    factor: f64,
    stalls: f64,
}

/// A class of operations of a trial; blocks share a speed.
fn class(name: &str, durations: Durations, speed: f64, rng: &mut ChaCha8Rng) -> Class {
    let mut histogram = empty_histogram(3);
    let done = 1500;
    let trial = durations.factor * (speed + 0.05 * normal(rng)).exp();
    for _ in 0..done {
        let duration = 1e5 * trial * (0.5 * normal(rng)).exp();
        histogram.record(duration as u64).unwrap();
    }
    if rng.random::<f64>() < durations.stalls {
        histogram.record((1e7 * trial) as u64).unwrap();
    }
    Class { class: name.into(), done, response: Response::of(&histogram), ..Class::default() }
}

/// A run in which the second contender has half the rate of the first, and operations of two classes last as planned.
fn run(page: Page, rng: &mut ChaCha8Rng, durations: [Durations; 2]) -> Run {
    let mut run = page.run(rng, |contender, _, _| if contender == 0 { 1.0 } else { 2.0 });
    for block in 1..=page.blocks {
        let speed = 0.1 * normal(rng);
        for trial in run.trials.iter_mut().filter(|trial| trial.block == block) {
            let own = durations[trial.contender];
            for sample in &mut trial.samples {
                sample.sample.classes = ["read", "move"].map(|name| class(name, own, speed, rng)).to_vec();
            }
        }
    }
    run
}

/// The share of pages whose first sentence says how long operations took, and one such sentence.
fn said(blocks: u32, pages: u64, durations: [Durations; 2]) -> (f64, String) {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(blocks));
    let page = Page { contenders: 2, tests: 1, blocks, scatter: Scatter::Normal(0.02) };
    let mut one = String::new();
    let mut count = 0.0;
    for _ in 0..pages {
        let sentence = dyno_show::answers(&judge(&run(page, &mut rng, durations))).remove(0);
        assert!(sentence.contains("c0 is fastest"), "{sentence}");
        if sentence.contains(" took ") {
            count += 1.0;
            one = sentence;
        }
    }
    (count / pages as f64, one)
}

const USUAL: Durations = Durations { factor: 1.0, stalls: 0.4 };

#[test]
fn the_first_sentence_says_nothing_of_waits_that_are_equal() {
    for blocks in [6, 8, 20] {
        let pages = 60;
        let (share, sentence) = said(blocks, pages, [USUAL; 2]);
        println!("{blocks} blocks: {:.1} % of pages of equal waits say a difference", share * 100.0);
        assert!(share <= 0.05 + margin(0.05, pages), "{blocks} blocks: {share}, as {sentence}");
    }
}

#[test]
#[ignore = "make soak: thousands of pages"]
fn waits_that_are_equal_are_called_different_in_few_of_many_pages() {
    for blocks in [6, 8, 12, 20] {
        let (share, sentence) = said(blocks, 1000, [USUAL; 2]);
        println!("{blocks} blocks: {:.1} % of pages of equal waits say a difference", share * 100.0);
        assert!(share <= 0.05 + margin(0.05, 1000), "{blocks} blocks: {share}, as {sentence}");
    }
}

#[test]
fn waits_that_differ_are_said() {
    let slow = Durations { factor: 1.5, ..USUAL };
    let (share, sentence) = said(8, 20, [slow, USUAL]);
    assert!(share >= 0.95, "{share}");
    assert!(sentence.contains("; 99 % of ") || sentence.contains("; the longest "), "{sentence}");
    // The fastest by its rate has an operation in each trial that takes a hundred times as long: no percentile shows
    // it.
    let (stalls, none) = (Durations { stalls: 1.0, ..USUAL }, Durations { stalls: 0.0, ..USUAL });
    let (share, sentence) = said(8, 20, [stalls, none]);
    assert!(share >= 0.95 && sentence.contains("; the longest "), "{share}: {sentence}");
}
