//! The metronome: a fixed piece of work, by which a record knows how fast the machine was at the time.
//!
//! It is integer work and reads of memory in no order, about two milliseconds of it, done by a thread on the CPUs of the
//! runners while none of them works. It says nothing about a contender, so it can be asked about all of them alike.

use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use dyno_launch::placed;
use dyno_record::Placement;
use nix::time::{ClockId, clock_gettime};

/// The count of numbers that the work draws.
const DRAWS: u64 = 800_000;
/// The size of the memory that it reads, in words of 4 bytes: more than the first caches of a core hold.
const WORDS: usize = 1 << 20;
/// The number of words that it reads, each at a place that the one before decides: few enough that the caches keep most
/// of what the next runner has in them.
const READS: usize = 4_000;

/// Processor time that metronomes have taken, in nanoseconds.
static SPENT: AtomicI64 = AtomicI64::new(0);

/// A thread that beats when asked.
#[derive(Debug)]
pub struct Metronome {
    ask: Sender<()>,
    beats: Receiver<f64>,
}

impl Metronome {
    /// One on the CPUs where runners of this placement are.
    pub fn new(placement: &Placement) -> Metronome {
        let (ask, asked) = channel();
        let (notify, beats) = channel();
        let placement = placement.clone();
        thread::spawn(move || {
            // Without access to these CPUs, the beats would mean nothing.
            if placed::enter_thread(&placement).is_err() {
                return;
            }
            let words = words();
            for () in asked {
                let spent = processor_time();
                let began = Instant::now();
                black_box(work(&words));
                let beat = began.elapsed().as_nanos() as f64;
                SPENT.fetch_add(processor_time() - spent, Ordering::Relaxed);
                if notify.send(beat).is_err() {
                    return;
                }
            }
        });
        Metronome { ask, beats }
    }

    /// Does the work, and returns its duration in nanoseconds; none if it cannot run on those CPUs.
    pub fn beat(&mut self) -> Option<f64> {
        self.ask.send(()).ok()?;
        self.beats.recv().ok()
    }
}

/// The processor time that all metronomes of this process have taken, in nanoseconds.
pub fn spent() -> i64 {
    SPENT.load(Ordering::Relaxed)
}

/// A cycle through all words, in no order: each is the place of the next.
fn words() -> Vec<u32> {
    let mut words: Vec<u32> = (0..WORDS as u32).collect();
    let mut state = 1;
    // Sattolo's shuffle makes one cycle of all.
    for place in (1..WORDS).rev() {
        words.swap(place, (draw(&mut state) % place as u64) as usize);
    }
    words
}

fn work(words: &[u32]) -> u64 {
    let mut state = 1;
    let mut sum = 0u64;
    for _ in 0..DRAWS {
        sum = sum.wrapping_add(draw(&mut state));
    }
    let mut place = 0;
    for _ in 0..READS {
        place = words[place as usize];
    }
    sum ^ u64::from(place)
}

/// Marsaglia's xorshift: three shifts that wait for each other.
fn draw(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The calling thread's processor time, in nanoseconds.
fn processor_time() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement;

    #[test]
    fn the_words_are_one_cycle() {
        let words = words();
        let (mut place, mut steps) = (0, 0);
        loop {
            place = words[place as usize];
            steps += 1;
            if place == 0 {
                break;
            }
        }
        assert_eq!(steps, WORDS);
    }

    #[test]
    fn a_beat_takes_time_and_is_counted() {
        let placement = placement::choose(None, None).unwrap();
        let mut metronome = Metronome::new(&placement);
        let before = spent();
        assert!(metronome.beat().unwrap() > 0.0);
        assert!(spent() > before);
    }
}
