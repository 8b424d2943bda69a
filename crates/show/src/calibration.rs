//! The differences that a machine can show, as text.

use dyno_verdict::statistics::MIN_BLOCKS;
use dyno_verdict::{Calibrated, Calibration, CopyOffsets, FalseDifferences, OffsetSpread, RunLength};

use crate::report::words::counted;
use crate::units::{percent, ratio};
use crate::wrapped;

/// The width of the column of labels, in characters.
const LABELS: usize = 46;

/// A calibration as a table for each contender.
pub fn render(calibration: &Calibration) -> String {
    let Calibration { suite, tests, blocks, disturbed, rests_on_disturbed, contenders } = calibration;
    let mut text = format!("{suite}: {}, {}\n", counted(*tests, "test"), counted(*blocks, "block"));
    if *disturbed > 0 {
        let rest = match rests_on_disturbed {
            true => {
                "too few others are left, so these figures are of a machine at work, and dyno does not keep them"
            }
            false => "they are left out",
        };
        text.push_str(&wrapped(
            &format!("Other work disturbed {disturbed} of {}: {rest}.", counted(*blocks, "block")),
            "",
            "  ",
        ));
        text.push('\n');
    }
    for contender in contenders {
        text.push('\n');
        text.push_str(&table(contender));
    }
    let notes = [
        "Each share is of 400 draws from these blocks, five neighbours at a time; a draw has as many blocks as a run of two \
         contenders fits into that time. A draw of more blocks than were measured repeats some of them, and calls equals \
         different more often than a run of as many new blocks: calibrate for longer before you rely on such a share.",
        "Equals are the contender and its equal copy. The first line is about one table, of all blocks; the shares are \
         about the draws, each a separate table, so they may call equals different where that one does not: a draw may \
         repeat a stretch in which one of the two was slowed. Where the table of all blocks calls the equal copy \
         different, the draws have it as it was; elsewhere either of the two may be the slower one in a stretch. \
         Anywhere: in one test of the table or in the mean. A slower copy is found where the table says slower of the \
         mean, or on average of a test.",
        "No interval of a run covers what its blocks share, such as where a file lies in memory: copies of one file under \
         other names show it. Each trial is a separate process, so what a restart of an embedded engine changes is in the \
         intervals; a server starts once in a run, and `dyno rerun` starts it again.",
    ];
    for note in notes {
        text.push('\n');
        text.push_str(&wrapped(note, "", "  "));
    }
    text.push('\n');
    text
}

fn table(contender: &Calibrated) -> String {
    let beside = match contender.equal {
        Some(equal) => match equal.interval {
            Some(interval) => {
                format!("{} ({}–{})", ratio(equal.ratio), ratio(interval.low), ratio(interval.high))
            }
            None => ratio(equal.ratio),
        },
        None => "no block".to_owned(),
    };
    let said = match contender.significant {
        FalseDifferences { too_few: true, .. } => {
            "and the blocks are too few to call it different".to_owned()
        }
        FalseDifferences { by_mean: false, tests: 0, .. } => {
            "and the table of all blocks calls it different nowhere".to_owned()
        }
        FalseDifferences { by_mean, tests, .. } => {
            let tests = format!("in {tests} {}", if tests == 1 { "test" } else { "tests" });
            format!(
                "and the table of all blocks calls it different {tests}{}",
                if by_mean { " and by the mean" } else { "" }
            )
        }
    };
    let mut text = format!("{}: an equal copy takes {beside} of its time, {said}\n", contender.label);
    let share = |span: &RunLength, share: f64| {
        let is_known = !contender.significant.too_few && span.blocks >= MIN_BLOCKS;
        if is_known { percent(share) } else { "–".to_owned() }
    };
    let mut line = |label: &str, cell: &dyn Fn(&RunLength) -> String| {
        let cells: String = contender.spans.iter().map(|span| format!("{:>10}", cell(span))).collect();
        text.push_str(&format!("{label:<LABELS$}{cells}\n"));
    };
    line("draws as long as a run of", &|span| format!("{} s", span.seconds));
    line("blocks in each draw", &|span| span.blocks.to_string());
    line("draws that call equals different, by the mean", &|span| share(span, span.alarms.by_mean));
    line("draws that call equals different, anywhere", &|span| share(span, span.alarms.in_table));
    let slowdowns = contender.spans.first().map(|span| span.found.len()).unwrap_or_default();
    for place in 0..slowdowns {
        let slower = percent(contender.spans[0].found[place].slowdown);
        line(&format!("draws that find {slower} slower, by the mean"), &|span| {
            share(span, span.found[place].by_mean)
        });
        line(&format!("draws that find {slower} slower, in a test"), &|span| {
            share(span, span.found[place].by_test)
        });
    }
    text.push_str(&wrapped(&copies(contender.copies.as_ref()), "", "  "));
    text.push('\n');
    text
}

/// The differences between copies of the library under other names.
fn copies(found: Option<&CopyOffsets>) -> String {
    let Some(CopyOffsets { copies, by_mean, by_test }) = found else {
        // No copies ran, or the blocks that have all of them are too few.
        return format!(
            "What a whole run shares was not measured: that takes copies of the library under other names (`--copies`) and \
             {MIN_BLOCKS} blocks with all of them."
        );
    };
    let (mean_noise, test_noise) = (percent(by_mean.noise), percent(by_test.noise));
    if !by_mean.shown && !by_test.shown {
        return format!(
            "{copies} copies of its library, under different names, are not shown to differ: noise explains a standard deviation \
             of {mean_noise} by the mean and {test_noise} in a test."
        );
    }
    let of = |spread: &OffsetSpread| match spread.shown {
        true => format!("by {}", percent(spread.between)),
        false => "by nothing that is shown".to_owned(),
    };
    format!(
        "{copies} copies of its library, under different names, differ {} by the mean and {} in a test (standard deviation, \
         beyond {mean_noise} and {test_noise} that noise explains).",
        of(by_mean),
        of(by_test)
    )
}
