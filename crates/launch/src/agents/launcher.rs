//! The commands that start agents, from what the user typed. They never pass through a shell of this machine.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// The launchers that have a name.
const NAMED: &str = include_str!("../../launchers.toml");
/// Stands for one host, for all of them, for their number, and for the agent's command.
const HOST: &str = "{host}";
const HOSTS: &str = "{hosts}";
const COUNT: &str = "{count}";
const AGENT: &str = "{agent}";

/// A launcher as its file describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedLauncher {
    start: String,
}

/// The way in which agents are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The words of the template.
    words: Vec<String>,
    /// The agents, by host or by number.
    hosts: Vec<String>,
    /// The program that is the agent.
    agent: String,
}

impl Launcher {
    /// From a template or the name of a launcher, the hosts with commas between them, or only their number, and the
    /// path of dyno on each host.
    ///
    /// # Errors
    /// One of them is nothing that can be started, with what to type instead.
    pub fn parse(on: &str, hosts: &str, agent: &str) -> Result<Launcher> {
        let named: BTreeMap<String, NamedLauncher> =
            toml::from_str(NAMED).context("the list of launchers is wrong: this is an error in dyno")?;
        let template = named.get(on.trim()).map_or(on, |named| named.start.as_str());
        let words = shlex::split(template)
            .with_context(|| format!("--on '{on}' has a quotation mark that does not end"))?;
        let names = || named.keys().cloned().collect::<Vec<_>>().join(", ");
        ensure!(
            words.iter().any(|word| word == AGENT),
            "--on '{on}' starts no agent: it is the name of a launcher ({}), or a command with the word {AGENT}, as in \
             --on 'ssh {HOST} {AGENT}'",
            names()
        );
        ensure!(
            agent.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+~".contains(c)) && !agent.is_empty(),
            "--agent takes the path of dyno on the hosts, of letters, digits and / . _ - + ~, because the shell of a \
             host may read it: '{}' is not such a path",
            agent.escape_debug()
        );
        let launcher = Launcher { words, hosts: parse_hosts(hosts)?, agent: agent.to_owned() };
        ensure!(
            launcher.has_names() || !launcher.has(HOST) && !launcher.has(HOSTS),
            "--hosts {hosts} is only a number of agents, and --on '{on}' names hosts: list them, as --hosts a,b,c"
        );
        Ok(launcher)
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.hosts.len()
    }

    /// The names of the hosts, or the numbers of the agents.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// True if the user has named the hosts.
    pub fn has_names(&self) -> bool {
        !self.hosts[0].starts_with('#')
    }

    /// The commands to start, each with the host whose agent it starts; none if it starts all.
    pub fn commands(&self) -> Vec<(Option<&str>, Vec<String>)> {
        match self.has(HOST) {
            true => self.hosts.iter().map(|host| (Some(host.as_str()), self.command(host))).collect(),
            false => vec![(None, self.command(""))],
        }
    }

    fn has(&self, placeholder: &str) -> bool {
        self.words.iter().any(|word| word.contains(placeholder))
    }

    fn command(&self, host: &str) -> Vec<String> {
        let fill = |word: &String| match word.as_str() {
            AGENT => vec![self.agent.clone(), "agent".to_owned()],
            word => vec![
                word.replace(HOSTS, &self.hosts.join(","))
                    .replace(HOST, host)
                    .replace(COUNT, &self.hosts.len().to_string()),
            ],
        };
        self.words.iter().flat_map(fill).collect()
    }
}

/// The names of hosts, or numbers in their place.
fn parse_hosts(text: &str) -> Result<Vec<String>> {
    if let Ok(count) = text.trim().parse::<u16>() {
        ensure!(count > 0, "--hosts 0 names no host");
        return Ok((1..=count).map(|number| format!("#{number}")).collect());
    }
    let mut known = BTreeSet::new();
    let mut hosts = Vec::new();
    for host in text.split(',').map(str::trim) {
        // A name that begins with - would be an option of the launcher; the shell of a host reads none of the others.
        let is_name = |c: char| c.is_alphanumeric() || "._-:@[]%".contains(c);
        if host.is_empty() || host.starts_with('-') || !host.chars().all(is_name) {
            bail!(
                "--hosts has '{}', which names no host: list names or addresses, as --hosts a,b,c",
                host.escape_debug()
            );
        }
        ensure!(known.insert(host), "--hosts names {host} twice");
        hosts.push(host.to_owned());
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(on: &str, hosts: &str) -> Vec<String> {
        let launcher = Launcher::parse(on, hosts, "/opt/dyno").unwrap();
        launcher.commands().into_iter().map(|(_, words)| words.join("|")).collect()
    }

    #[test]
    fn a_template_with_a_host_starts_one_agent_for_each() {
        assert_eq!(
            commands("ssh -p '2 2' {host} {agent}", "a,me@b"),
            ["ssh|-p|2 2|a|/opt/dyno|agent", "ssh|-p|2 2|me@b|/opt/dyno|agent"]
        );
        assert!(commands("ssh", "a")[0].starts_with("ssh|-T|"));
    }

    #[test]
    fn a_template_without_a_host_starts_all() {
        assert_eq!(commands("srun -N{count} -w {hosts} {agent}", "a,b"), ["srun|-N2|-w|a,b|/opt/dyno|agent"]);
        assert_eq!(commands("mpirun -n {count} {agent}", "3"), ["mpirun|-n|3|/opt/dyno|agent"]);
    }

    #[test]
    fn what_no_launcher_can_start_is_refused() {
        let error =
            |on: &str, hosts: &str, agent: &str| Launcher::parse(on, hosts, agent).unwrap_err().to_string();
        assert!(error("ssh {host}", "a", "dyno").contains("starts no agent"));
        assert!(error("shh", "a", "dyno").contains("ssh"));
        assert!(error("ssh '{host} {agent}", "a", "dyno").contains("does not end"));
        assert!(error("ssh {host} {agent}", "a,-oProxyCommand=x", "dyno").contains("'-oProxyCommand=x'"));
        assert!(error("ssh {host} {agent}", "a,b\u{7}c", "dyno").contains(r"b\u{7}c"));
        assert!(error("ssh {host} {agent}", "a,$(x)", "dyno").contains("names no host"));
        assert!(error("ssh {host} {agent}", "a,a", "dyno").contains("twice"));
        assert!(error("ssh {host} {agent}", "3", "dyno").contains("list them"));
        assert!(error("ssh {host} {agent}", "a", "dyno; rm").contains("--agent"));
    }
}
