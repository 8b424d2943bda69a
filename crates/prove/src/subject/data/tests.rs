//! Rows of commits, whole and damaged.

use super::*;

fn row(commit: i64, part: i64) -> Vec<Value> {
    let text = value(commit as u64, part as u64);
    vec![Value::Integer(commit), Value::Integer(part), Value::Text(text)]
}

#[test]
fn whole_commits_are_found_and_halves_are_reported() {
    let found = read_rows(&[row(0, 0), row(0, 1), row(2, 0), row(2, 1)], PARTS);
    assert_eq!(found, Contents { commits: [0, 2].into(), ..Contents::default() });
    let found = read_rows(&[row(0, 0), row(0, 1), row(1, 1)], PARTS);
    assert_eq!((found.commits, found.troubles.len()), ([0].into(), 1));
    let found = read_rows(&[row(5 * CLIENT as i64 + 13, 0)], PARTS);
    assert_eq!(found.troubles, ["commit 13 of client 6 has 1 rows of 2"]);
    let found = read_rows(&[row(0, 0), row(1, 0)], ONE);
    assert_eq!(found, Contents { commits: [0, 1].into(), ..Contents::default() });
    assert_eq!(statements(1, ONE).len() + 3, statements(1, PARTS).len());
    let mut wrong = row(0, 1);
    wrong[2] = Value::Text("torn".to_owned());
    assert_eq!(read_rows(&[row(0, 0), wrong], PARTS).troubles.len(), 1);
    assert_eq!(read_rows(&[row(0, 0), row(0, 1), row(0, 1)], PARTS).troubles.len(), 2);
}

#[test]
fn balances_are_what_the_transfers_come_to() {
    let commits = [0, 1, 2, CLIENT + 1];
    let mut balances = vec![0; ACCOUNTS as usize];
    for commit in &commits[1..] {
        let (from, to, sum) = transfer(*commit);
        balances[from as usize] -= sum;
        balances[to as usize] += sum;
    }
    let row = |(id, sum): (usize, &i64)| vec![Value::Integer(id as i64), Value::Integer(*sum)];
    let mut rows: Vec<Vec<Value>> = balances.iter().enumerate().map(row).collect();
    let mut found = Contents { commits: commits.into(), ..Contents::default() };
    read_balances(&rows, &mut found);
    assert_eq!(found.troubles, [""; 0]);
    rows[transfer(1).0 as usize][1] = Value::Text("0".to_owned());
    read_balances(&rows, &mut found);
    assert_eq!(found.troubles.len(), 1);
    let statements = shared(7, "BEGIN IMMEDIATE");
    assert_eq!((statements.len(), statements[0].as_str()), (6, "BEGIN IMMEDIATE"));
    assert_eq!(statements[5], "COMMIT");
}

#[test]
fn a_digest_shows_how_many_commits_are_there() {
    let digest = |commits: &[u64]| {
        let mut digest = StoreDigest::default();
        commits.iter().for_each(|&commit| digest.add(&commit.to_be_bytes(), value(commit, 0).as_bytes()));
        digest.answer()
    };
    assert_eq!(read_digest(&digest(&[])).commits, [0].into());
    assert_eq!(read_digest(&digest(&[1, 2])).commits, [0, 1, 2].into());
    assert_eq!(read_digest(&digest(&[1, 3])).troubles.len(), 1);
}
