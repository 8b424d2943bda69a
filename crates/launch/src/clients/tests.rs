//! The clients and the steps of each process, and what exchanges say of its clock.

use std::fs;

use dyno_protocol::{Build, STEP_HEAD};

use super::*;

fn job(folder: &Path, clients: u32, session: Option<u32>, steps: u64) -> Job {
    let file = folder.join("1.steps");
    let step = |place: u64| [place.to_le_bytes(), [0; 8]].concat();
    fs::write(&file, (0..steps).flat_map(step).collect::<Vec<_>>()).unwrap();
    let part = Some(ClientPart { before: 0, of: clients });
    let steps = vec![StepFile { file, count: steps }];
    let mix = MixWork { clients, session, part, steps, ..MixWork::default() };
    let test = Test { id: "1".into(), setup: vec!["CREATE".into()], work: Work::Mix(mix), check: None };
    Job { tests: vec![test], ..Job::new("null", "rust", Build::Bundled, folder.to_owned()) }
}

/// The numbers of the steps of a job's mix, and its part.
fn dealt(job: &Job) -> (Vec<u64>, ClientPart) {
    let (numbers, part, clients) = dealt_to_several(job);
    assert_eq!(clients, 1);
    (numbers, part)
}

/// The same of several clients, and their number.
fn dealt_to_several(job: &Job) -> (Vec<u64>, ClientPart, u32) {
    let Work::Mix(mix) = &job.tests[0].work else { panic!("no mix") };
    let bytes = fs::read(&mix.steps[0].file).unwrap();
    let all = bytes.chunks(STEP_HEAD as usize);
    let numbers: Vec<u64> = all.map(|step| u64::from_le_bytes(step[..8].try_into().unwrap())).collect();
    assert_eq!(numbers.len() as u64, mix.steps[0].count);
    (numbers, mix.part.unwrap(), mix.clients)
}

#[test]
fn steps_that_clients_share_are_dealt_out() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DividedJob::of(&job(folder.path(), 3, None, 8), None).unwrap();
    assert_eq!(dealt(&parts.first()), (vec![0, 3, 6], ClientPart { before: 0, of: 3 }));
    let others = parts.others(0);
    let all: Vec<_> = others.iter().map(|(_, job)| dealt(job)).collect();
    assert_eq!(all[1], (vec![2, 5], ClientPart { before: 2, of: 3 }));
    assert!(all.len() == 2 && others.iter().all(|(_, job)| job.joins() && job.tests[0].setup.is_empty()));
    drop(parts);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_steps_of_a_session_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DividedJob::of(&job(folder.path(), 2, Some(3), 11), None).unwrap();
    assert_eq!(dealt(&parts.first()).0, [0, 1, 2, 6, 7, 8]);
    assert_eq!(dealt(&parts.others(0)[0].1).0, [3, 4, 5, 9, 10]);
}

#[test]
fn a_client_without_steps_has_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DividedJob::of(&job(folder.path(), 4, None, 2), None).unwrap();
    assert_eq!(parts.others(0).len(), 1);
}

#[test]
fn an_agent_has_its_share_of_the_clients_and_of_the_steps() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), 5, None, 8);
    let parts = DividedJob::of(&job, Some(2)).unwrap();
    // Of each five arrivals, three are for the agent that has three of the five clients.
    let first = (vec![0, 2, 4, 5, 7], ClientPart { before: 0, of: 5 }, 3);
    assert_eq!(dealt_to_several(&parts.first()), first);
    let others = parts.others(0);
    assert_eq!(dealt_to_several(&others[0].1), (vec![1, 3, 6], ClientPart { before: 3, of: 5 }, 2));
    assert_eq!((others.len(), others[0].0), (1, 1));
}

#[test]
fn agents_with_as_many_clients_each_have_arrivals_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DividedJob::of(&job(folder.path(), 4, None, 8), Some(2)).unwrap();
    assert_eq!(dealt_to_several(&parts.first()).0, [0, 2, 4, 6]);
    assert_eq!(dealt_to_several(&parts.others(0)[0].1).0, [1, 3, 5, 7]);
}

#[test]
fn no_client_has_more_arrivals_than_another() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DividedJob::of(&job(folder.path(), 8, None, 8_000), Some(3)).unwrap();
    let others = parts.others(0);
    for job in [&parts.first(), &others[0].1, &others[1].1] {
        let (steps, _, clients) = dealt_to_several(job);
        assert!(steps.len() == 1_000 * clients as usize && steps.is_sorted(), "{clients}");
    }
}

#[test]
fn an_agent_without_a_client_takes_no_part() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DividedJob::of(&job(folder.path(), 4, None, 8), Some(6)).unwrap();
    let ranks: Vec<usize> = parts.others(0).iter().map(|(rank, _)| *rank).collect();
    assert_eq!((ranks, dealt(&parts.first()).0), (vec![1, 2, 3], vec![0, 4]));
}

#[test]
fn the_quickest_exchange_gives_the_offset() {
    let exchange = |asked_ns, heard_ns, read_ns| ClockExchange { asked_ns, heard_ns, read_ns };
    // The clock there is 1,000 behind.
    let exchanges =
        [exchange(5_000, 9_000, 7_900), exchange(9_000, 9_200, 8_110), exchange(9_500, 9_900, 8_501)];
    let offset = ClockOffset::of(&exchanges);
    assert_eq!((offset.there(20_000), offset.here(19_010), offset.error_ns), (19_010, 20_000, 100));
    assert_eq!(ClockOffset::of(&[]).there(7), 7);
}
