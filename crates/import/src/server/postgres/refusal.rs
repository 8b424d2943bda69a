//! The row that a server refuses within a COPY, by the context of its error.

use std::iter;

/// Classes of SQLSTATE whose errors are of the server, a connection or a lock, whatever row it has come to: connection,
/// transaction rolled back, insufficient resources, object not in the needed state, operator intervention, system; and the
/// codes of damaged data and damaged indexes. Not XX000, by which extensions as PostGIS report values.
const NOT_OF_A_ROW: [&str; 8] = ["08", "40", "53", "55", "57", "58", "XX001", "XX002"];

/// True if an error of such a code may be that of a row.
pub fn is_of_a_row(code: &str) -> bool {
    !NOT_OF_A_ROW.iter().any(|class| code.starts_with(class))
}

/// True if the server has come to another row than the refused one: it writes several rows to a page together
/// (`heap_multi_insert` in its source), and the context names the last that it has read.
pub fn is_of_an_earlier_row(code: &str, message: &str) -> bool {
    code == "54000" && message.starts_with("row is too big")
}

/// The row, from 1, at which a COPY into a table ended, and the server's words on its column, if it has some. None where
/// the server names no row; and where two parts of the context could be the one of the COPY, since a value may look like it
/// and name another row.
pub fn refused_row<'c>(context: &'c str, table: &str) -> Option<(u64, &'c str)> {
    let begin = format!("COPY {table}, line ");
    let lines = iter::once(0).chain(context.match_indices('\n').map(|(at, _)| at + 1));
    let mut found = lines.filter_map(|at| row_and_column(context[at..].strip_prefix(&begin)?));
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// The row and the column in what follows `COPY table, line ` to the end of a context: a COPY has called all else that stands
/// in it, and so comes last. This is how `CopyFromErrorCallback` in the server's source writes it.
fn row_and_column(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let row = digits.parse().ok()?;
    let is_whole = rest.is_empty() || rest.starts_with(": \"") && rest.ends_with('"');
    let is_column = rest.starts_with(", column ") && (rest.ends_with('"') || rest.ends_with(": null input"));
    match is_column {
        true => Some((row, rest)),
        false => is_whole.then_some((row, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_and_the_column_are_those_of_the_copy() {
        for (context, found) in [
            ("COPY t, line 2", Some((2, ""))),
            ("COPY t, line 2: \"1\\tx\"", Some((2, ""))),
            ("COPY t, line 12, column d: \"x, line 7\"", Some((12, ", column d: \"x, line 7\""))),
            ("COPY t, line 3, column d: null input", Some((3, ", column d: null input"))),
            ("COPY t, line 3, column d: \"a\nb\"", Some((3, ", column d: \"a\nb\""))),
            ("JSON data, line 1: {\nCOPY t, line 4, column j: \"{\"", Some((4, ", column j: \"{\""))),
            ("PL/pgSQL function f() line 3 at RAISE\nCOPY t, line 5", Some((5, ""))),
            ("COPY t", None),
            ("COPY u, line 2", None),
            ("COPY t, line x", None),
            ("COPY t, line 2 of it", None),
            ("SQL statement \"SELECT 'COPY t, line 2'\"", None),
            ("", None),
        ] {
            assert_eq!(refused_row(context, "t"), found, "{context}");
        }
        let odd = "t, line 7: \"\nCOPY t, line 8";
        assert_eq!(refused_row(&format!("COPY {odd}, line 9"), odd), Some((9, "")));
    }

    #[test]
    fn a_value_that_looks_like_the_place_of_another_row_names_none() {
        for context in [
            "COPY t, line 2, column d: \"x\nCOPY t, line 9, column d: \"y\"",
            "COPY t, line 2, column d: \"x\nCOPY t, line 9: \"",
            "SQL statement \"INSERT INTO u VALUES ('\nCOPY t, line 9: \"')\"\nPL/pgSQL function f() line 1\nCOPY t, line 2: \"x\"",
        ] {
            assert_eq!(refused_row(context, "t"), None, "{context}");
        }
        // Neither end of these is that of the place of a row.
        let context = "COPY t, line 2, column d: \"x\nCOPY t, line 9\"";
        assert_eq!(refused_row(context, "t").map(|(row, _)| row), Some(2));
        let deferred = "SQL statement \"SELECT '\nCOPY t, line 9, column d: \"x\"'\"\nPL/pgSQL function f() line 1 at EXECUTE";
        assert_eq!(refused_row(deferred, "t"), None);
    }

    #[test]
    fn errors_of_the_server_are_those_of_no_row() {
        for code in ["22007", "23505", "P0001", "45000", "54000", "XX000"] {
            assert!(is_of_a_row(code), "{code}");
        }
        for code in ["53100", "57014", "40P01", "55P03", "XX001", "XX002"] {
            assert!(!is_of_a_row(code), "{code}");
        }
        assert!(is_of_an_earlier_row("54000", "row is too big: size 8184, maximum size 8160"));
        assert!(!is_of_an_earlier_row("54000", "index row size 2728 exceeds btree version 4 maximum 2704"));
    }
}
