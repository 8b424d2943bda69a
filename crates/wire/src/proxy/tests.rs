//! The proxy before servers that echo, hold back and close.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Barrier;

use super::*;
use crate::inspect::{Passage, PeerRole};

/// A server of one kind of socket, each of whose connections is served by `serve`.
fn server(folder: &Path, serve: fn(UnixStream)) -> ServerPlace {
    let path = folder.join("server");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    ServerPlace::Socket(path)
}

fn echo(mut stream: UnixStream) {
    let mut buffer = [0; 1000];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        stream.write_all(&buffer[..count]).unwrap();
    }
}

fn client(proxy: &Proxy) -> UnixStream {
    let ServerPlace::Socket(path) = proxy.place() else { panic!("{:?}", proxy.place()) };
    UnixStream::connect(path).unwrap()
}

fn proxy(serve: fn(UnixStream), round_trip_ms: u64) -> (TempDir, Proxy) {
    let folder = tempfile::tempdir().unwrap();
    let place = server(folder.path(), serve);
    let proxy =
        Proxy::start(place, Duration::from_millis(round_trip_ms), None, folder.path(), "there").unwrap();
    (folder, proxy)
}

#[test]
fn each_round_trip_takes_the_added_time_and_no_bytes_change() {
    for added in [0, 30] {
        let (_folder, proxy) = proxy(echo, added);
        let mut stream = client(&proxy);
        // The first exchange has the set-up of the connection in it.
        for round in 0..4_u8 {
            let began = Instant::now();
            let sent: Vec<u8> = (0..100).map(|place| place ^ round).collect();
            stream.write_all(&sent).unwrap();
            let mut came = [0; 100];
            stream.read_exact(&mut came).unwrap();
            assert_eq!(came.as_slice(), sent);
            let least = if round == 0 { added * 2 } else { added };
            assert!(began.elapsed() >= Duration::from_millis(least), "{:?}", began.elapsed());
        }
    }
}

#[test]
fn more_bytes_than_are_kept_under_way_arrive_whole() {
    let (_folder, proxy) = proxy(echo, 2);
    let stream = client(&proxy);
    let sent: Vec<u8> = (0..40_000_000_u32).map(|place| (place % 251) as u8).collect();
    let mut reading = stream.try_clone().unwrap();
    let came = thread::spawn(move || {
        let mut came = Vec::new();
        reading.read_to_end(&mut came).unwrap();
        came
    });
    (&stream).write_all(&sent).unwrap();
    // The end of one direction is passed on, and the other direction stays open.
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(came.join().unwrap() == sent);
}

#[test]
fn three_hundred_connections_work_at_once() {
    let (_folder, proxy) = proxy(echo, 4);
    let together = Barrier::new(300);
    thread::scope(|scope| {
        for number in 0..300_u32 {
            let (proxy, together) = (&proxy, &together);
            scope.spawn(move || {
                let mut stream = client(proxy);
                together.wait();
                for round in 0..5_u32 {
                    let sent = (number * 1000 + round).to_le_bytes();
                    stream.write_all(&sent).unwrap();
                    let mut came = [0; 4];
                    stream.read_exact(&mut came).unwrap();
                    assert_eq!(came, sent);
                }
            });
        }
    });
}

#[test]
fn a_server_that_closes_closes_its_client_and_one_that_is_gone_refuses() {
    for added in [0, 10] {
        let (folder, proxy) = proxy(drop, added);
        let mut left = Vec::new();
        assert_eq!(client(&proxy).read_to_end(&mut left).unwrap(), 0);
        std::fs::remove_file(folder.path().join("server")).unwrap();
        let mut stream = client(&proxy);
        let ended = stream.read_to_end(&mut left);
        assert!(matches!(&ended, Ok(0) | Err(_)), "{ended:?}");
    }
}

#[test]
fn a_client_that_is_gone_ends_the_servers_connection() {
    // It writes until nothing reads it.
    fn speak(mut stream: UnixStream) {
        while stream.write_all(&[1; 1000]).is_ok() {}
    }
    for added in [0, 10] {
        let (_folder, proxy) = proxy(speak, added);
        let mut stream = client(&proxy);
        stream.read_exact(&mut [0; 5000]).unwrap();
        drop(stream);
        let deadline = Instant::now() + Duration::from_secs(60);
        let is_over = || {
            let connections = proxy.shared.connections.lock().unwrap();
            connections.iter().all(|connection| connection.threads.iter().all(JoinHandle::is_finished))
        };
        while !is_over() {
            assert!(Instant::now() < deadline, "the connection to the server is still there");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn nothing_is_left_of_a_proxy_and_its_clients_see_the_end() {
    let (folder, proxy) = proxy(echo, 10_000);
    let mut stream = client(&proxy);
    stream.write_all(b"never arrives").unwrap();
    let ServerPlace::Socket(path) = proxy.place().clone() else { panic!() };
    assert!(path.exists());
    let began = Instant::now();
    drop(proxy);
    assert!(began.elapsed() < Duration::from_secs(9), "it waited for the delay");
    assert!(!path.exists() && !path.parent().unwrap().exists());
    let ended = stream.read(&mut [0; 10]);
    assert!(matches!(&ended, Ok(0) | Err(_)), "{ended:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the server's socket is left");
}

#[test]
fn ports_are_passed_on_as_sockets_are() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"the server speaks first").unwrap();
    });
    let place = ServerPlace::Port("localhost".into(), port);
    let proxy = Proxy::start(place, Duration::from_millis(6), None, Path::new("/"), "unused").unwrap();
    let ServerPlace::Port(host, port) = proxy.place() else { panic!("{:?}", proxy.place()) };
    let began = Instant::now();
    let mut stream = TcpStream::connect((host.as_str(), *port)).unwrap();
    let mut came = String::new();
    stream.read_to_string(&mut came).unwrap();
    assert_eq!(came, "the server speaks first");
    assert!(began.elapsed() >= Duration::from_millis(12));
}

/// Holds every request for a minute.
#[derive(Debug)]
struct Stuck;

impl Inspector for Stuck {
    fn inspect(&self, _: u64, _: PeerRole, _: &[u8]) -> Passage {
        thread::sleep(Duration::from_secs(60));
        Passage::Pass
    }
}

#[test]
fn a_thread_that_is_stuck_is_not_waited_for_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let place = server(folder.path(), echo);
    let stuck: Arc<dyn Inspector> = Arc::new(Stuck);
    let mut proxy = Proxy::start(place, Duration::ZERO, Some(stuck), folder.path(), "there").unwrap();
    let mut stream = client(&proxy);
    stream.write_all(b"held").unwrap();
    // It is in the inspector's hands before the proxy ends.
    thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    assert_eq!(proxy.end(Duration::from_millis(200)), 1);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    // Nothing is left to wait for.
    drop(proxy);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
