//! The figures of `dyno calibrate` on equals whose truth is known: how often a new run of them would call something

use dyno_record::Run;
use dyno_verdict::calibrate;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::pages::{Page, Scatter};

/// A run of a contender next to an equal copy, which lasted so long that a run of 10 s has a third of its blocks and one
/// of 30 and of 60 s have as many and twice as many.
fn calibrated(page: Page, rng: &mut ChaCha8Rng) -> Run {
    let mut run = page.run(rng, |_, _, _| 1.0);
    run.contenders[1].label = format!("{},slowdown=0%", run.contenders[0].label);
    run.contenders[1].slowdown = Some(0.0);
    run.elapsed_ns = 30_000_000_000;
    run
}

/// A bootstrap around the mean of few blocks takes what chance left there for a bias of the machine: before it was
/// taken out, runs of twice as many blocks as were measured were said to call equals different in a quarter of them.
#[test]
fn chance_in_few_blocks_is_not_taken_for_false_alarms() {
    let mut rng = ChaCha8Rng::seed_from_u64(30);
    for (blocks, scatter) in
        [(8, Scatter::Normal(0.03)), (16, Scatter::Normal(0.03)), (13, Scatter::Heavy(0.05))]
    {
        let page = Page { contenders: 2, tests: 15, blocks, scatter };
        let runs = 12;
        let mut said = 0.0;
        for _ in 0..runs {
            let calibration = calibrate(&calibrated(page, &mut rng));
            let longest = calibration.contenders[0].spans.last().unwrap();
            assert!(longest.blocks > blocks as usize, "{longest:?}");
            said += longest.alarms.in_table / f64::from(runs);
        }
        println!(
            "{blocks} blocks measured, {scatter:?}: equals are called different in {:.1} % of runs",
            said * 100.0
        );
        // A new run calls something different in at most one of twenty; draws from so few blocks still say somewhat
        // more.
        assert!(said <= 0.15, "{blocks} blocks: {said}");
    }
}
