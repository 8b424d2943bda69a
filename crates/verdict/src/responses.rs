//! The further judgement of a test whose operations were timed one by one in the measured trials, as those of many
//! clients are: the response times of each class's slow operations, trial by trial, so that contenders can be compared
//! by it too.

use dyno_record::{Quantity, Run, TestRecord};

use crate::figures::has_enough;
use crate::test_verdict::QuantityVerdict;

/// The shares of operations by which a class may be judged, the best first.
const SHARES: [f64; 3] = [0.99, 0.9, 0.5];

/// Judges the classes of a test, by `judge` that judges the contenders by one quantity. A class is judged by
/// the largest share for which at least one contender has enough operations in each of its trials.
pub(crate) fn responses(
    run: &Run,
    test: &TestRecord,
    judge: impl Fn(Quantity) -> QuantityVerdict,
) -> Vec<QuantityVerdict> {
    if run.target_of(&test.id).is_some() {
        return Vec::new();
    }
    let classes = classes(run, &test.id);
    // If operations arrive at a given rate, the only class is already the test's own figure.
    let is_the_test = classes.len() == 1 && arrives(run, &test.id);
    let judged = classes.iter().filter(|_| !is_the_test).filter_map(|class| {
        let share = SHARES.into_iter().find(|share| has_enough(class.most, *share))?;
        Some(judge(Quantity::Response { class: class.name.to_owned(), share }))
    });
    judged.collect()
}

/// A class of operations.
struct Class<'r> {
    name: &'r str,
    /// The number of operations in the trial in which they were the fewest, for the contender with the most.
    most: u64,
}

/// The classes of a test, in the order of the suite.
fn classes<'r>(run: &'r Run, test: &str) -> Vec<Class<'r>> {
    let mut classes: Vec<Class> = Vec::new();
    for (contender, _) in run.shown_contenders() {
        let mut least: Vec<(&str, u64)> = Vec::new();
        let trials = run.trials.iter().filter(|trial| trial.contender == contender && trial.is_measured());
        let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
        for class in samples.flat_map(|sample| &sample.sample.classes) {
            match least.iter_mut().find(|(name, _)| *name == class.class) {
                Some((_, fewest)) => *fewest = (class.done + class.failed).min(*fewest),
                None => least.push((&class.class, class.done + class.failed)),
            }
        }
        for (name, fewest) in least {
            match classes.iter_mut().find(|class| class.name == name) {
                Some(class) => class.most = class.most.max(fewest),
                None => classes.push(Class { name, most: fewest }),
            }
        }
    }
    classes
}

/// Returns true if the operations of a test arrive at planned times.
fn arrives(run: &Run, test: &str) -> bool {
    let mut samples = run.trials.iter().flat_map(|trial| &trial.samples);
    samples.any(|sample| sample.sample.test == test && sample.judged_percentile.is_some())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_protocol::{Class, Response, empty_histogram};
    use dyno_record::{Load, Quantity, Run};

    use crate::cell::CellStanding;
    use crate::{TestVerdict, judge};

    /// Three contenders of whose operations `done` were timed in each trial, each `ns` long.
    fn run(class: &str, done: [u64; 3], ns: [u64; 3]) -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let safety = run.contenders[1].safety.clone();
        run.contenders.iter_mut().for_each(|contender| contender.safety.clone_from(&safety));
        // The last one is the harness.
        for trial in run.trials.iter_mut().filter(|trial| trial.contender < 3) {
            let (done, ns) = (done[trial.contender], ns[trial.contender] + u64::from(trial.block) % 3);
            for sample in &mut trial.samples {
                let mut histogram = empty_histogram(3);
                histogram.record_n(ns, done).unwrap();
                let response = Response::of(&histogram);
                sample.sample.classes =
                    vec![Class { class: class.into(), done, response, ..Class::default() }];
            }
        }
        run
    }

    fn judged(class: &str, done: [u64; 3], ns: [u64; 3]) -> TestVerdict {
        first(&run(class, done, ns))
    }

    fn first(run: &Run) -> TestVerdict {
        judge(run).tests.into_iter().next().unwrap()
    }

    #[test]
    fn classes_are_compared_by_their_slow_operations() {
        let test = judged("read", [2000, 1000, 40], [500, 1000, 700]);
        let [response] = &test.responses[..] else { panic!("one class: {:?}", test.responses) };
        assert_eq!(response.quantity.to_string(), "read: 99 % within");
        let [first, second, third] = &response.cells[..] else { panic!("three contenders") };
        assert!(first.fastest && !second.fastest, "{first:?} {second:?}");
        let ratio = second.ratio.unwrap().ratio;
        assert!((1.98..2.02).contains(&ratio), "{ratio}");
        // Forty operations are too few to judge the slowest hundredth.
        assert_eq!(third.standing, CellStanding::TooFew);
        assert!(third.standing.is_fine() && third.figures.summary.is_none() && !third.fastest);
        assert_eq!(test.lines().count(), 2);
    }

    #[test]
    fn a_percentile_that_hides_what_clients_wait_is_not_ranked() {
        let mut run = run("move", [2000; 3], [500, 1000, 1500]);
        // Ten of its operations waited for all the others: a millisecond each, while the quick ones took one
        // millisecond together.
        for trial in run.trials.iter_mut().filter(|trial| trial.contender == 0) {
            for class in trial.samples.iter_mut().flat_map(|sample| &mut sample.sample.classes) {
                let mut histogram = class.response.histogram().unwrap().unwrap();
                histogram.record_n(1_000_000, 10).unwrap();
                class.response = Response::of(&histogram);
                class.done += 10;
            }
        }
        let standings = |run: &Run| -> Vec<(CellStanding, bool)> {
            let cells = first(run).responses.remove(0).cells;
            cells.iter().take(3).map(|cell| (cell.standing.clone(), cell.fastest)).collect()
        };
        let counts = |fastest| (CellStanding::Counts, fastest);
        let asked = |clients| dyno_record::Clients {
            clients,
            rate: None,
            course: None,
            session: None,
            think_ns: None,
            duration_ns: None,
            warm_up_ns: 0,
        };
        // A client that works alone waits for no other, and arrivals are due whatever other clients do.
        for (load, clients) in [(Load::Closed, 1), (Load::Open, 2)] {
            run.tests[0].load = Some(load);
            run.tests[0].clients = Some(asked(clients));
            assert_eq!(standings(&run), [counts(true), counts(false), counts(false)]);
        }
        run.tests[0].load = Some(Load::Closed);
        let uneven = (CellStanding::Uneven(91), false);
        // Its figure is the smallest, so no other is shown to be faster than all.
        assert_eq!(standings(&run), [uneven, counts(false), counts(false)]);
        let cells = first(&run).responses.remove(0).cells;
        assert!(cells[0].figures.summary.is_some() && cells.iter().all(|cell| cell.ratio.is_none()));
    }

    #[test]
    fn the_share_is_one_that_some_class_has() {
        let share = |done| match judged("read", done, [500, 500, 500]).responses.first()?.quantity {
            Quantity::Response { share, .. } => Some(share),
            _ => None,
        };
        assert_eq!(share([40, 120, 30]), Some(0.9));
        assert_eq!(share([40, 30, 30]), Some(0.5));
        assert_eq!(share([4, 3, 3]), None);
    }
}
