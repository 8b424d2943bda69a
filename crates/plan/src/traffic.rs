//! The job of a trial in which what clients and servers say to each other is counted: one client does some operations
//! of each class of a mix, and nothing else at the same time.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_inputs::Cells;
use dyno_protocol::{Job, MixWork, STEP_CLASS, StepFile, Test, Work};

/// The operations of a class that are counted, where it has as many.
const OPERATIONS: usize = 50;

/// A part of such a job, of which there is one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficPart {
    /// The test in the suite, by its id.
    pub test: String,
    /// The class; none of tests without classes.
    pub class: Option<String>,
    /// The test of the job that is counted, by its id.
    pub counted: String,
    /// The test of the job, by its id, whose counts are subtracted: it does the first of the same operations, in a
    /// separate session. So what each session does once, such as preparing, cancels out.
    pub without: Option<String>,
    /// The number of operations that remain; none: as many as the test reports.
    pub operations: Option<u64>,
}

/// The tests of a job with one class of operations at a time, each with half of the operations, once more with the same, and
/// then with all. Drivers that keep one connection for several tests prepare its statements in the first of them, which is
/// not counted; others prepare in each. The steps are written to a folder.
///
/// # Errors
/// A file cannot be read or written.
pub fn split(job: &Job, folder: &Path) -> Result<(Vec<Test>, Vec<TrafficPart>)> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (mut tests, mut parts) = (Vec::new(), Vec::new());
    for test in &job.tests {
        if let Work::Mix(mix) = &test.work {
            for (place, steps) in of_classes(mix)?.into_iter().enumerate() {
                let class = &mix.classes[place].name;
                let half = steps.len() / 2;
                let ids = ["before", "first", "all"].map(|part| format!("{}/{class}/{part}", test.id));
                for (id, steps) in ids.iter().zip([&steps[..half], &steps[..half], &steps[..half * 2]]) {
                    // A class without steps has a record without counts.
                    if half > 0 {
                        let name = format!("{}.{place}.{}.steps", test.id, steps.len());
                        tests.push(one_client(test, mix, id, write(&folder.join(name), steps)?));
                    }
                }
                let [_, without, counted] = ids;
                parts.push(TrafficPart {
                    test: test.id.clone(),
                    class: Some(class.clone()),
                    counted,
                    without: Some(without),
                    operations: Some(half as u64),
                });
            }
            continue;
        }
        tests.push(test.clone());
        let (id, counted) = (test.id.clone(), test.id.clone());
        parts.push(TrafficPart { test: id, class: None, counted, without: None, operations: None });
    }
    Ok((tests, parts))
}

/// The steps of a mix by class, at most as many as both parts need. They are due at once.
fn of_classes(mix: &MixWork) -> Result<Vec<Vec<Vec<u8>>>> {
    let mut classes = vec![Vec::new(); mix.classes.len()];
    let width = mix.step_bytes();
    for file in &mix.steps {
        let cells = Cells::load(&file.file, file.count, width)?;
        for step in cells.all().iter() {
            let class = step[STEP_CLASS].try_into().map(u64::from_le_bytes).unwrap_or_default() as usize;
            if let Some(steps) = classes.get_mut(class).filter(|steps| steps.len() < 2 * OPERATIONS) {
                steps.push([&[0; STEP_CLASS.start][..], &step[STEP_CLASS.start..]].concat());
            }
        }
    }
    Ok(classes)
}

fn write(file: &Path, steps: &[Vec<u8>]) -> Result<StepFile> {
    fs::write(file, steps.concat()).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(StepFile { file: file.to_owned(), count: steps.len() as u64 })
}

/// A test whose one client does all of its steps once, without a pause, and with nothing to check.
fn one_client(test: &Test, mix: &MixWork, id: &str, steps: StepFile) -> Test {
    let mix = MixWork {
        clients: 1,
        steps: vec![steps],
        think: None,
        reports: None,
        interval_ns: None,
        times_statements: false,
        session: None,
        part: None,
        lasts: None,
        invariants: Vec::new(),
        queries: Vec::new(),
        ..mix.clone()
    };
    Test { id: id.to_owned(), work: Work::Mix(mix), check: None, setup: test.setup.clone() }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Build, MixClass, StepField, StepKind};

    use super::*;

    fn step(due: u64, class: u64, value: u64) -> Vec<u8> {
        [due, class, value].iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn each_class_has_its_own_steps_twice_over() {
        let folder = tempfile::tempdir().unwrap();
        let steps: Vec<Vec<u8>> = (0..7).map(|place| step(place * 10, place % 3 / 2, place)).collect();
        let steps = write(&folder.path().join("steps"), &steps).unwrap();
        let class = |name: &str| MixClass { name: name.into(), ..MixClass::default() };
        let mix = MixWork {
            classes: vec![class("read"), class("write"), class("none")],
            fields: vec![StepField { name: "x".into(), kind: StepKind::Integer, bytes: 8 }],
            clients: 8,
            steps: vec![steps],
            session: Some(5),
            ..MixWork::default()
        };
        let test =
            Test { id: "mix".into(), setup: vec!["s".into()], work: Work::Mix(mix), check: Some("c".into()) };
        let file = folder.path().join("statements");
        let statements = Work::Statements { file, count: 1 };
        let other = Test { id: "1".into(), setup: Vec::new(), work: statements, check: None };
        let job = Job {
            tests: vec![other.clone(), test],
            ..Job::new("e", "d", Build::System, folder.path().to_owned())
        };
        let (tests, parts) = split(&job, &folder.path().join("traffic")).unwrap();
        assert_eq!(tests[0], other);
        let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        let of = |class: &str| ["before", "first", "all"].map(|part| format!("mix/{class}/{part}"));
        assert_eq!(ids, [&["1".to_owned()][..], &of("read"), &of("write")].concat());
        let operations: Vec<_> = parts.iter().map(|part| (part.class.as_deref(), part.operations)).collect();
        assert_eq!(
            operations,
            [(None, None), (Some("read"), Some(2)), (Some("write"), Some(1)), (Some("none"), Some(0))]
        );
        let Work::Mix(all) = &tests[3].work else { panic!("{:?}", tests[3]) };
        assert_eq!((all.clients, all.session, tests[3].check.as_deref()), (1, None, None));
        assert_eq!(
            fs::read(&all.steps[0].file).unwrap(),
            [step(0, 0, 0), step(0, 0, 1), step(0, 0, 3), step(0, 0, 4)].concat()
        );
        let Work::Mix(first) = &tests[5].work else { panic!("{:?}", tests[5]) };
        assert_eq!(fs::read(&first.steps[0].file).unwrap(), step(0, 1, 2));
    }
}
