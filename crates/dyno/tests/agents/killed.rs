//! dyno is killed at moments all over a run that agents on three hosts drive, from its start to its end.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use super::network::{HOSTS, Network};
use super::over_ssh::assert_gone;
use super::{SMALL, Served, bank, run};
use crate::common::{Place, kills, processes_with, wait_for};

#[test]
fn a_dyno_that_is_killed_at_any_moment_leaves_nothing_on_any_host() {
    let Some(network) = Network::with_ssh() else { return };
    let (served, place) = (Served::at(network.address()), Place::new());
    let arguments = format!("{SMALL} --clients 3 --only transfer --url {}", served.url);
    let began = Instant::now();
    run(&place, &network.launcher(), "a,b,c", &arguments).exits(0);
    let took = began.elapsed();
    let kills = kills(4);
    for number in 0..kills {
        let mut dyno = bank(&place, &network.launcher(), "a,b,c", &arguments);
        let mut dyno = dyno.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(took * number / kills);
        dyno.kill().unwrap();
        dyno.wait().unwrap();
        assert_gone(&network, &HOSTS);
        // The launchers on this machine name a file of the network's folder, and runners one of the place's.
        wait_for("what dyno has started here to end", 60, || {
            let launchers = processes_with(&network.path("ssh_config").display().to_string());
            launchers.is_empty() && processes_with(&place.data().display().to_string()).is_empty()
        });
    }
    // The next run removes the folders of those that were killed. A database that was theirs stays on the server, where
    // nothing is left that could remove it.
    run(&place, &network.launcher(), "a,b,c", &arguments).exits(0);
    assert_gone(&network, &HOSTS);
    place.assert_clean();
}
