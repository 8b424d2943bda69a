//! Clients that share threads.

use dyno_protocol::Pause;

use super::wire::Wire;
use super::*;

/// Runs a mix on a server behind sockets, of whose clients `meeting` meet.
fn wired(mix: &MixWork, threads: Option<u32>, meeting: usize) -> anyhow::Result<Sample> {
    let mix = MixWork { threads, ..mix.clone() };
    done_by(&mix, Wire::new(meeting))
}

#[test]
fn clients_of_one_thread_are_at_work_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // Each is answered only once all have asked.
    let steps = [(0, 0), (0, 1), (0, 0)];
    let mix = mix(folder.path(), &[("meet", Some(Purpose::Write)), ("get ", None)], 10, &[&steps[..]; 10]);
    for (threads, expected) in [(1, 1), (3, 3), (10, 10), (20, 10)] {
        let sample = wired(&mix, Some(threads), 10).unwrap();
        assert_eq!((counts(&sample), sample.threads), (vec![(20, 0, 0), (10, 0, 0)], expected));
    }
    let cpus = std::thread::available_parallelism().unwrap().get().min(10);
    assert_eq!(wired(&mix, None, 10).unwrap().threads, cpus as u64);
}

#[test]
fn a_driver_that_blocks_has_a_thread_for_each_client() {
    let folder = tempfile::tempdir().unwrap();
    let mix = mix(folder.path(), &[("get ", None)], 3, &[&[(0, 0)][..]; 3]);
    assert_eq!(done(&mix).0.unwrap().threads, 3);
    let said = done(&MixWork { threads: Some(2), ..mix }).0.unwrap_err().to_string();
    assert!(said.contains("leave client_threads out"), "{said}");
}

#[test]
fn what_is_due_is_done_in_time_by_clients_of_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    // The answers take longer than the steps are apart.
    let steps: Vec<(u64, u64)> = (1..=200).map(|place| (place * 1_000_000, place % 2)).collect();
    let mix = mix(folder.path(), &[("sleep", None), ("get ", None)], 16, &[&steps]);
    let sample = wired(&mix, Some(1), 1).unwrap();
    assert_eq!(counts(&sample), [(100, 0, 0), (100, 0, 0)]);
    // A step that was sent before it was due would have no lateness, which is a difference of unsigned numbers.
    for class in &sample.classes {
        assert_eq!(class.late.histogram().unwrap().unwrap().len(), 100);
    }
    assert!(sample.section.nanoseconds >= 200_000_000);
}

#[test]
fn clients_of_one_thread_pause_and_think_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut mix = mix(folder.path(), &[("meet", Some(Purpose::Write))], 8, &[&[(0, 0); 2][..]; 8]);
    mix.classes[0].pauses = vec![Pause { before: 0, nanoseconds: 2_000_000 }];
    // Its own place, 0 or 1 ns.
    mix.think = Some(0);
    assert_eq!(counts(&wired(&mix, Some(1), 8).unwrap()), [(16, 0, 0)]);
}

#[test]
fn a_lost_connection_ends_the_mix_and_names_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let get: Vec<(u64, u64)> = vec![(0, 1); 50];
    let lost = [(0, 1), (0, 0)];
    let mix = mix(folder.path(), &[("hang up", None), ("get ", None)], 3, &[&get, &lost, &get]);
    let said = format!("{:#}", wired(&mix, Some(1), 1).unwrap_err());
    assert_eq!(said, "client 2: class hang: the server is gone");
}

#[test]
fn a_panic_ends_the_clients_of_its_thread_and_no_other_waits_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let steps: Vec<&[(u64, u64)]> = vec![&[(0, 1); 2], &[(0, 0)], &[(0, 1); 2], &[(0, 1); 2]];
    let mix = mix(folder.path(), &[("panic", None), ("sleep", None)], 4, &steps);
    let said = wired(&mix, Some(2), 1).unwrap_err().to_string();
    assert!(said.contains("a client panicked"), "{said}");
}

#[test]
fn the_time_ends_while_all_clients_wait() {
    let folder = tempfile::tempdir().unwrap();
    let mix = lasting(mix(folder.path(), &[("hang", None), ("get ", None)], 4, &[&[(0, 1), (0, 0)][..]; 4]));
    let sample = wired(&mix, Some(1), 1).unwrap();
    assert_eq!(counts(&sample), [(0, 0, 0), (4, 0, 0)]);
    let unfinished = sample.classes[0].unfinished.histogram().unwrap().unwrap();
    assert_eq!(unfinished.len(), 4);
}
