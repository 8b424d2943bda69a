//! Power that is cut at all nodes at once, and the way back from what their disks kept.

use std::time::Duration;

use anyhow::Result;
use dyno_record::PowerOutage;

use super::disks::NodeDisks;
use super::load::{ClientAttempt, ClientLoad, Knowledge};
use super::nodes::ClusterNodes;

/// The course of an outage: times are from the beginning of the load on.
#[derive(Debug, Clone, Copy)]
pub struct OutageCourse {
    /// The time between the cut of the first disk and that of the last.
    pub within: Duration,
    /// The number of writes that are gone.
    pub writes_gone: u64,
    /// When all servers had ended.
    pub ended: Duration,
    /// When the power came back, and when all nodes were ready.
    pub back: [Duration; 2],
    /// The node that began the cluster again.
    pub began: usize,
}

impl OutageCourse {
    /// As it is recorded.
    pub fn record(&self) -> PowerOutage {
        PowerOutage {
            within_us: self.within.as_micros() as u64,
            writes_gone: self.writes_gone,
            ended_ms: self.ended.as_millis() as u64,
            back_ms: self.back.map(|time| time.as_millis() as u64),
            began: self.began as u32 + 1,
        }
    }

    /// Clients cannot know of an answer that came after the cut at `cut`: the commit may have been later than that. It may be
    /// read late, even after the power came back, but not have been asked for then.
    pub fn doubt(&self, cut: Duration, attempts: &mut [ClientAttempt]) {
        for attempt in attempts {
            if attempt.knowledge == Knowledge::Acknowledged
                && attempt.at > cut
                && attempt.sent <= self.back[0]
            {
                attempt.knowledge = Knowledge::Unknown;
            }
        }
    }
}

/// Cuts the power of all nodes at once and starts them again from what their disks kept.
///
/// # Errors
/// A disk cannot be cut, or a node does not come back.
pub fn lose_power(
    cluster: &mut ClusterNodes,
    disks: &mut NodeDisks,
    load: &ClientLoad,
) -> Result<OutageCourse> {
    let within = disks.cut()?;
    // Until all nodes are ready: a node that joins under load may take minutes, or never catch up.
    load.keep_away(true);
    cluster.kill_all();
    let ended = load.elapsed();
    let writes_gone = disks.restore()?;
    let power_back = load.elapsed();
    let began = cluster.start_again()?;
    load.keep_away(false);
    Ok(OutageCourse { within, writes_gone, ended, back: [power_back, load.elapsed()], began })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_after_the_cut_is_no_knowledge() {
        let course = OutageCourse {
            within: Duration::ZERO,
            writes_gone: 0,
            ended: Duration::from_millis(30),
            back: [Duration::from_millis(40); 2],
            began: 0,
        };
        let attempt = |sent, at, knowledge| ClientAttempt {
            commit: 1,
            node: 0,
            sent: Duration::from_millis(sent),
            at: Duration::from_millis(at),
            knowledge,
        };
        let mut attempts = [
            attempt(0, 20, Knowledge::Acknowledged),
            attempt(0, 25, Knowledge::Acknowledged),
            attempt(0, 41, Knowledge::Acknowledged),
            attempt(0, 25, Knowledge::Failed),
            attempt(45, 50, Knowledge::Acknowledged),
        ];
        course.doubt(Duration::from_millis(20), &mut attempts);
        assert_eq!(
            attempts.map(|attempt| attempt.knowledge),
            [
                Knowledge::Acknowledged,
                Knowledge::Unknown,
                Knowledge::Unknown,
                Knowledge::Failed,
                Knowledge::Acknowledged
            ]
        );
    }
}
