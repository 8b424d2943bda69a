//! The kinds of values that columns take, and the forms of those that a server would change.

/// The kind of values that a column takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Whole numbers within bounds.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Numbers that a double holds exactly enough to print them again.
    Real,
    /// The same of a float of four bytes.
    Real32,
    /// Decimal numbers with a limited number of digits, before and after the point.
    Decimal {
        /// Digits in all.
        precision: u32,
        /// Digits after the point.
        scale: u32,
    },
    /// SQLite's NUMERIC: whatever looks like a number becomes one, all else stays text.
    Numeric,
    /// Any text, up to a number of characters.
    Text {
        /// The most characters.
        longest: Option<u32>,
    },
    /// A type that takes more texts than it keeps.
    Form(Form),
    /// A type that only the database can read: the text goes there as it is.
    AsIs,
    /// Nothing but empty fields was seen: the first value decides the type.
    Empty,
}

impl Kind {
    /// Every integer of 64 bits.
    pub const INTEGER: Kind = Kind::Integer { min: i64::MIN, max: i64::MAX };
    /// Any text.
    pub const TEXT: Kind = Kind::Text { longest: None };
    /// PostgreSQL's numeric without limits that a user would meet.
    pub const DECIMAL: Kind = Kind::Decimal { precision: 131_072 + 16_383, scale: 16_383 };

    /// True if an empty field means NULL, since it cannot be a value.
    pub fn empty_is_null(self) -> bool {
        !matches!(self, Kind::Text { .. } | Kind::Empty | Kind::Form(Form::Padded { .. }))
    }

    /// The requirement on a value, for people.
    pub fn wants(self) -> String {
        match self {
            Kind::INTEGER => "is no INTEGER that prints as it is written here".into(),
            Kind::Integer { min, max } => format!("is no integer from {min} to {max}"),
            Kind::Real => "is no REAL that is the same number when printed".into(),
            Kind::Real32 => "is no number that four bytes hold without rounding".into(),
            Kind::DECIMAL => "is no number in decimal digits".into(),
            Kind::Decimal { precision, scale } => {
                format!("is no number of {precision} digits, {scale} of them after the point")
            }
            Kind::Numeric => "is a number that SQLite would round".into(),
            Kind::Text { longest } => format!("is longer than {} characters", longest.unwrap_or(u32::MAX)),
            Kind::Form(form) => form.wants(),
            Kind::AsIs => "cannot be stored".into(),
            Kind::Empty => "is the first value of a column that was empty until here".into(),
        }
    }
}

/// The form of what a column keeps as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// A day.
    Date,
    /// A time of day, or a time that has passed.
    Time {
        /// Digits of a second behind the point.
        digits: u32,
        /// True if a time zone is kept, or reckoned with.
        has_zone: bool,
    },
    /// A day and a time.
    Timestamp {
        /// Digits of a second behind the point.
        digits: u32,
        /// True if a time zone is reckoned with.
        has_zone: bool,
    },
    /// PostgreSQL's interval.
    Interval {
        /// Digits of a second behind the point.
        digits: u32,
    },
    /// A text that is filled with spaces, or whose spaces at the end are cut.
    Padded {
        /// Its characters.
        length: u32,
        /// True if spaces fill it: then a text of full length may end with them.
        fills: bool,
    },
    /// Bytes, neither more nor fewer.
    Bytes {
        /// The fewest.
        least: u32,
        /// The most.
        most: u32,
    },
    /// One of some words.
    OneOf(&'static [String]),
    /// Some of some words, in their order, between commas.
    SomeOf(&'static [String]),
    /// A binary number that is rounded to a number of digits behind the point.
    Rounded {
        /// Digits in all.
        precision: u32,
        /// Digits after the point.
        scale: u32,
        /// True for four bytes.
        is_short: bool,
    },
    /// Several values of one kind, as in `{1,2}`, `(1,2)` and `[1,2]`.
    Several(&'static Kind),
    /// None that dyno knows.
    Unknown,
}

impl Form {
    /// The requirement on a value, for people.
    pub fn wants(self) -> String {
        let zone = |has_zone| if has_zone { "" } else { " and no time zone" };
        match self {
            Form::Date => {
                "is no date alone of the form YYYY-MM-DD; where dates are written in another way, --types says so, as in \
                 column:DATE(DD.MM.YYYY)"
                    .into()
            }
            Form::Time { digits, has_zone } => {
                format!("is no time HH:MM:SS with at most {digits} digits behind the point{}, which the column keeps", zone(has_zone))
            }
            Form::Timestamp { digits, has_zone } => format!(
                "is no time YYYY-MM-DD HH:MM:SS with at most {digits} digits behind the point{}, which the column keeps",
                zone(has_zone)
            ),
            Form::Interval { digits } => {
                format!("is an interval with parts of what is no second, or with more than {digits} digits behind its point")
            }
            Form::Padded { length, .. } => {
                format!("is longer than {length} characters, or ends with spaces, which the column does not keep")
            }
            Form::Bytes { least, most } if least == most => format!("has not {least} bytes, to which the column would fill it"),
            Form::Bytes { most, .. } => format!("has more than {most} bytes"),
            Form::OneOf(words) => format!("is not one of {}", words.join(", ")),
            Form::SomeOf(words) => format!("is no list of some of {} in this order", words.join(", ")),
            Form::Rounded { precision, scale, .. } => {
                format!("is no number of {precision} digits, {scale} of them after the point, that the column holds without rounding")
            }
            Form::Several(kind) => format!("has a part that {}", kind.wants()),
            Form::Unknown => {
                "goes to a column of a type that changes values without a word: load it into a text, and convert it with SQL"
                    .into()
            }
        }
    }
}
