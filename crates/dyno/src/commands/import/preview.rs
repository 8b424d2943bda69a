//! What an import would make of a file: the shape, the columns with what decided their types, the statements.

use std::fmt::Write;

use dyno_import::{Plan, why};

use super::summary::Read;

/// The preview, which is also a script in SQL: all but the statements are comments.
pub fn text(plan: &Plan) -> String {
    let mut text = String::new();
    for line in Read::of(plan).shape().lines() {
        let _ = writeln!(text, "-- {line}");
    }
    let evidence = plan.evidence.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    for (column, evidence) in plan.table.columns.iter().zip(evidence) {
        let _ = writeln!(text, "-- {} {}: {}", column.name, column.declared, why(column, evidence));
    }
    for note in &plan.notes {
        let _ = writeln!(text, "-- {note}");
    }
    for statement in plan.statements() {
        let _ = writeln!(text, "{statement};");
    }
    text
}
