//! A timetable of buses as transit agencies publish them, made from a seed: for each route its branches, for each
//! branch and kind of day its vehicles, for each vehicle its stops in order, with times that go on past midnight.
//!
//! A shorter file is the beginning of a longer one.

use std::io::{self, Write};

use rand::Rng;

/// The largest number of a stop.
const STOPS: u64 = 14_999;
/// Kinds of days: weekday, Saturday, Sunday.
const DAYS: u64 = 3;

/// Writes `count` records.
pub fn write(count: u64, delimiter: char, rng: &mut impl Rng, out: &mut impl Write) -> io::Result<()> {
    let mut left = count;
    let mut route = 100;
    while left > 0 {
        route += 1;
        let version = 1000 + below(rng, 400);
        for branch in 0..1 + below(rng, 4) {
            let letter = char::from(b'A' + branch as u8);
            let stops: Vec<u64> = (0..20 + below(rng, 70)).map(|_| 1 + below(rng, STOPS)).collect();
            for day in 1..=DAYS {
                for vehicle in 1..=8 + below(rng, 10) {
                    let mut minute = 270 + below(rng, 1200);
                    for stop in &stops {
                        if left == 0 {
                            return Ok(());
                        }
                        left -= 1;
                        let time = format_args!("{:02}:{:02}:00", minute / 60, minute % 60);
                        let d = delimiter;
                        writeln!(
                            out,
                            "{route}{d}{route}{letter}{d}{version}{d}{stop}{d}{vehicle}{d}{day}{d}{time}"
                        )?;
                        minute += 1 + below(rng, 3);
                    }
                }
            }
        }
    }
    Ok(())
}

fn below(rng: &mut impl Rng, limit: u64) -> u64 {
    rng.next_u64() % limit
}
