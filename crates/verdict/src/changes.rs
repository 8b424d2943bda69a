//! Other changes between two runs: a comparison and a history show them with the times.

use dyno_protocol::Hello;
use dyno_record::{AgentRecord, ContenderRecord, Content, Hole};

use crate::about::About;
use crate::builds::changed_files;

/// The changes other than the times: machine, placement and limits, and for these contenders (by label) the failures
/// they survive, how they were measured, versions and settings.
pub(crate) fn changes(
    (was, old): (&About, &[ContenderRecord]),
    (is, new): (&About, &[ContenderRecord]),
    contenders: &[String],
) -> Vec<String> {
    let mut changes = Changes::default();
    changes.of_surroundings(was, is);
    for label in contenders {
        let find = |all: &[ContenderRecord]| all.iter().find(|contender| contender.label == *label).cloned();
        let (Some(old), Some(new)) = (find(old), find(new)) else { continue };
        changes.of_contender(label, (was, &old), (is, &new));
        if let (Some(old), Some(new)) = (old.hello, new.hello) {
            changes.of_engine(label, &old, &new);
        }
    }
    changes.lines
}

/// The changes found so far, a line each.
#[derive(Default)]
struct Changes {
    lines: Vec<String>,
}

impl Changes {
    fn note(&mut self, what: &str, old: String, new: String) {
        if old != new {
            self.lines.push(format!("{what}: {old} before, {new} now"));
        }
    }

    fn of_surroundings(&mut self, was: &About, is: &About) {
        self.note("dyno", program(was), program(is));
        self.note("processor", processor(was), processor(is));
        self.note("kernel", was.machine.kernel.release.clone(), is.machine.kernel.release.clone());
        self.note("file system", was.storage.file_system.clone(), is.storage.file_system.clone());
        self.note("placement", was.placement.note.clone(), is.placement.note.clone());
        self.note("memory of a runner", memory(was), memory(is));
        self.note("network", network(was), network(is));
        self.note("machines of the clients", of_clients(was), of_clients(is));
        if was.suite.text != is.suite.text {
            self.note("the suite's text", "another".into(), "this one".into());
        }
    }

    fn of_contender(
        &mut self,
        label: &str,
        (was, old): (&About, &ContenderRecord),
        (is, new): (&About, &ContenderRecord),
    ) {
        self.note(&format!("{label}, its commits survive"), survives(old), survives(new));
        for (what, before, now) in changed_files(old, new) {
            self.note(&format!("{label}, {what}"), before.short().to_owned(), now.short().to_owned());
        }
        self.note(&format!("{label}, isolation"), isolation(old), isolation(new));
        self.note(&format!("{label}, operations a commit"), commit(old), commit(new));
        self.note(&format!("{label}, trials"), interleaving(was, old), interleaving(is, new));
    }

    /// The versions, settings and build that a contender's runner reported.
    fn of_engine(&mut self, label: &str, old: &Hello, new: &Hello) {
        self.note(
            &format!("{label}, engine version"),
            old.engine_version.clone(),
            new.engine_version.clone(),
        );
        self.note(
            &format!("{label}, driver version"),
            old.driver_version.clone(),
            new.driver_version.clone(),
        );
        for setting in &new.settings {
            let before = old.settings.iter().find(|candidate| candidate.name == setting.name);
            let before = before.map_or("unknown".to_owned(), |setting| setting.value.clone());
            self.note(&format!("{label}, {}", setting.name), before, setting.value.clone());
        }
        if old.build != new.build {
            let now = "this one (see `build` in the run files)".into();
            self.note(&format!("{label}, build"), "another".into(), now);
        }
    }
}

/// The program that wrote a run: its version, its commit, and its file.
fn program(about: &About) -> String {
    let known = about.program.as_ref();
    let commit = known.and_then(|program| program.commit.as_deref());
    let file = known.and_then(|program| program.content.as_ref()).map(Content::short);
    let parts = [commit, file].into_iter().flatten();
    parts.fold(about.dyno.clone(), |text, part| format!("{text} {part}"))
}

fn processor(about: &About) -> String {
    let cpu = &about.machine.cpu;
    format!("{} × {}", cpu.online, cpu.model.as_deref().unwrap_or("unknown"))
}

fn memory(about: &About) -> String {
    about.limits.memory_bytes.map_or("all".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// The way of clients to their servers.
fn network(about: &About) -> String {
    about.limits.added_ms().map_or("direct".to_owned(), |added| format!("{added} ms a round trip"))
}

/// The machines from which agents drove the clients, in an order that does not depend on that of the agents.
fn of_clients(about: &About) -> String {
    let one = |agent: &AgentRecord| {
        let cpu = &agent.machine.cpu;
        format!("{} ({} × {})", agent.host, cpu.allowed.len(), cpu.model.as_deref().unwrap_or("unknown"))
    };
    match &about.agents[..] {
        [] => "that of dyno".to_owned(),
        agents => {
            let mut machines: Vec<String> = agents.iter().map(one).collect();
            machines.sort_unstable();
            machines.join(", ")
        }
    }
}

/// The failures that a contender's commits survive, in words.
fn survives(contender: &ContenderRecord) -> String {
    let Some(safety) = &contender.safety else { return "not known".to_owned() };
    let hole = safety.hole.map_or("", |hole| match hole {
        Hole::LastCommit => " but for the last commit",
        Hole::TornPages => " but for torn pages",
    });
    let nodes = safety.nodes.map_or_else(String::new, |nodes| format!(" and {}", nodes.words()));
    format!("{}{hole}{nodes}", safety.name())
}

fn isolation(record: &ContenderRecord) -> String {
    record.isolation.as_ref().map_or("unknown", |isolation| isolation.level.name()).to_owned()
}

fn commit(record: &ContenderRecord) -> String {
    record.per_commit.map_or("all of a test".to_owned(), |operations| operations.to_string())
}

fn interleaving(about: &About, record: &ContenderRecord) -> String {
    match about.schedule.turns {
        true if record.apart.is_none() => "in turns with others".to_owned(),
        _ => "each alone".to_owned(),
    }
}
