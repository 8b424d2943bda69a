//! Statements cut at their parameters.

/// The texts around the parameters of a statement, and the parameters' names. A name may contain a point, as
/// `:list.column`. A colon within quotes, or one next to another as in `a::text`, begins no parameter.
pub fn pieces(statement: &str) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut names) = (vec![String::new()], Vec::new());
    let mut letters = statement.chars().peekable();
    let mut quote = None;
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let begins = quote.is_none()
            && letter == ':'
            && before != ':'
            && letters.peek().is_some_and(|next| next.is_ascii_lowercase());
        if begins {
            let mut name = String::new();
            let is_of_name =
                |next: &char| next.is_ascii_lowercase() || next.is_ascii_digit() || matches!(next, '_' | '.');
            while let Some(next) = letters.next_if(is_of_name) {
                name.push(next);
            }
            names.push(name);
            texts.push(String::new());
            // The character before the following text is the name's last letter, and not the colon.
            before = 'x';
        } else {
            match quote {
                None if matches!(letter, '\'' | '"' | '`') => quote = Some(letter),
                Some(open) if open == letter => quote = None,
                _ => {}
            }
            texts.last_mut().expect("there is one from the beginning").push(letter);
            before = letter;
        }
    }
    (texts, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(statement: &str) -> (Vec<String>, Vec<String>) {
        pieces(statement)
    }

    #[test]
    fn parameters_are_found_outside_of_quotes_and_casts() {
        let (texts, names) = cut("UPDATE t SET a = a + :delta WHERE id = :id_2");
        assert_eq!((texts.len(), names), (3, vec!["delta".to_owned(), "id_2".to_owned()]));
        assert_eq!(texts, ["UPDATE t SET a = a + ", " WHERE id = ", ""]);
        let (texts, names) = cut("SELECT ':no', a::text, \":b\", 'it''s :c', 12:00 FROM t");
        assert_eq!((texts.len(), names.len()), (1, 0));
        assert_eq!(cut(":a:b").1, ["a", "b"]);
        assert_eq!(cut("VALUES(:line.number, 1.5)").1, ["line.number"]);
    }
}
