//! Numbers in English words, as the 2002 speed page spells them: single spaces, no "and", no hyphen.

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
/// From the largest down; each is spelled as the words of its count and its name.
const SCALES: [(u64, &str); 4] =
    [(1_000_000_000, "billion"), (1_000_000, "million"), (1000, "thousand"), (100, "hundred")];

/// The number in words.
pub fn words(number: u64) -> String {
    if number == 0 {
        return ONES[0].to_owned();
    }
    let mut spelled = String::new();
    append(number, &mut spelled);
    spelled
}

fn append(mut number: u64, spelled: &mut String) {
    for (scale, name) in SCALES {
        if number >= scale {
            append(number / scale, spelled);
            push(name, spelled);
            number %= scale;
        }
    }
    if number >= 20 {
        push(TENS[(number / 10) as usize], spelled);
        number %= 10;
    }
    if number > 0 {
        push(ONES[number as usize], spelled);
    }
}

fn push(word: &str, spelled: &mut String) {
    if !spelled.is_empty() {
        spelled.push(' ');
    }
    spelled.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn numbers_are_spelled_as_on_the_page() {
        for (number, spelled) in [
            (0, "zero"),
            (13, "thirteen"),
            (40, "forty"),
            (99, "ninety nine"),
            (100, "one hundred"),
            (13_153, "thirteen thousand one hundred fifty three"),
            (468_026, "four hundred sixty eight thousand twenty six"),
            (298_361, "two hundred ninety eight thousand three hundred sixty one"),
            (1_000_000, "one million"),
            (2_000_000_019, "two billion nineteen"),
        ] {
            assert_eq!(words(number), spelled);
        }
    }
}
