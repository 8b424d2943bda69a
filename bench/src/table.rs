//! The tables, as Markdown, and whether the aims are reached.

use std::fmt::Write;

use dyno_verdict::statistics::{geometric_mean_ratio, median, paired_ratio};

use crate::comparison::Comparison;
use crate::session::Session;
use crate::verdict::{Verdict, interval};

/// Most that the geometric mean of the ratios may be.
const MEAN_AIM: f64 = 1.01;
/// Most that the ratio of one test may be, for tests that take C so long, in nanoseconds.
const TEST_AIM: f64 = 1.02;
const LONG_NS: f64 = 5e6;

/// dyno compared with C, test by test, and the worst verdict.
pub fn compare(comparison: &Comparison, titles: &[String]) -> (String, Verdict) {
    let mut text = format!("\n**{}**\n\n", comparison.label);
    text += "| test | C ms | dyno ms | dyno/C | 95 % interval | pairs | left out |\n";
    text += "|---|--:|--:|--:|:-:|--:|--:|\n";
    let mut long = Vec::new();
    for (title, pairs) in titles.iter().zip(&comparison.pairs) {
        let left: Vec<(f64, f64)> = pairs.iter().flatten().copied().collect();
        let Some(ratio) = paired_ratio(&left) else {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {title} | | | | | 0 | {} |", pairs.len());
            continue;
        };
        let [dyno, reference] = [|pair: &(f64, f64)| pair.0, |pair: &(f64, f64)| pair.1]
            .map(|side| median(&left.iter().map(side).collect::<Vec<_>>()).unwrap_or(f64::NAN));
        let _ = writeln!(
            text,
            "| {title} | {:.2} | {:.2} | {:.3} | {} | {} | {} |",
            reference / 1e6,
            dyno / 1e6,
            ratio.ratio,
            interval(&ratio, 3),
            left.len(),
            pairs.len() - left.len(),
        );
        if reference >= LONG_NS {
            long.push((Verdict::of(&ratio, TEST_AIM), title));
        }
    }
    let verdict = judge(&mut text, comparison, &long);
    (text, verdict)
}

/// Adds the lines on the aims.
fn judge(text: &mut String, comparison: &Comparison, long: &[(Verdict, &String)]) -> Verdict {
    let mut worst = Verdict::Reached;
    if let Some(mean) = geometric_mean_ratio(&comparison.pairs) {
        worst = Verdict::of(&mean, MEAN_AIM);
        let _ = writeln!(
            text,
            "\nGeometric mean of the ratios: {:.4} ({}); at most {MEAN_AIM}: {}.",
            mean.ratio,
            interval(&mean, 4),
            worst.text()
        );
    }
    let _ = write!(text, "Tests of 5 ms and more, at most {TEST_AIM}: ");
    let above: Vec<String> = long
        .iter()
        .filter(|(verdict, _)| *verdict > Verdict::Reached)
        .map(|(verdict, title)| format!("{title}: {}", verdict.text()))
        .collect();
    text.push_str(match (long.is_empty(), above.is_empty()) {
        (true, _) => "none was measured undisturbed",
        (_, true) => "all reached",
        _ => "",
    });
    let _ = writeln!(text, "{}.", above.join("; "));
    long.iter().map(|(verdict, _)| *verdict).fold(worst, Verdict::max)
}

/// The null runner's cost for the same statements or operations.
pub fn null(session: &Session) -> String {
    let mut text = "\n**null**\n\n| test | operations | ns | ns each |\n|---|--:|--:|--:|\n".to_owned();
    for (index, (test, title)) in session.tests().iter().zip(session.titles()).enumerate() {
        let times: Vec<f64> = session.null.iter().map(|times| times[index] as f64).collect();
        let time = median(&times).unwrap_or(f64::NAN);
        let operations = test.record.amount.as_ref().map_or(test.record.statements, |amount| amount.count);
        let _ = writeln!(text, "| {title} | {operations} | {time:.0} | {:.2} |", time / operations as f64);
    }
    text
}
