//! The question, and the answer in a sentence for each safety level.

use dyno_verdict::statistics::Ratio;
use dyno_verdict::{LevelRanking, Verdict};

use super::words::{bounds, class, counted, list, ratio_with_interval, that, uncapitalized};
use crate::views::sustained::words;
use crate::{ratio, units};

/// What the run was to find out.
pub(super) fn question(verdict: &Verdict) -> String {
    let labels: Vec<&str> =
        verdict.shown_contenders().map(|(_, contender)| contender.label.as_str()).collect();
    match labels.len() {
        0 | 1 => format!("How fast is {} at this work, on this machine?", list(&labels)),
        2..=5 => {
            format!("Which is fastest for this work, on this machine, at the same safety: {}?", or(&labels))
        }
        many => format!(
            "Which of {many} contenders is fastest for this work, on this machine, at the same safety?"
        ),
    }
}

/// What the samples answer, the safest level first. Never empty.
pub(crate) fn answers(verdict: &Verdict) -> Vec<String> {
    let sustained = &verdict.views.sustained;
    if !sustained.is_empty() {
        return sustained.iter().map(|sustained| words::sentence(verdict, sustained)).collect();
    }
    let rankings = &verdict.rankings;
    let mut sentences: Vec<String> = rankings
        .iter()
        .filter(|ranking| ranking.ranks.len() > 1)
        .map(|ranking| within(verdict, ranking))
        .collect();
    let alone: Vec<&LevelRanking> = rankings.iter().filter(|ranking| ranking.ranks.len() == 1).collect();
    sentences.extend(alone.iter().filter_map(|ranking| price(verdict, ranking)));
    if !verdict.views.debts.is_empty() && rankings.iter().any(|ranking| ranking.ranks.len() > 1) {
        sentences.push(crate::views::debt::LEFT_OUT.to_owned());
    }
    if sentences.is_empty() {
        sentences.push(match verdict.shown_contenders().count() {
            1 => "There is only one contender, so dyno ranks nobody; its times are below.".into(),
            _ => "No two contenders are equally safe and passed the same tests, so dyno ranks nobody.".into(),
        });
    }
    sentences
}

/// Who is the fastest of a level.
fn within(verdict: &Verdict, ranking: &LevelRanking) -> String {
    let label = |contender: usize| verdict.label(contender);
    let among = format!("Of the {} contenders that {}", ranking.ranks.len(), that(&ranking.class));
    if ranking.tests == 0 {
        return format!("{among}, dyno ranks nobody: no test was passed by all of them.");
    }
    let over = counted(ranking.tests, "test");
    let margin = units::percent(verdict.about.schedule.margin);
    let fastest: Vec<&str> =
        ranking.ranks.iter().filter(|rank| rank.fastest).map(|rank| label(rank.contender)).collect();
    let next = ranking.ranks.iter().find(|rank| !rank.fastest && !rank.failed);
    let failed: Vec<&str> =
        ranking.ranks.iter().filter(|rank| rank.failed).map(|rank| label(rank.contender)).collect();
    if !failed.is_empty() && fastest.is_empty() {
        return format!("{among}, nobody is called fastest, because trials failed of {}.", list(&failed));
    }
    match (fastest.as_slice(), next.and_then(|next| Some((next, next.ratio?)))) {
        ([], _) => format!("{among}, no order is certain: there are too few trials."),
        ([one], Some((next, times))) => format!(
            "{among}, {one} is fastest: {}, the next, takes {} as long{}, by the geometric mean over {over}.",
            label(next.contender),
            ratio(times.ratio),
            interval(&times)
        ),
        (several, Some((next, times))) => format!(
            "{among}, {} are fastest, within {margin} of the best and not shown to be slower; {}, the next, takes {} as \
             long{}, by the geometric mean over {over}.",
            list(several),
            label(next.contender),
            ratio(times.ratio),
            interval(&times)
        ),
        (several, None) => {
            format!(
                "{among}, {} are within {margin} of the best and not shown to be slower, by the geometric mean over \
                 {over}.",
                list(several)
            )
        }
    }
}

/// What the only contender of a class takes compared with the baseline: the price of what sets it apart.
fn price(verdict: &Verdict, ranking: &LevelRanking) -> Option<String> {
    let contender = ranking.ranks.first()?.contender;
    let summary = verdict.summaries.iter().find(|summary| summary.contender == contender)?;
    let mean = summary.geometric_mean.filter(|_| !summary.same_level)?;
    Some(format!(
        "{} has no equal here, so dyno does not rank it ({}). It takes {} the time of {}: that is a price, and ranks nobody.",
        verdict.contenders[contender].label,
        uncapitalized(&class(&ranking.class)),
        ratio_with_interval(&mean),
        verdict.label(verdict.baseline)
    ))
}

fn interval(ratio: &Ratio) -> String {
    ratio.interval.map_or(String::new(), |interval| format!(" (95 % interval {})", bounds(interval)))
}

fn or(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}
