//! Values of the command line: durations, sizes, shares. Error messages quote the value that is wrong.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};
use dyno_record::{Sharing, Target};

/// The way in which runner and private server share the CPUs, as `--placement` names it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SharingArg {
    /// Both on the measured CPUs: waking the other needs no other core, and every contender has the
    /// same processors, with a server or without.
    SameCore,
    /// The server on the measured CPUs, its client on dyno's.
    Split,
    /// Both wherever the kernel puts them.
    Free,
}

impl From<SharingArg> for Sharing {
    fn from(argument: SharingArg) -> Sharing {
        match argument {
            SharingArg::SameCore => Sharing::SameCore,
            SharingArg::Split => Sharing::Split,
            SharingArg::Free => Sharing::Free,
        }
    }
}

/// Reads `90s`, `10m`, `1h 30m`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let spelled = if text.parse::<f64>().is_ok() { format!("{text}s") } else { text.to_owned() };
    let parsed: jiff::SignedDuration =
        spelled.parse().map_err(|_| "write a duration like 90s, 10m or 2h".to_owned())?;
    Duration::try_from(parsed)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "a duration must be longer than nothing".to_owned())
}

/// Reads `0`, `0.2ms`, `40ms`: what is added to a round trip.
pub fn delay(text: &str) -> Result<Duration, String> {
    dyno_engine::delay(text).map_err(|error| error.to_string())
}

/// Reads `5s`, `1m`: whole seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let whole = duration(text)?;
    match whole.subsec_nanos() {
        0 => Ok(whole),
        _ => {
            Err("write whole seconds, like 5s: that is how often clients say what they have done".to_owned())
        }
    }
}

/// Reads `64MiB`, `1GiB`, `4096`: bytes, in powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    dyno_suite::parse_size(text)
}

/// Reads the name of a folder that is there.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match fs::metadata(&path) {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err("it is no folder".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err("there is no such folder".to_owned()),
        Err(error) => Err(format!("it cannot be looked at: {error}")),
    })
}

/// The caches of a run's contenders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caches {
    /// Each engine's own default.
    Default,
    /// Of this size in bytes, each.
    Bytes(u64),
}

/// Reads the size of caches, or `default`.
pub fn caches(text: &str) -> Result<Caches, String> {
    match text {
        "default" => Ok(Caches::Default),
        text => size(text).map(Caches::Bytes).map_err(|error| format!("{error}, or `default`")),
    }
}

/// Reads `5%`, `5` or `0.05`, which are the same: a number from 1 on is per cent, one below 1 is a share.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, is_percent) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => {
            Ok(if is_percent || number >= 1.0 { number / 100.0 } else { number })
        }
        _ => Err("write a share like 5%, which is also 5 or 0.05".to_owned()),
    }
}

/// Reads `p99<=10ms`: how many percent of the operations must be done within how long.
pub fn target(text: &str) -> Result<Target, String> {
    let wrong = || "write what must hold as p99<=10ms: 99 % of operations are done within 10 ms".to_owned();
    let plain: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (percentile, within) = plain.split_once("<=").or_else(|| plain.split_once('≤')).ok_or_else(wrong)?;
    let percent = percentile.strip_prefix(['p', 'P']).and_then(|number| number.parse::<f64>().ok());
    let percent = percent.ok_or_else(wrong)?;
    if !(50.0..=99.99).contains(&percent) {
        return Err("the percentile is from p50 to p99.99".to_owned());
    }
    // A number alone would be seconds, which people rarely mean here.
    if within.ends_with(|letter: char| letter.is_ascii_digit()) {
        return Err(format!("{within} has no unit: write {within}ms or {within}s"));
    }
    let within = duration(within).map_err(|_| wrong())?;
    // Rounded, so that 99.9 % is the number that people would write.
    let share = (percent * 1e6).round() / 1e8;
    Ok(Target { share, within_ns: within.as_nanos() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        let read = |text| target(text).map(|target| (target.share, target.within_ns));
        assert_eq!(read("p99<=10ms"), Ok((0.99, 10_000_000)));
        assert_eq!(read("p99.9 ≤ 1.5 s"), Ok((0.999, 1_500_000_000)));
        assert_eq!(read("p50<=500us"), Ok((0.5, 500_000)));
        let said = |text| read(text).unwrap_err();
        assert!(said("p99<10ms").contains("as p99<=10ms") && said("fast").contains("as p99<=10ms"));
        assert!(said("p99<=soon").contains("as p99<=10ms") && said("99<=10ms").contains("as p99<=10ms"));
        assert!(said("p100<=10ms").contains("p50 to p99.99") && said("p10<=10ms").contains("p50 to p99.99"));
        assert!(said("p99<=10").contains("write 10ms or 10s"));
    }

    #[test]
    fn durations_and_shares_are_read() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert!(duration("soon").is_err());
        assert!(duration("0s").is_err());
        assert!(duration("-5s").is_err());
        assert_eq!(seconds("5s"), Ok(Duration::from_secs(5)));
        assert!(seconds("0.5").is_err() && seconds("0s").is_err());
        assert_eq!((size("64MiB"), size("1G"), size("4096")), (Ok(64 << 20), Ok(1 << 30), Ok(4096)));
        assert!(size("big").is_err() && size("0").is_err() && size("99999999999GiB").is_err());
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(
            (share("5"), share("0.05"), share("1"), share("150%")),
            (Ok(0.05), Ok(0.05), Ok(0.01), Ok(1.5))
        );
        assert!(share("-1%").is_err());
        assert!(share("five").is_err());
    }
}
