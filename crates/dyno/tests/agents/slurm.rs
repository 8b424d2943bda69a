//! Slurm on three hosts that are network namespaces. No user but root can give it work: the key of its authentication, which
//! munge keeps, and the sockets are in a folder that only root may enter.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::network::{HOSTS, Network, succeeds};
use crate::common::wait_for;

/// The name of this machine, on which the controller works.
const CONTROLLER: &str = "controller";

/// The hosts, and the programs that serve all of them.
pub struct Slurm {
    pub network: Network,
    servers: Vec<Child>,
    /// The port of the controller, which is on this machine as those of other tests are.
    port: u16,
}

impl Slurm {
    /// Starts it; none, with the reason on standard error, where this machine cannot.
    pub fn start() -> Option<Slurm> {
        for program in ["slurmctld", "slurmd", "munged"] {
            if !Path::new("/usr/sbin").join(program).is_file() {
                eprintln!(
                    "not run: {program} is missing; `apt install slurmctld slurmd slurm-client munge` brings it"
                );
                return None;
            }
        }
        let network = Network::of_hosts()?;
        let port = TcpListener::bind((network.address(), 0)).unwrap().local_addr().unwrap().port();
        let mut slurm = Slurm { network, servers: Vec::new(), port };
        slurm.authenticate();
        slurm.serve();
        Some(slurm)
    }

    /// The configuration for `srun` here, as `SLURM_CONF` names it.
    pub fn configuration(&self) -> String {
        self.of(CONTROLLER, "slurm.conf")
    }

    fn of(&self, host: &str, name: &str) -> String {
        self.network.path(&format!("{host}/{name}")).display().to_string()
    }

    /// A munge for each host: one takes a credential once, as it should.
    fn authenticate(&mut self) {
        let key = self.network.path("key");
        fs::write(&key, std::iter::repeat_with(|| fastrand::u8(..)).take(64).collect::<Vec<u8>>()).unwrap();
        for host in HOSTS.into_iter().chain([CONTROLLER]) {
            fs::create_dir(self.network.path(host)).unwrap();
            let mut munge = Command::new("/usr/sbin/munged");
            // It warns of a key that is not in its usual place.
            munge.args(["--foreground", "--force", "--key-file"]).arg(&key);
            for name in ["socket", "pid-file", "log-file", "seed-file"] {
                munge.args([format!("--{name}"), self.of(host, name)]);
            }
            self.servers.push(munge.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
            wait_for("munge to listen", 30, || Path::new(&self.of(host, "socket")).exists());
        }
    }

    fn serve(&mut self) {
        for host in HOSTS.into_iter().chain([CONTROLLER]) {
            fs::write(self.of(host, "slurm.conf"), self.configuration_of(host)).unwrap();
            fs::write(self.of(host, "cgroup.conf"), "CgroupPlugin=cgroup/v1\n").unwrap();
        }
        let mut controller = Command::new("unshare");
        controller.args(["--uts", "sh", "-c", "hostname \"$0\"; exec slurmctld -D -f \"$1\"", CONTROLLER]);
        controller.arg(self.configuration()).stdout(Stdio::null()).stderr(Stdio::null());
        self.servers.push(controller.spawn().unwrap());
        // Slurm 22.05 does not start without a freezer, which kernels with one hierarchy of control groups mount nowhere.
        let start = "hostname \"$0\"; mount -t tmpfs none /sys/fs/cgroup; mkdir /sys/fs/cgroup/freezer; \
                     mount -t cgroup -o freezer none /sys/fs/cgroup/freezer; exec slurmd -D -f \"$1\"";
        for host in HOSTS {
            let configuration = self.of(host, "slurm.conf");
            self.network
                .start_on(host, &["unshare", "--uts", "--mount", "sh", "-c", start, host, &configuration]);
        }
        wait_for("Slurm to run a job on all hosts", 60, || {
            let configuration = self.configuration();
            succeeds(&format!("env SLURM_CONF={configuration} srun --immediate=5 --nodes=3 --ntasks=3 true"))
        });
    }

    fn configuration_of(&self, host: &str) -> String {
        let (socket, log) = (self.of(host, "socket"), self.of(host, "log"));
        let folder = self.network.path("").display().to_string();
        let nodes: String = (0..HOSTS.len())
            .map(|place| {
                let (name, address) = (HOSTS[place], self.network.address_of(place));
                format!("NodeName={name} NodeHostname={name} NodeAddr={address} CPUs=1\n")
            })
            .collect();
        format!(
            "ClusterName=dyno\nSlurmctldHost={CONTROLLER}({})\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={socket}\nCredType=cred/munge\nDebugFlags=NO_CONF_HASH\n\
             SlurmctldPort={}\nSlurmdPort=16818\nStateSaveLocation={folder}{CONTROLLER}\nSlurmdSpoolDir={folder}%n\n\
             SlurmctldPidFile={folder}slurmctld.pid\nSlurmdPidFile={folder}%n/slurmd.pid\n\
             SlurmctldLogFile={log}\nSlurmdLogFile={log}\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SelectType=select/linear\nSwitchType=switch/none\nMpiDefault=none\nReturnToService=2\n{nodes}\
             PartitionName=all Nodes={} Default=YES State=UP\n",
            self.network.address(),
            self.port,
            HOSTS.join(","),
        )
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
