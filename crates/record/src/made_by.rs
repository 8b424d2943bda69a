//! The maker of a run: a maker with an interest in a contender says so, and readers may weigh it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The word before the name of an engine.
const VENDOR: &str = "vendor:";

/// The maker of a run, as stated by the maker. dyno cannot check it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum MadeBy {
    /// A maintainer of dyno.
    Maintainer,
    /// Someone who writes or sells this engine or one of its drivers.
    Vendor(String),
    /// Someone else, without an interest in a contender.
    Other,
}

impl MadeBy {
    /// The maker, in words for a reader: `a vendor of postgres`.
    pub fn words(&self) -> String {
        match self {
            MadeBy::Maintainer => "a maintainer of dyno".into(),
            MadeBy::Vendor(engine) => format!("a vendor of {engine}"),
            MadeBy::Other => "neither a maintainer of dyno nor a vendor".into(),
        }
    }
}

impl fmt::Display for MadeBy {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            MadeBy::Maintainer => formatter.write_str("maintainer"),
            MadeBy::Vendor(engine) => write!(formatter, "{VENDOR}{engine}"),
            MadeBy::Other => formatter.write_str("other"),
        }
    }
}

impl FromStr for MadeBy {
    type Err = String;

    fn from_str(text: &str) -> Result<MadeBy, String> {
        match text {
            "maintainer" => Ok(MadeBy::Maintainer),
            "other" => Ok(MadeBy::Other),
            text => match text.strip_prefix(VENDOR).filter(|engine| !engine.is_empty()) {
                Some(engine) => Ok(MadeBy::Vendor(engine.to_owned())),
                None => Err("write maintainer, vendor:ENGINE as in vendor:postgres, or other".into()),
            },
        }
    }
}

impl From<MadeBy> for String {
    fn from(maker: MadeBy) -> String {
        maker.to_string()
    }
}

impl TryFrom<String> for MadeBy {
    type Error = String;

    fn try_from(text: String) -> Result<MadeBy, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_written_as_they_are_read() {
        for text in ["maintainer", "vendor:postgres", "other"] {
            assert_eq!(text.parse::<MadeBy>().unwrap().to_string(), text);
        }
        for text in ["", "vendor", "vendor:", "me"] {
            assert!(text.parse::<MadeBy>().unwrap_err().contains("vendor:ENGINE"), "{text}");
        }
    }
}
