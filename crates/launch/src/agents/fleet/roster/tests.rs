//! Agents that are silent, and those that end with them.

use std::sync::Arc;
use std::sync::mpsc::channel;

use super::*;

/// Agents by the scripts of their launchers, heard last as long ago.
fn roster(scripts: &[&str], ago: Duration) -> (Arc<Roster>, Inbox) {
    let inbox = Inbox::of_launchers();
    let start = |(number, script): (usize, &&str)| {
        Process::launch(&["sh", "-c", script].map(str::to_owned), (&inbox, number)).unwrap()
    };
    let launchers: Vec<Process> = scripts.iter().enumerate().map(start).collect();
    let seat = |launcher: usize| Seat {
        name: format!("agent-{launcher}"),
        host: format!("host-{launcher}"),
        launcher,
        heard: Instant::now().checked_sub(ago).unwrap(),
        files: BTreeSet::new(),
        route: None,
        lost: None,
    };
    let seats = (0..scripts.len()).map(seat).collect();
    (Arc::new(Roster::new(seats, launchers)), inbox)
}

/// A line of the second agent, with a number as the shell writes it between apostrophes.
fn beat(number: &str) -> String {
    format!(r#"{{"agent":"agent-1","number":{number},"report":"beat"}}"#)
}

/// The agents that are lost when dyno has listened for a while.
fn lost(scripts: &[&str], ago: Duration, listens: Duration) -> Vec<bool> {
    let (roster, inbox) = roster(scripts, ago);
    thread::scope(|scope| {
        let listening = Arc::clone(&roster);
        scope.spawn(move || listening.listen(&inbox, ReportReader::default()));
        thread::sleep(listens);
        let lost = roster.lock().seats.iter().map(|seat| seat.lost.is_some()).collect();
        roster.close();
        lost
    })
}

#[test]
fn an_agent_whose_lines_wait_while_another_ends_is_not_silent() {
    // Its output is over for two seconds before it is. Meanwhile the other's beat is behind much else.
    let ends = "exec >&-; sleep 2";
    let beats = format!(
        "sleep 0.5; i=0; while [ $i -lt 500 ]; do echo other $i; i=$((i+1)); done; echo '{}'; exec sleep 60",
        beat("0")
    );
    let ago = SILENCE - Duration::from_secs(1);
    assert_eq!(lost(&[ends, &beats], ago, Duration::from_secs(4)), [true, false]);
}

#[test]
fn an_agent_that_is_silent_is_lost_while_others_talk() {
    let talks = format!("i=0; while echo '{}'; do i=$((i+1)); sleep 0.05; done", beat("'$i'"));
    let ago = SILENCE - Duration::from_secs(1);
    assert_eq!(lost(&["exec sleep 60", &talks], ago, Duration::from_secs(3)), [true, false]);
}

#[test]
fn agents_of_one_launcher_are_lost_with_the_first_of_them_and_for_its_reason() {
    let inbox = Inbox::of_launchers();
    let launcher = Process::launch(&["sleep", "60"].map(str::to_owned), (&inbox, 0)).unwrap();
    let seat = |host: &str| Seat {
        name: host.to_owned(),
        host: host.to_owned(),
        launcher: 0,
        heard: Instant::now(),
        files: BTreeSet::new(),
        route: None,
        lost: None,
    };
    let roster = Roster::new(["a", "b", "c"].map(seat).into(), vec![launcher]);
    let ((forward, messages), (end, _ends)) = (channel(), channel());
    roster.lock().seats[2].route = Some(Route { trial: 1, forward, end });
    roster.lose(|seat| (seat.host == "b").then(|| silent(seat)));
    let why = silent(&roster.lock().seats[1]);
    assert!(roster.lock().seats.iter().all(|seat| seat.lost.as_deref() == Some(why.as_str())));
    assert!(matches!(messages.recv(), Ok(Message::Lost(said)) if said == why));
    roster.close();
}

#[test]
fn the_launcher_of_a_lost_agent_may_end_what_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let ended = folder.path().join("ended");
    // It does not read its input, as an ssh whose network is cut.
    let tidies =
        format!("trap 'sleep 0.1; echo >{}; exit' TERM; while :; do sleep 0.05; done", ended.display());
    assert_eq!(lost(&[&tidies], SILENCE, Duration::from_secs(3)), [true]);
    assert!(ended.exists());
    let began = Instant::now();
    let deaf = "trap '' TERM; while :; do sleep 0.05; done";
    assert_eq!(lost(&[deaf], SILENCE, Duration::from_secs(3)), [true]);
    assert!(began.elapsed() < END_TIMEOUT, "{:?}", began.elapsed());
}
