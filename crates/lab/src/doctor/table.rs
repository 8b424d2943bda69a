//! The checks as text for a terminal, without colour.

use comfy_table::{ContentArrangement, Table, presets};

use super::{Check, Level};

/// The checks as a table in a width of some columns, a line for each and a line for its advice, and a last line that
/// counts.
pub fn render(checks: &[Check], columns: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(columns);
    for check in checks {
        let mark = match check.level {
            Level::Good => "ok",
            Level::Note => "note",
            Level::Warning => "WARNING",
        };
        let advice = check.advice.as_ref().map_or(String::new(), |advice| format!("\n→ {advice}"));
        table.add_row([mark, &check.subject, &format!("{}{advice}", check.found)]);
    }
    let lines: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    format!("{lines}\n{}\n", summary(checks))
}

fn summary(checks: &[Check]) -> String {
    let count = |level| checks.iter().filter(|check| check.level == level).count();
    let some = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    match (count(Level::Warning), count(Level::Note)) {
        (0, notes) => format!("No warnings, {}.", some(notes, "note")),
        (warnings, notes) => format!("{}, {}.", some(warnings, "warning"), some(notes, "note")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_wrapped_and_counted() {
        let checks = [
            Check::good("file system", "ext4 at /"),
            Check::note("turbo", "on", "frequency falls"),
            Check::warning("busy processes", "cc1 100 %", &"stop it ".repeat(20)),
        ];
        let expected = " ok       file system     ext4 at /
 note     turbo           on
                          → frequency falls
 WARNING  busy processes  cc1 100 %
                          → stop it stop it stop it stop it stop it stop it stop it stop it stop it
                          stop it stop it stop it stop it stop it stop it stop it stop it stop it
                          stop it stop it

1 warning, 1 note.
";
        assert_eq!(render(&checks, 100), expected);
        let narrow = render(&checks, 60);
        assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
        assert_eq!(narrow.matches("stop it").count(), 20, "{narrow}");
        assert_eq!(summary(&checks[..1]), "No warnings, 0 notes.");
    }
}
