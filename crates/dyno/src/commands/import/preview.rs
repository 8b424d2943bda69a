//! A preview of an import: the shape, the columns with what decided their types, the statements.

use std::fmt::Write;

use dyno_import::{Plan, why};

use super::summary::Read;

/// Most fields of a row that are shown, and most characters of a field.
const FIELDS: usize = 20;
const CHARACTERS: usize = 40;

/// The preview, which is also a script in SQL: all but the statements are comments.
pub fn text(plan: &Plan) -> String {
    let mut text = String::new();
    comment(&mut text, &Read::of(plan).shape());
    let evidence = plan.evidence.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    for (column, evidence) in plan.table.columns.iter().zip(evidence) {
        comment(&mut text, &format!("{} {}: {}", column.name, column.declared, why(column, evidence)));
    }
    for row in &plan.first {
        let fields: Vec<String> = row.iter().take(FIELDS).map(|field| clipped(field)).collect();
        let more = if row.len() > FIELDS { " | …" } else { "" };
        comment(&mut text, &format!("row: {}{more}", fields.join(" | ")));
    }
    plan.notes.iter().for_each(|note| comment(&mut text, note));
    for statement in plan.statements() {
        let _ = writeln!(text, "{statement};");
    }
    text
}

/// Adds a line that is a comment in SQL, whatever is in it: a name of a column may hold an end of line.
fn comment(text: &mut String, line: &str) {
    text.push_str("-- ");
    for letter in line.chars() {
        match letter.is_control() {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    text.push('\n');
}

/// A field as far as a preview shows it.
fn clipped(field: &str) -> String {
    match field.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &field[..end]),
        None => field.to_owned(),
    }
}
