//! The errors that the server reports.

/// The error of a failed statement, as the server reports it.
#[derive(Debug, thiserror::Error)]
#[error("{} (PostgreSQL error {code})", self.placed())]
pub struct ServerError {
    /// The five letters of the SQL standard and of PostgreSQL's manual, appendix A.
    pub code: String,
    /// The message, with detail and hint if there are any.
    pub message: String,
    /// The functions and statements in which it came about, one after another from the innermost; empty if the server names
    /// none. Values may stand in it, with ends of lines within them.
    pub context: String,
}

impl ServerError {
    /// The message, with the place in a COPY if there is one.
    fn placed(&self) -> String {
        match copied(&self.context) {
            Some(place) => format!("{} ({place})", self.message),
            None => self.message.clone(),
        }
    }
}

/// The part of a context from a COPY on. What comes before it are functions that the COPY has called.
fn copied(context: &str) -> Option<&str> {
    let mut found = context.match_indices("COPY ").map(|(at, _)| at);
    let start = found.find(|&at| at == 0 || context[..at].ends_with('\n'))?;
    Some(&context[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_a_copy_is_reported_behind_the_message() {
        let said = |context: &str| {
            let (code, message) = ("22P02".to_owned(), "wrong".to_owned());
            ServerError { code, message, context: context.to_owned() }.to_string()
        };
        assert_eq!(said(""), "wrong (PostgreSQL error 22P02)");
        assert_eq!(said("SQL statement \"COPY x\""), "wrong (PostgreSQL error 22P02)");
        assert_eq!(said("COPY t, line 2"), "wrong (COPY t, line 2) (PostgreSQL error 22P02)");
        let within = "JSON data, line 1: {\nCOPY t, line 2, column j: \"{\"";
        assert_eq!(said(within), "wrong (COPY t, line 2, column j: \"{\") (PostgreSQL error 22P02)");
    }
}
