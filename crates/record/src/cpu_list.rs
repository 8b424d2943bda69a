//! Sets of CPUs as the kernel writes them: `0-2,5`.
//!
//! Text in, numbers out, and back; nothing here looks at the machine.

/// The CPUs of a list, ascending and each once. An empty list is no CPUs.
///
/// # Errors
/// The part that is neither a number nor a rising range, for a message.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
            // The bound keeps a slip of the finger from filling the memory.
            (Ok(first), Ok(last)) if first <= last && last < 1 << 20 => cpus.extend(first..=last),
            _ => return Err(part.to_owned()),
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// The list of some CPUs, given in ascending order, with ranges where two or more follow each other.
pub fn format(cpus: &[usize]) -> String {
    let ranges = cpus.chunk_by(|a, b| a + 1 == *b);
    let part = |range: &[usize]| match range {
        [one] => one.to_string(),
        many => format!("{}-{}", many[0], many[many.len() - 1]),
    };
    ranges.map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        for (text, cpus) in
            [("", vec![]), ("1", vec![1]), ("0-2,5", vec![0, 1, 2, 5]), ("0-1,8-9", vec![0, 1, 8, 9])]
        {
            assert_eq!(parse(text).unwrap(), cpus);
            assert_eq!(format(&cpus), text);
        }
        assert_eq!(parse(" 3, 1-2 ,2").unwrap(), [1, 2, 3]);
    }

    #[test]
    fn what_is_not_a_list_is_named() {
        for (text, part) in [("0,x", "x"), ("3-1", "3-1"), ("-1", "-1"), ("1-99999999999", "1-99999999999")] {
            assert_eq!(parse(text).unwrap_err(), part);
        }
    }
}
