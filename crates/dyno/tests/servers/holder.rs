//! A separate process that starts a server and holds it: this program again.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use dyno_lab::placement;
use dyno_lab::scratch::Scratch;
use dyno_lab::server::PrivateServer;
use dyno_protocol::{Build, Setting};

use super::{Choice, build};
use crate::common::installation;

/// A process that starts a server and holds it.
pub struct Holder {
    pub child: Child,
    output: BufReader<ChildStdout>,
}

/// A holder's report of its server.
#[derive(Debug)]
pub struct Held {
    pub process: u32,
    pub socket: PathBuf,
    pub took: Duration,
}

impl Holder {
    /// One that starts a server with a setting, or none, under an account, or its own.
    pub fn start(choice: Choice, place: &Path, cache: &Path, setting: &str, account: Option<u32>) -> Holder {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "servers::holder::holds_a_server",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
        command
            .env("HELD_ENGINE", choice.0)
            .env("HELD_BUILD", serde_json::to_string(&build(choice)).unwrap());
        command.env("HELD_PLACE", place).env("HELD_SETTING", setting);
        command.env("XDG_CACHE_HOME", cache).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(account) = account {
            command.uid(account).gid(account);
        }
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Holder { child, output }
    }

    /// The next word of the holder's, or why there is no server.
    pub fn next(&mut self) -> Result<Held, String> {
        for line in self.output.by_ref().lines() {
            let line = line.unwrap();
            if let Some(rest) = line.strip_prefix("held: ") {
                let parts: Vec<&str> = rest.split('|').collect();
                let took = Duration::from_secs_f64(parts[2].parse().unwrap());
                return Ok(Held { process: parts[0].parse().unwrap(), socket: parts[1].into(), took });
            }
            if let Some(rest) = line.strip_prefix("refused: ") {
                return Err(rest.replace('\u{1}', "\n"));
            }
        }
        panic!("the holder ended and reported nothing");
    }

    /// Lets go of the server and waits.
    pub fn release(mut self) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Not a test: the holder's own part.
#[test]
#[ignore = "started by the tests"]
fn holds_a_server() {
    let Ok(engine) = std::env::var("HELD_ENGINE") else { return };
    let place = PathBuf::from(std::env::var_os("HELD_PLACE").unwrap());
    let setting = std::env::var("HELD_SETTING").unwrap();
    let settings: Vec<Setting> = setting
        .split_once('=')
        .map(|(name, value)| Setting { name: name.into(), value: value.into() })
        .into_iter()
        .collect();
    let scratch = Scratch::create(&place).unwrap();
    let trial = scratch.trial().unwrap();
    let placement = placement::choose(None, None).unwrap();
    let build: Build = serde_json::from_str(&std::env::var("HELD_BUILD").unwrap()).unwrap();
    let installation = installation(&engine, &build).unwrap();
    let began = Instant::now();
    // The trial's parent is the run's folder.
    let run = trial.path().parent().unwrap();
    match PrivateServer::start(&installation, &settings, run, &placement) {
        Ok(server) => {
            let connection = server.connection("dyno_scratch_test").server;
            let mut socket = PathBuf::from(connection.host);
            if let Some(port) = connection.port {
                socket.push(format!(".s.PGSQL.{port}"));
            }
            let took = began.elapsed().as_secs_f64();
            println!("\nheld: {}|{}|{took}", server.process(), socket.display());
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        Err(error) => println!("\nrefused: {}", format!("{error:#}").replace('\n', "\u{1}")),
    }
}
