//! The further contenders of a run of `dyno causes`: each of the pair, with each suspect neutralised.

use dyno_engine::Contender;
use dyno_lab::scratch::MEMORY;
use dyno_record::{Experiment, Neutralised};

/// The experiment of an earlier run for a run here: a file may come from a stranger, so it names no folder.
pub fn again(mut experiment: Experiment) -> Experiment {
    for how in &mut experiment.tried {
        if let Neutralised::Disk { folder } = how {
            MEMORY.clone_into(folder);
        }
    }
    experiment
}

/// The pair of an experiment with each suspect that is tried neutralised. `contenders` are those of the run, the pair
/// among them.
pub fn neutralised(experiment: &Experiment, contenders: &[Contender], baseline: &str) -> Vec<Contender> {
    let pair = [experiment.contender.as_str(), baseline];
    let find = |label: &str| contenders.iter().find(|contender| contender.label == label);
    let of_suspect = |how| {
        let each = pair.iter().enumerate();
        each.filter_map(move |(place, label)| Some(find(label)?.neutralised(how, place)))
    };
    experiment.tried.iter().flat_map(of_suspect).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_no_folder() {
        let disk = |folder: &str| Neutralised::Disk { folder: folder.into() };
        let found = |tried| Experiment { contender: "a".into(), tried, not_tried: Vec::new() };
        assert_eq!(again(found(vec![disk("/home/someone")])), found(vec![disk(MEMORY)]));
    }
}
