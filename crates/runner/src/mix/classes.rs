//! The classes of a mix by position: their names, and their statements among those of all classes.

use std::iter;

use dyno_protocol::{CONNECT, MixWork};

/// The names of what is recorded separately: the classes, and connecting where clients come and go.
pub fn names(mix: &MixWork) -> Vec<&str> {
    let classes = mix.classes.iter().map(|class| class.name.as_str());
    classes.chain(mix.session.map(|_| CONNECT)).collect()
}

/// The position of each class's first statement among those of all classes.
pub fn firsts(mix: &MixWork) -> Vec<usize> {
    let ends = mix.classes.iter().scan(0, |end, class| {
        *end += class.statements.len();
        Some(*end)
    });
    iter::once(0).chain(ends).take(mix.classes.len()).collect()
}
