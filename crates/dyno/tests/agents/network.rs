//! Three hosts in network namespaces, joined by a bridge, each with an OpenSSH server or another that starts agents.
//! Nothing of this machine's own network is touched: the bridge has other addresses, and all goes with the test.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use tempfile::TempDir;

use crate::common::wait_for;

/// The hosts by name; each has an address that ends with its place and one.
pub const HOSTS: [&str; 3] = ["a", "b", "c"];

/// The hosts and the bridge between them.
pub struct Network {
    /// Distinguishes the names in the kernel.
    mark: String,
    net: u8,
    servers: Vec<Child>,
    folder: TempDir,
}

/// Runs a program to its end; true if that was with success.
pub fn succeeds(words: &str) -> bool {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn must(words: &str) {
    assert!(succeeds(words), "{words}");
}

impl Network {
    /// Hosts with OpenSSH; none, with the reason on standard error, where this user or this kernel cannot.
    pub fn with_ssh() -> Option<Network> {
        let mut network = Network::of_hosts()?;
        network.serve();
        Some(network)
    }

    /// Hosts without a server; none, with the reason on standard error, where this user or this kernel cannot.
    pub fn of_hosts() -> Option<Network> {
        if !Uid::effective().is_root() {
            eprintln!("not run: network namespaces need root");
            return None;
        }
        let mark = format!("{:x}", std::process::id() as u64 * 64 + fastrand::u64(..64));
        if !succeeds(&format!("ip netns add dyno-{mark}-a")) {
            eprintln!("not run: this kernel or container makes no network namespaces");
            return None;
        }
        must(&format!("ip netns del dyno-{mark}-a"));
        let folder = tempfile::Builder::new().prefix("dyno-test-").tempdir_in("/var/tmp").unwrap();
        let network = Network { mark, net: fastrand::u8(1..255), servers: Vec::new(), folder };
        network.connect();
        Some(network)
    }

    /// The address of this machine on the bridge.
    pub fn address(&self) -> IpAddr {
        [10, 213, self.net, 254].into()
    }

    /// The command that reaches a host.
    pub fn launcher(&self) -> String {
        format!(
            "ssh -F {} -T -o BatchMode=yes -o ConnectTimeout=5 {{host}} {{agent}}",
            self.path("ssh_config").display()
        )
    }

    /// The folder in which agents of a host make theirs.
    pub fn scratch(&self, host: &str) -> PathBuf {
        self.path(&format!("scratch-{host}"))
    }

    /// Pulls the cable of a host.
    pub fn cut(&self, host: &str) {
        must(&format!("ip link set {} down", self.port(host)));
    }

    /// Puts a disk of 1 MiB where agents of a host make their folders: in the mount namespace of the host's server.
    pub fn give_little_room(&self, host: &str) {
        let place = HOSTS.iter().position(|known| *known == host).unwrap();
        let (server, folder) = (self.servers[place].id(), self.scratch(host).display().to_string());
        must(&format!("nsenter --mount --target {server} mount -t tmpfs -o size=1m none {folder}"));
    }

    /// The processes on a host, but for its server's own.
    pub fn processes(&self, host: &str) -> Vec<u32> {
        let output = Command::new("ip").args(["netns", "pids", &self.namespace(host)]).output().unwrap();
        let pids = String::from_utf8_lossy(&output.stdout).into_owned();
        let pids = pids.split_whitespace().map(|pid| pid.parse().unwrap());
        pids.filter(|pid| !self.servers.iter().any(|server| server.id() == *pid)).collect()
    }

    /// A path in a folder that only root may enter.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The address of a host, by its place.
    pub fn address_of(&self, place: usize) -> IpAddr {
        [10, 213, self.net, u8::try_from(place + 1).unwrap()].into()
    }

    /// Starts a server on a host.
    pub fn start_on(&mut self, host: &str, command: &[&str]) {
        let mut server = Command::new("ip");
        server.args(["netns", "exec", &self.namespace(host)]).args(command);
        self.servers.push(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    }

    fn namespace(&self, host: &str) -> String {
        format!("dyno-{}-{host}", self.mark)
    }

    fn bridge(&self) -> String {
        format!("dyb{}", self.mark)
    }

    /// The end of a host's cable at the bridge.
    fn port(&self, host: &str) -> String {
        format!("dyp{host}{}", self.mark)
    }

    fn connect(&self) {
        let bridge = self.bridge();
        must(&format!("ip link add {bridge} type bridge"));
        must(&format!("ip address add {}/24 dev {bridge}", self.address()));
        must(&format!("ip link set {bridge} up"));
        for (place, host) in HOSTS.iter().enumerate() {
            let (namespace, port) = (self.namespace(host), self.port(host));
            must(&format!("ip netns add {namespace}"));
            must(&format!("ip link add {port} type veth peer name eth0 netns {namespace}"));
            must(&format!("ip link set {port} master {bridge} up"));
            let inside = format!("ip -n {namespace}");
            must(&format!("{inside} address add {}/24 dev eth0", self.address_of(place)));
            must(&format!("{inside} link set eth0 up"));
            must(&format!("{inside} link set lo up"));
        }
    }

    fn serve(&mut self) {
        for key in ["host", "user", "stranger"] {
            let mut made = Command::new("ssh-keygen");
            made.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(self.path(key));
            assert!(made.status().unwrap().success());
        }
        // A place for the password for which sshd would wait, with nothing in it.
        fs::create_dir_all("/run/sshd").unwrap();
        let folder = self.folder.path().display().to_string();
        let mut client = format!(
            "Host *\nUser root\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile {folder}/known\n\
             LogLevel ERROR\n"
        );
        for (place, host) in HOSTS.iter().enumerate() {
            fs::create_dir(self.scratch(host)).unwrap();
            let config = format!(
                "HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\nPidFile none\n\
                 PermitRootLogin yes\nPasswordAuthentication no\nSetEnv TMPDIR={folder}/scratch-{host}\n"
            );
            fs::write(self.path(&format!("sshd-{host}")), config).unwrap();
            client = format!(
                "Host {host}\nHostName {}\nIdentityFile {folder}/user\n{client}",
                self.address_of(place)
            );
            self.start_on(host, &["/usr/sbin/sshd", "-D", "-f", &format!("{folder}/sshd-{host}")]);
        }
        let stranger =
            format!("Host stranger\nHostName {}\nIdentityFile {folder}/stranger\n", self.address_of(0));
        fs::write(self.path("ssh_config"), format!("{stranger}{client}")).unwrap();
        fs::set_permissions(self.path("user"), fs::Permissions::from_mode(0o600)).unwrap();
        let config = self.path("ssh_config").display().to_string();
        for host in HOSTS {
            wait_for("a host to answer", 60, || {
                succeeds(&format!("ssh -F {config} -o BatchMode=yes {host} true"))
            });
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in HOSTS {
            for pid in self.processes(host) {
                let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
            }
        }
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        for host in HOSTS {
            succeeds(&format!("ip netns del {}", self.namespace(host)));
        }
        succeeds(&format!("ip link del {}", self.bridge()));
    }
}
