//! Tests the frequencies of drawn values.

use dyno_suite::{DrawCondition, Drawn, Range as Numbers, Source, ValueDistribution};
use rand::SeedableRng;

use super::*;
use crate::steps::step_bytes;

fn whole(from: i64, to: i64, law: ValueDistribution) -> Source {
    Source::Whole(Numbers { from, to, law, not: None, unless: None, written: None })
}

fn drawn(name: &str, weight: &str) -> Drawn {
    Drawn { name: name.into(), weight: Course::parse(weight).unwrap(), clients: None, patience_ns: None }
}

fn mix() -> Mix {
    Mix {
        clients: 1,
        lasts: None,
        count: Some(1),
        rate: None,
        think_ns: None,
        patience_ns: 1,
        session: None,
        classes: [("never", "0"), ("often", "3"), ("seldom", "1")]
            .map(|(name, weight)| drawn(name, weight))
            .into(),
        values: vec![
            ("a".into(), whole(-2, 2, ValueDistribution::Uniform)),
            ("b".into(), whole(1, 1000, ValueDistribution::Zipf(dyno_suite::ZIPF))),
            ("c".into(), Source::Letters(3, 1)),
        ],
        lists: Vec::new(),
    }
}

fn draws() -> Draws {
    Draws::new(&mix(), 1, (0, 1)).unwrap()
}

#[test]
fn the_bytes_of_steps_are_known_before_they_are_written() {
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    draws().at_once(10, &mut rng, &mut bytes).unwrap();
    let of = |clients, count| step_bytes(&Mix { clients, count, ..mix() });
    assert_eq!(of(3, Some(10)).unwrap(), 3 * bytes.len() as u64);
    assert!(of(10_000, None).unwrap_err().to_string().contains("fewer clients"));
}

fn numbers(bytes: &[u8]) -> Vec<[i64; 4]> {
    let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks(16 + 8 + 8 + 3).map(|step| [0, 8, 16, 24].map(|at| number(&step[at..at + 8]))).collect()
}

#[test]
fn classes_and_values_are_drawn_as_often_as_was_said() {
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    assert_eq!(draws().at_once(40_000, &mut rng, &mut bytes).unwrap(), 40_000);
    let steps = numbers(&bytes);
    let count = |is: &dyn Fn(&[i64; 4]) -> bool| steps.iter().filter(|step| is(step)).count();
    assert_eq!((count(&|step| step[0] != 0), count(&|step| step[1] == 0)), (0, 0));
    assert!((29_500..30_500).contains(&count(&|step| step[1] == 1)));
    for value in -2..=2 {
        assert!((7_600..8_400).contains(&count(&|step| step[2] == value)), "{value}");
    }
    // Of a thousand the most frequent has the share 1 / (sum of 1/k^0.99), 12.9 %, and the second half as much.
    let mut often: Vec<usize> = (1..=1000).map(|value| count(&|step| step[3] == value)).collect();
    often.sort_unstable();
    assert!((4_900..5_500).contains(&often[999]), "{}", often[999]);
    assert!((2_400..2_900).contains(&often[998]), "{}", often[998]);
    assert_eq!(often.iter().sum::<usize>(), 40_000);
}

#[test]
fn arrivals_come_at_their_rate_and_in_order() {
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    let arrived = draws().arrivals(&Course::steady(5_000.0), None, 1.0..4.0, &mut rng, &mut bytes).unwrap();
    assert!((19_500..20_500).contains(&arrived.all), "{arrived:?}");
    let due: Vec<i64> = numbers(&bytes).iter().map(|step| step[0]).collect();
    assert!(due.is_sorted() && due[0] > 0 && due[due.len() - 1] < 4_000_000_000);
    let is_within = |due: &&i64| **due >= 1_000_000_000;
    assert_eq!(
        (arrived.all, arrived.within),
        (due.len() as u64, due.iter().filter(is_within).count() as u64)
    );
    // The gaps of a Poisson process are as wide as their mean on the average, and spread as widely.
    let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.05);
}

#[test]
fn shares_lists_and_values_that_depend_on_others_are_drawn_as_was_said() {
    let range = |from, to| Numbers {
        from,
        to,
        law: ValueDistribution::Uniform,
        not: None,
        unless: None,
        written: None,
    };
    let elsewhere =
        |when| Numbers { not: Some("home".into()), unless: Some((when, "home".to_owned())), ..range(1, 5) };
    let columns = vec![
        ("number".to_owned(), Source::Position),
        ("of".to_owned(), Source::Whole(elsewhere(DrawCondition::Share(0.01)))),
    ];
    let mix = Mix {
        values: vec![
            ("away".into(), Source::Whole(elsewhere(DrawCondition::Value("remote".into())))),
            ("home".into(), Source::Whole(range(1, 5))),
            ("remote".into(), Source::Coin(0.15)),
        ],
        lists: vec![("line".into(), Items { least: 5, most: 15, columns })],
        ..mix()
    };
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    Draws::new(&mix, 1, (0, 1)).unwrap().at_once(4_000, &mut rng, &mut bytes).unwrap();
    let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    let (mut remote, mut lines, mut far) = (0, 0, 0);
    for step in bytes.chunks(16 + 8 * (3 + 1 + 15 * 2)) {
        let fields: Vec<i64> = step[16..].chunks(8).map(number).collect();
        let [away, home, coin, count] = fields[..4] else { panic!("{fields:?}") };
        assert_eq!(away != home, coin == 1);
        assert!((1..=5).contains(&away) && (5..=15).contains(&count));
        remote += coin;
        lines += count;
        for (place, item) in (1..=count).zip(fields[4..].chunks(2)) {
            assert_eq!(item[0], place);
            far += i64::from(item[1] != home);
        }
    }
    // By decks of cards, so exactly.
    assert_eq!(remote, 600);
    assert!((far - lines / 100).abs() <= 2, "{far} of {lines}");
    assert!((39_000..41_000).contains(&lines), "{lines}");
}

#[test]
fn nurand_and_names() {
    let name = Numbers {
        written: Some(dyno_suite::Written::LastName),
        ..Numbers {
            from: 0,
            to: 999,
            law: ValueDistribution::Nurand(255),
            not: None,
            unless: None,
            written: None,
        }
    };
    let mix = Mix { values: vec![("name".into(), Source::Whole(name))], ..mix() };
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    Draws::new(&mix, 1, (0, 1)).unwrap().at_once(20_000, &mut rng, &mut bytes).unwrap();
    let mut counts = std::collections::BTreeMap::<&[u8], usize>::new();
    bytes.chunks(32).for_each(|step| *counts.entry(&step[16..]).or_default() += 1);
    // Uniform they would be 20 each.
    assert!(counts.values().max().is_some_and(|most| *most > 100), "{counts:?}");
}

#[test]
fn what_is_inserted_has_numbers_of_its_own_and_the_latest_are_read_most() {
    let mix = Mix {
        values: vec![
            ("key".into(), Source::Next("seldom".into(), 101)),
            ("recent".into(), Source::Latest("key".into(), 100)),
            ("text".into(), Source::Letters(2, 4)),
        ],
        ..mix()
    };
    let mut inserted = Vec::new();
    for file in 0..2 {
        let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1 + file), Vec::new());
        Draws::new(&mix, 1, (file, 2)).unwrap().at_once(1_000, &mut rng, &mut bytes).unwrap();
        let (mut own, mut newest) = (Vec::new(), 0);
        for step in bytes.chunks(16 + 8 + 8 + 8) {
            let number = |at: usize| i64::from_le_bytes(step[at..at + 8].try_into().unwrap());
            let (class, key, recent) = (number(8), number(16), number(24));
            assert!((1..=100).contains(&recent) || own.contains(&recent), "{recent} of {own:?}");
            newest += i32::from(own.last() == Some(&recent));
            assert!(step[32..].chunks(2).all(|again| again == &step[32..34]));
            if class == 2 {
                own.push(key);
            }
        }
        // As often as the first of a hundred by Zipf's law.
        assert!((120..260).contains(&newest), "{newest}");
        assert!(own.windows(2).all(|pair| pair[1] == pair[0] + 2), "{own:?}");
        inserted.extend(own);
    }
    let count = inserted.len();
    inserted.sort_unstable();
    inserted.dedup();
    assert_eq!((inserted.len(), inserted[0], inserted[1]), (count, 101, 102));
}

#[test]
fn clients_think_as_long_as_was_said_on_the_average() {
    let mix = Mix { think_ns: Some(1_000_000), values: Vec::new(), ..mix() };
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    Draws::new(&mix, 1, (0, 1)).unwrap().at_once(10_000, &mut rng, &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, 10_000 * 24);
    let sum: u64 = bytes.chunks(24).map(|step| u64::from_le_bytes(step[16..].try_into().unwrap())).sum();
    assert!((9_600_000_000..10_400_000_000).contains(&sum), "{sum}");
}

#[test]
fn operations_that_come_in_sessions_are_as_many_and_only_the_first_has_a_time() {
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    let arrived =
        draws().arrivals(&Course::steady(5_000.0), Some(5), 1.0..4.0, &mut rng, &mut bytes).unwrap();
    let steps = numbers(&bytes);
    assert_eq!((steps.len() as u64, arrived.all % 5, arrived.within % 5), (arrived.all, 0, 0));
    // 4,000 sessions but for what chance does.
    assert!((19_000..21_000).contains(&arrived.all), "{arrived:?}");
    assert!(steps.chunks(5).all(|session| session[0][0] > 0 && session[1..].iter().all(|step| step[0] == 0)));
}

#[test]
fn arrivals_follow_a_rate_that_changes_and_weights_that_do() {
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    let classes = vec![drawn("first", "0s 1, 2s 1, 2s 0"), drawn("second", "0s 0, 4s 1")];
    let rate = Course::parse("0s 1000, 2s 1000, 2s 4000, 4s 0").unwrap();
    let mut draws = Draws::new(&Mix { classes, ..mix() }, 1, (0, 1)).unwrap();
    // A second of warm-up is as the beginning.
    let arrived = draws.arrivals(&rate, None, 1.0..5.0, &mut rng, &mut bytes).unwrap();
    let steps = numbers(&bytes);
    let within = |from: f64, until: f64| {
        let of = |step: &&[i64; 4]| (from..until).contains(&(step[0] as f64 / 1e9 - 1.0));
        steps.iter().filter(of).collect::<Vec<_>>()
    };
    let counts =
        [within(-1.0, 0.0), within(0.0, 2.0), within(2.0, 3.0), within(3.0, 4.0)].map(|all| all.len());
    // Within four standard deviations of a Poisson process.
    for (count, mean) in counts.iter().zip([1000_f64, 2000.0, 3000.0, 1000.0]) {
        assert!((*count as f64 - mean).abs() < 4.0 * mean.sqrt(), "{counts:?}");
    }
    assert_eq!((arrived.all, arrived.within), (steps.len() as u64, (steps.len() - counts[0]) as u64));
    assert!(
        within(-1.0, 0.0).iter().all(|step| step[1] == 0) && within(2.0, 4.0).iter().all(|step| step[1] == 1)
    );
    // From nothing to a third of the weight.
    let second = within(0.0, 2.0).iter().filter(|step| step[1] == 1).count();
    assert!((300..500).contains(&second), "{second}");
}

#[test]
fn a_class_of_its_own_clients_is_done_by_these_alone() {
    let own = |name: &str, clients| Drawn { clients, ..drawn(name, "1") };
    let classes = vec![own("read", None), own("write", Some(1)), own("scan", None), own("report", Some(2))];
    let mix = Mix { classes, clients: 5, ..mix() };
    let done = |client: u64| {
        let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        Draws::new(&mix, 1, (client, 5)).unwrap().at_once(1_000, &mut rng, &mut bytes).unwrap();
        let classes: std::collections::BTreeSet<i64> = numbers(&bytes).iter().map(|step| step[1]).collect();
        Vec::from_iter(classes)
    };
    assert_eq!([0, 1, 2, 3, 4].map(done), [vec![1], vec![3], vec![3], vec![0, 2], vec![0, 2]]);
}

/// The frequency of each number from 0 to 99 in `draws` draws by a law.
fn drawn_by(law: ValueDistribution, draws: usize) -> Vec<usize> {
    let mix = Mix { values: vec![("n".into(), whole(0, 99, law))], ..mix() };
    let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
    Draws::new(&mix, 1, (0, 1)).unwrap().at_once(draws as u64, &mut rng, &mut bytes).unwrap();
    let mut counts = vec![0; 100];
    bytes.chunks(24).for_each(|step| counts[usize::from(step[16])] += 1);
    counts
}

#[test]
fn numbers_are_drawn_by_the_law_that_was_asked_for() {
    let sum = |counts: &[usize]| counts.iter().sum::<usize>();
    let near = |count: usize, share: f64| (count as f64 - share * 20_000.0).abs() < 300.0;
    // 68.3 % of a normal distribution lie within one standard deviation of its middle.
    let gauss = drawn_by(ValueDistribution::Gauss(10.0), 20_000);
    assert!(near(sum(&gauss[40..60]), 0.683) && near(sum(&gauss[..50]), 0.5), "{gauss:?}");
    // 63.2 % of an exponential one lie below its mean.
    let exponential = drawn_by(ValueDistribution::Exponential(10.0), 20_000);
    assert!(near(sum(&exponential[..10]), 0.632), "{exponential:?}");
    let pareto = drawn_by(ValueDistribution::Pareto(0.2), 20_000);
    assert!(near(sum(&pareto[..20]), 0.8) && near(sum(&pareto[..4]), 0.64), "{pareto:?}");
    let mut zipf = drawn_by(ValueDistribution::Zipf(2.0), 20_000);
    zipf.sort_unstable();
    // The sum of 1/k² over a hundred numbers is 1.635.
    assert!(near(zipf[99], 1.0 / 1.635), "{zipf:?}");
}

#[test]
fn a_hot_spot_moves_on() {
    let law = ValueDistribution::HotSpot { numbers: 0.1, draws: 0.9, moves: 1000 };
    let first = drawn_by(law, 1_000);
    assert!((850..950).contains(&first[..10].iter().sum::<usize>()), "{first:?}");
    let all = drawn_by(law, 2_000);
    let second: usize = (10..20).map(|number| all[number] - first[number]).sum();
    assert!((850..950).contains(&second), "{all:?}");
    // After ten thousand draws it has been everywhere.
    assert!(drawn_by(law, 10_000).iter().all(|count| *count > 50));
}
