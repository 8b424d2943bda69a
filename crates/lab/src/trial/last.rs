//! The last job of a trial: the database that was closed is opened again, by a fresh process of the same runner, and must
//! answer what it answered before. An engine that kept data in memory only, or wrote something else to its files than it
//! showed, is found out here. None of it is timed.

use anyhow::Result;
use dyno_engine::{Contender, ScratchServer};
use dyno_plan::last_job;
use dyno_protocol::{Job, Maintenance};
use dyno_record::Answer;

use super::{Outcome, Report, Trial, TrialOptions};

impl TrialOptions {
    /// Runs a contender's job, and then what must be found when the database is opened again.
    ///
    /// # Errors
    /// The runner cannot be started.
    pub fn run_whole(
        &self,
        contender: &Contender,
        job: &Job,
        served: Option<&ScratchServer>,
        on_report: impl FnMut(Report),
    ) -> Result<Trial> {
        if last_job(contender, job).is_none() {
            return self.run_tidily(contender, job, served, on_report);
        }
        // The database stays for the last job, which removes it.
        let maintenance =
            job.maintenance.clone().map(|maintenance| Maintenance { after: Vec::new(), ..maintenance });
        let first = Job { maintenance, ..job.clone() };
        let mut trial = self.run_tidily(contender, &first, served, on_report)?;
        if trial.outcome == Outcome::Finished {
            self.read_again(contender, job, served, &mut trial);
        }
        Ok(trial)
    }

    /// Opens the database of a trial that has finished once more, and makes a failure of the trial if something is missing.
    pub fn read_again(
        &self,
        contender: &Contender,
        job: &Job,
        served: Option<&ScratchServer>,
        trial: &mut Trial,
    ) {
        let Some(last) = last_job(contender, job).filter(|_| trial.outcome == Outcome::Finished) else {
            return;
        };
        let outcome = match self.run_tidily(contender, &last, served, |_| {}) {
            Ok(again) => match again.outcome {
                Outcome::Finished => compare(trial, &again),
                Outcome::Failed { test, message } => Err(match test {
                    None => format!("the database was closed and does not open again: {message}"),
                    Some(test) => format!("test {test}, after the database was opened again: {message}"),
                }),
                Outcome::Interrupted => {
                    trial.outcome = Outcome::Interrupted;
                    return;
                }
            },
            Err(error) => Err(format!("{error:#}")),
        };
        if let Err(message) = outcome {
            trial.outcome = Outcome::Failed { test: None, message };
        }
    }
}

/// Holds the answers of a database that was opened again against those before.
fn compare(before: &Trial, again: &Trial) -> Result<(), String> {
    for (sample, now) in again.samples.iter().zip(&again.answers) {
        let place = before.samples.iter().position(|known| known.test == sample.test);
        let Some(then) = place.map(|place| &before.answers[place]) else { continue };
        if then != now {
            return Err(format!(
                "the database was closed and opened again, and what test {} had left is not there: {}. What a commit \
                 survives is not what its settings say, or the engine shows what it did not write",
                sample.test,
                difference(then, now)
            ));
        }
    }
    Ok(())
}

/// The first difference of two answers.
fn difference(then: &Answer, now: &Answer) -> String {
    let text = |row: &Vec<_>| -> String {
        serde_json::to_string(row).unwrap_or_default().chars().take(200).collect()
    };
    match then.kept.iter().zip(&now.kept).find(|(then, now)| then != now) {
        Some((then, now)) => format!("{} was read before and {} now", text(then), text(now)),
        None => format!("{} rows were read before and {} now", then.rows, now.rows),
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Sample, Value};

    use super::*;

    fn trial(numbers: &[i64]) -> Trial {
        let rows: Vec<Vec<Value>> = numbers.iter().map(|&number| vec![Value::Integer(number)]).collect();
        Trial {
            samples: vec![Sample { test: "7".into(), ..Sample::default() }],
            answers: vec![Answer::from_rows(&rows)],
            ..Trial::default()
        }
    }

    #[test]
    fn a_difference_names_the_test_and_the_rows() {
        assert_eq!(compare(&trial(&[1, 2]), &trial(&[1, 2])), Ok(()));
        let said = compare(&trial(&[1]), &trial(&[2])).unwrap_err();
        assert!(said.contains("test 7") && said.contains("[1] was read before and [2] now"), "{said}");
        assert!(
            compare(&trial(&[1]), &trial(&[])).unwrap_err().contains("1 rows were read before and 0 now")
        );
    }
}
