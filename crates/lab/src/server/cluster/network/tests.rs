//! Datagrams between two nodes: how long they are under way, and which faults stop them.

use std::io::{ErrorKind, Read, Write};
use std::iter;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use dyno_record::Reach;

use super::super::tap::MAKER;
use super::*;

const PORT: u16 = 4567;

/// A network of two nodes, if this user and this kernel can make it.
fn network(node_delay_ns: Option<u64>) -> Option<ClusterNetwork> {
    if node_delay_ns.is_some() && !Path::new(MAKER).exists() {
        eprintln!("not run: there is no {MAKER} here");
        return None;
    }
    let made = ClusterNetwork::new(ClusterShape { nodes: 2, reach: Reach::First, node_delay_ns }, true);
    match made {
        Ok(network) => Some(network),
        Err(error) if Uid::effective().is_root() => panic!("{error:#}"),
        Err(error) => {
            eprintln!("not run: {error:#}");
            None
        }
    }
}

/// A socket in the namespace of each node; each sends to the other.
fn sockets(network: &ClusterNetwork) -> [UdpSocket; 2] {
    [0, 1].map(|node| {
        let make = move || {
            let socket = UdpSocket::bind((ClusterNetwork::address(node), PORT)).unwrap();
            socket.connect((ClusterNetwork::address(1 - node), PORT)).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            socket
        };
        network.node(node).within(make).unwrap()
    })
}

/// The time of a datagram to the other node and of its answer; `None` if one of them does not arrive. Datagrams have
/// numbers: the kernel may send an earlier one late.
fn round_trip([here, there]: &[UdpSocket; 2], number: u32) -> Option<Duration> {
    let begin = Instant::now();
    let arrives = |from: &UdpSocket, to: &UdpSocket| {
        // A link that is down refuses it at once.
        let is_sent = from.send(&number.to_be_bytes()).is_ok();
        is_sent
            && iter::repeat_with(|| received(to))
                .find(|got| got.is_none_or(|got| got == number))
                .flatten()
                .is_some()
    };
    (arrives(here, there) && arrives(there, here)).then(|| begin.elapsed())
}

/// The number of the next datagram; `None` if none arrives in time.
fn received(socket: &UdpSocket) -> Option<u32> {
    let mut number = [0; 4];
    match socket.recv(&mut number) {
        Ok(_) => Some(u32::from_be_bytes(number)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(error) => panic!("{error}"),
    }
}

/// True once a datagram passes: a node that was cut off asks anew for the other's address, in steps of a second.
fn passes(sockets: &[UdpSocket; 2], numbers: Range<u32>) -> bool {
    numbers.into_iter().any(|number| round_trip(sockets, number).is_some())
}

/// The words of `ip` on the end of a node's cable.
fn link(network: &ClusterNetwork, node: usize) -> String {
    let mut command = Command::new("ip");
    command.args(["link", "show", NODE_END]);
    network.node(node).enter(&mut command);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Checks that the faults of a network stop what is sent, and that it passes again once they end.
fn check_faults(network: &ClusterNetwork) {
    let sockets = sockets(network);
    assert!(passes(&sockets, 0..10));
    network.cut_off(0).unwrap();
    assert!(link(network, 0).contains("LOWER_UP"), "a partition is not seen");
    assert_eq!(round_trip(&sockets, 10), None);
    network.repair(0).unwrap();
    assert!(passes(&sockets, 11..20));
    network.pull_cable(0).unwrap();
    assert!(link(network, 0).contains("NO-CARRIER"), "a cable that is out is seen: {}", link(network, 0));
    assert_eq!(round_trip(&sockets, 20), None);
    network.repair(0).unwrap();
    assert!(passes(&sockets, 21..30));
}

#[test]
fn a_url_is_advised_only_where_there_are_urls() {
    assert!(without_root(true).ends_with("at the address of one of its nodes (--url)"));
    assert!(without_root(false).ends_with("run dyno as root"));
}

#[test]
fn faults_stop_frames_on_both_kinds_of_cables() {
    for delay in [None, Some(0), Some(20_000_000)] {
        let Some(network) = network(delay) else { return };
        check_faults(&network);
    }
}

#[test]
fn a_round_trip_between_nodes_takes_at_least_the_delay() {
    let delay = Duration::from_millis(20);
    let Some(network) = network(Some(delay.as_nanos() as u64)) else { return };
    let sockets = sockets(&network);
    assert!(passes(&sockets, 0..10));
    for number in 10..15 {
        let taken = round_trip(&sockets, number).unwrap();
        assert!(taken >= delay, "{taken:?}");
    }
}

#[test]
fn a_stream_passes_whole() {
    let Some(network) = network(Some(1_000_000)) else { return };
    let sent: Vec<u8> = (0..20_u32 << 20).map(|place| (place / 7) as u8).collect();
    let address = (ClusterNetwork::address(0), PORT);
    let listener = network.node(0).within({
        let address = address.clone();
        move || TcpListener::bind(address).unwrap()
    });
    let listener = listener.unwrap();
    let sending = network.node(1).within(move || TcpStream::connect(address).unwrap()).unwrap();
    let mut received = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sending = sending;
            sending.write_all(&sent).unwrap();
        });
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
    });
    assert!(received == sent, "{} of {} bytes arrived", received.len(), sent.len());
}

#[test]
fn a_node_is_reached_within_its_network_whatever_its_cable_does() {
    let Some(network) = network(None) else { return };
    let address = SocketAddr::new(ClusterNetwork::address(0).parse().unwrap(), PORT);
    let listener = network.node(0).within(move || TcpListener::bind(address).unwrap()).unwrap();
    // Frames may be lost while a switch is new, and the kernel asks again after a second.
    let (patient, brief) = (Duration::from_secs(20), Duration::from_millis(200));
    let reach = |node: usize, limit: Duration| {
        dyno_wire::connect_within(Path::new(&network.node(node).path()), address, limit)
    };
    reach(1, patient).unwrap();
    network.cut_off(0).unwrap();
    assert!(reach(1, brief).is_err());
    network.pull_cable(0).unwrap();
    reach(0, patient).unwrap().write_all(b"x").unwrap();
    // The first connection is the one that the other node made.
    let mut got = Vec::new();
    let (_, mut second) = (listener.accept().unwrap(), listener.accept().unwrap().0);
    second.read_to_end(&mut got).unwrap();
    assert_eq!(got, b"x");
}
