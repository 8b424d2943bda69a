//! The suite of small tests at its own size, on the three engines that it names.

use dyno_record::load;

use crate::common::Place;

#[test]
fn three_engines_give_the_right_answers_to_every_small_test() {
    let place = Place::in_memory();
    // 3 would mean that a trial failed, or that an answer is not the one that was worked out without a database.
    let with = "--with sqlite:memory,postgres:nosync,mariadb:nosync";
    place.dyno(&format!("run micro {with} --trials 1 --no-warm-up --quiet -o run.jsonl")).exits(0);
    let run = load(&place.path("run.jsonl")).unwrap();
    assert_eq!(run.tests.len(), 52);
    let of_engines = run.trials.iter().filter(|trial| run.contenders[trial.contender].named);
    let samples: Vec<usize> = of_engines.map(|trial| trial.samples.len()).collect();
    assert_eq!(samples, [52, 52, 52]);
    place.assert_clean();
}

#[test]
fn a_test_of_writes_brings_what_it_builds_on() {
    let place = Place::in_memory();
    for only in ["delete-key", "update-three", "upsert", "drop-index"] {
        let small = "--rows 2000 --n 50 --with sqlite:memory --trials 1 --no-warm-up --quiet";
        place.dyno(&format!("run micro {small} --only {only}")).exits(0).prints(only);
    }
}
