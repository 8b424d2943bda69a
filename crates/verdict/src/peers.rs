//! Who may be ranked with whom: contenders whose commits survive the same.

use std::cmp::Reverse;

use dyno_record::{ContenderRecord, Level, Run};

/// What contenders that are ranked together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    /// What an acknowledged commit survives.
    pub level: Level,
}

/// The class of a contender; none of the harness and of one whose level is not known.
pub(crate) fn class(contender: &ContenderRecord) -> Option<Class> {
    let safety = contender.safety.as_ref().filter(|_| !contender.harness)?;
    Some(Class { level: safety.level })
}

/// The classes of the contenders shown, the safest first, each with its contenders by position.
pub(crate) fn classes(run: &Run) -> Vec<(Class, Vec<usize>)> {
    let mut classes: Vec<(Class, Vec<usize>)> = Vec::new();
    for (index, contender) in run.shown_contenders() {
        let Some(own) = class(contender) else { continue };
        match classes.iter_mut().find(|(class, _)| *class == own) {
            Some((_, members)) => members.push(index),
            None => classes.push((own, vec![index])),
        }
    }
    classes.sort_by_key(|(class, _)| Reverse(class.level));
    classes
}
