//! The layout of a step of a mix: its fields, and the positions of its lists among them.

use dyno_protocol::{STEP_HEAD, StepField, StepKind, StepList};
use dyno_suite::{Items, Mix, Source};

/// The size of a step, in bytes.
pub fn width(mix: &Mix) -> u64 {
    STEP_HEAD + fields(mix).iter().map(|field| field.bytes).sum::<u64>()
}

/// The fields of a step: one for each value, then for each list the count of its items and the columns of as many items
/// as it may have, then the client's think time before the step.
pub fn fields(mix: &Mix) -> Vec<StepField> {
    let field = |name: String, source: &Source| {
        let (kind, bytes) = match source {
            Source::Whole(range) => range
                .written
                .as_ref()
                .map_or((StepKind::Integer, 8), |written| written.field(range.from, range.to)),
            Source::Letters(letters, times) => (StepKind::Text, letters * times),
            _ => (StepKind::Integer, 8),
        };
        StepField { name, kind, bytes }
    };
    let mut fields: Vec<StepField> =
        mix.values.iter().map(|(name, source)| field(name.clone(), source)).collect();
    for (list, items) in &mix.lists {
        fields.push(StepField { name: format!("{list}, count"), kind: StepKind::Integer, bytes: 8 });
        for item in 1..=items.most {
            let columns = items.columns.iter();
            fields.extend(columns.map(|(name, source)| field(format!("{list}.{name}, {item}"), source)));
        }
    }
    let think = mix.think_ns.map(|_| StepField { name: "think".into(), kind: StepKind::Integer, bytes: 8 });
    fields.extend(think);
    fields
}

/// The positions of the lists among the fields.
pub fn lists(mix: &Mix) -> Vec<StepList> {
    let mut next = mix.values.len();
    let list = |(name, items): &(String, Items)| {
        let (count, columns, most) = (next, items.columns.len(), items.most as usize);
        next += 1 + columns * most;
        StepList { name: name.clone(), count, first: count + 1, columns, most }
    };
    mix.lists.iter().map(list).collect()
}
