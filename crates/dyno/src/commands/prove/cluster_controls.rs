//! The contenders that must lose commits, so that it is seen whether a proof of clusters would notice a loss.

use dyno_engine::Contender;
use dyno_protocol::Build;
use dyno_record::{ClusterSubject, NodeFault};

/// The controls.
const CONTROLS: [Control; 4] = [
    Control {
        of: "postgres-replica",
        loser: "postgres-replica:off",
        has_liar: false,
        faults: &[NodeFault::Partition, NodeFault::Power],
    },
    Control {
        of: "postgres-replica",
        loser: "postgres-replica",
        has_liar: true,
        faults: &[NodeFault::Partition],
    },
    Control { of: "galera", loser: "galera:lazy", has_liar: false, faults: &[NodeFault::Power] },
    Control {
        of: "rqlite",
        loser: "rqlite:queued",
        has_liar: false,
        faults: &[NodeFault::Kill, NodeFault::Power],
    },
];
/// The most cuts of power by which a control must lose commits: one may come when all was flushed.
pub const TRIES: u64 = 3;

/// A contender that must lose commits.
#[derive(Clone, Copy)]
pub struct Control {
    /// The engine with which it is tried.
    pub of: &'static str,
    /// The contender.
    pub loser: &'static str,
    /// True if its settings promise to keep commits, and a planted liar loses them.
    pub has_liar: bool,
    /// The faults by which it must.
    pub faults: &'static [NodeFault],
}

impl Control {
    /// The name of the contender as a cluster like those that were tried: of the build, the number of nodes and the delay
    /// between them that the first one of its engine has.
    pub fn loser_like(&self, tried: &[Contender]) -> String {
        let Some(first) = tried.iter().find(|contender| contender.engine.name == self.of) else {
            return self.loser.to_owned();
        };
        let build = match &first.build {
            Build::Path(path) => format!("@{}", path.display()),
            Build::Bundled | Build::System => String::new(),
        };
        let profile = self.loser.strip_prefix(self.of).unwrap_or_default();
        let is_of_shape = |part: &&str| part.starts_with("nodes=") || part.starts_with("node_delay=");
        let shape = first.label.split(',').filter(is_of_shape).map(|part| format!(",{part}"));
        format!("{}{build}{profile}{}", self.of, shape.collect::<String>())
    }
}

/// The controls of the contenders that were tried, with the faults by which each must lose. Fail-over has its control
/// wherever any fault of one node is tried.
pub fn of(subjects: &[ClusterSubject], tried: &[NodeFault]) -> Vec<(Control, Vec<NodeFault>)> {
    let is_tried = |fault: &NodeFault| match fault {
        NodeFault::Power => tried.contains(&NodeFault::Power),
        _ => tried.iter().any(|fault| *fault != NodeFault::Power),
    };
    let of = |control: Control| {
        let is_there = subjects.iter().any(|subject| subject.label.starts_with(control.of));
        let faults: Vec<NodeFault> = control.faults.iter().copied().filter(is_tried).collect();
        (is_there && !faults.is_empty()).then_some((control, faults))
    };
    CONTROLS.into_iter().filter_map(of).collect()
}

/// The mention of a planted liar.
pub fn liar(subject: &ClusterSubject) -> &'static str {
    if subject.has_liar { ", with a liar" } else { "" }
}

/// True if a control is not tried once more by a fault: it lost commits, or the fault is one by which every try must.
pub fn is_settled(control: &ClusterSubject, fault: NodeFault) -> bool {
    let mut tries = control.tries.iter().filter(|tried| tried.fault == fault);
    fault != NodeFault::Power || tries.any(|tried| tried.lost > 0)
}
