//! Several clients as threads of one process: a mix of the runner's in which each client reports the beginning and the
//! acknowledgement of every commit, and the pairs of each client that exist afterwards.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, ensure};
use dyno_inputs::StoreDigest;
use dyno_protocol::{
    Cells, MixClass, MixStatement, MixValue, MixWork, Pairs, Purpose, Reads, StepField, StepFile, StepKind,
    StoreDoes, Test, Value, Work,
};

use super::{Contents, data};

/// The time for which a commit may wait for another client's, in nanoseconds.
const RETRY_NS: u64 = 20_000_000_000;

/// The test in which `clients` clients make all commits, each its share; the files go into `folder`.
pub fn test(has_sql: bool, clients: u64, commits: u64, folder: &Path) -> Result<Test> {
    ensure!(clients <= commits, "{clients} clients need as many commits: give --commits {clients} or more");
    let steps = |client| -> Result<StepFile> {
        let numbers: Vec<u64> = data::numbers(client, clients, commits).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|&number| step(has_sql, number)).collect();
        let file = data::write(folder, &format!("{client}.steps"), &bytes)?;
        Ok(StepFile { file, count: numbers.len() as u64 })
    };
    let class = MixClass {
        name: "commit".to_owned(),
        transaction: has_sql.then_some(Purpose::Write),
        statements: if has_sql { statements() } else { vec![put()] },
        ..MixClass::default()
    };
    let work = MixWork {
        classes: vec![class],
        fields: fields(has_sql),
        clients: clients as u32,
        steps: (0..clients).map(steps).collect::<Result<_>>()?,
        patience_ns: RETRY_NS,
        store: (!has_sql).then(data::store),
        reports: Some(0),
        ..MixWork::default()
    };
    Ok(Test { id: "commits".to_owned(), setup: Vec::new(), work: Work::Mix(work), check: None })
}

/// The fields of a step: the commit's number and its values and, in SQL, twice an account and the amount added to it.
fn fields(has_sql: bool) -> Vec<StepField> {
    let number = |name: &str| StepField { name: name.to_owned(), kind: StepKind::Integer, bytes: 8 };
    let text =
        |name: &str| StepField { name: name.to_owned(), kind: StepKind::Text, bytes: data::VALUE as u64 };
    let mut fields = vec![number("commit"), text("first")];
    if has_sql {
        fields.push(text("second"));
        fields.extend(["one", "added to one", "other", "added to other"].map(number));
    }
    fields
}

fn step(has_sql: bool, commit: u64) -> Vec<u8> {
    // At once, and of the one class.
    let mut bytes = [0, 0, commit].map(u64::to_le_bytes).concat();
    bytes.extend(data::value(commit, 0).into_bytes());
    if has_sql {
        bytes.extend(data::value(commit, 1).into_bytes());
        for (account, sum) in data::moves(commit) {
            bytes.extend(account.to_le_bytes());
            bytes.extend(sum.to_le_bytes());
        }
    }
    bytes
}

/// The statements of a commit in SQL.
fn statements() -> Vec<MixStatement> {
    let insert = |part: usize| {
        let text = [format!("INSERT INTO {} VALUES(", data::NAME), format!(", {part}, "), ")".to_owned()];
        statement(text, [0, 1 + part])
    };
    let update = |account: usize| {
        let text = format!("UPDATE {} SET balance = balance + ", data::ACCOUNT);
        statement([text, " WHERE id = ".to_owned(), String::new()], [account + 1, account])
    };
    vec![insert(0), insert(1), update(3), update(5)]
}

/// The put of a commit's pair.
fn put() -> MixStatement {
    let text = ["put ", " ", ""].map(str::to_owned);
    MixStatement { does: Some(StoreDoes::Put), ..statement(text, [0, 1]) }
}

fn statement(text: [String; 3], fields: [usize; 2]) -> MixStatement {
    let parameters = fields.map(MixValue::Field).to_vec();
    MixStatement { text: text.to_vec(), parameters, ..MixStatement::default() }
}

/// The tests that look for the pairs of each client.
pub fn look(clients: u64, commits: u64, folder: &Path) -> Result<Vec<Test>> {
    let one = |client| -> Result<Test> {
        let numbers: Vec<u64> = data::numbers(client, clients, commits).collect();
        let keys: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let file = data::write(folder, &format!("client{client}.keys"), &keys)?;
        let keys = Cells { file, count: numbers.len() as u64, bytes: 8 };
        let work = Work::KvGet {
            store: data::store(),
            pairs: Pairs { keys, values: None },
            present: false,
            reads: Reads::default(),
        };
        Ok(Test { id: format!("client {client}"), setup: Vec::new(), work, check: None })
    };
    (0..clients).map(one).collect()
}

/// The commits found, given the number of pairs of each client and the digest of the whole store without the first
/// commit's pair: the first commits of each client, and nothing else.
pub fn read(counts: &[u64], digest: &[Value]) -> Contents {
    let of = |(client, &count): (u64, &u64)| (1..=count).map(move |number| client * data::CLIENT + number);
    let mut commits: BTreeSet<u64> = (0..).zip(counts).flat_map(of).collect();
    let mut expected = StoreDigest::default();
    for commit in &commits {
        expected.add(&commit.to_be_bytes(), data::value(*commit, 0).as_bytes());
    }
    if expected.answer() != digest {
        let trouble = format!(
            "of the clients' pairs {} are there, and they are not the first of each",
            data::shown(&counts)
        );
        return Contents::trouble(trouble);
    }
    commits.insert(0);
    Contents { commits, ..Contents::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_all_fields_that_the_statements_name() {
        let folder = tempfile::tempdir().unwrap();
        for has_sql in [false, true] {
            let Work::Mix(mix) = test(has_sql, 3, 7, folder.path()).unwrap().work else { panic!() };
            let counts: Vec<u64> = mix.steps.iter().map(|steps| steps.count).collect();
            assert_eq!(counts, [3, 2, 2]);
            for steps in &mix.steps {
                assert_eq!(steps.file.metadata().unwrap().len(), steps.count * mix.step_bytes());
            }
            for statement in &mix.classes[0].statements {
                assert_eq!(statement.text.len(), statement.parameters.len() + 1);
                let names =
                    |value: &MixValue| matches!(value, MixValue::Field(field) if *field < mix.fields.len());
                assert!(statement.parameters.iter().all(names), "{statement:?}");
            }
        }
        assert!(test(true, 8, 7, folder.path()).unwrap_err().to_string().contains("--commits 8"));
    }

    #[test]
    fn the_first_of_each_client_are_there_or_something_is_wrong() {
        let digest = |commits: &[u64]| {
            let mut digest = StoreDigest::default();
            commits.iter().for_each(|&one| digest.add(&one.to_be_bytes(), data::value(one, 0).as_bytes()));
            digest.answer()
        };
        let there = [1, 2, data::CLIENT + 1];
        let found = read(&[2, 1], &digest(&there));
        assert_eq!((found.commits, found.troubles.len()), ([0, 1, 2, data::CLIENT + 1].into(), 0));
        let found = read(&[2, 1], &digest(&[1, 3, data::CLIENT + 1]));
        assert_eq!((found.commits.len(), found.troubles.len()), (0, 1));
    }
}
