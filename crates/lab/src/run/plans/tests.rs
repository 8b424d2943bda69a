use dyno_protocol::{MixClass, StepField, StepFile};

use super::*;

#[test]
fn one_statement_of_each_shape_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("1.sql");
    let work = |text: &str| {
        fs::write(&file, text).unwrap();
        reads(&Work::Statements { file: file.clone(), count: 1 }).unwrap()
    };
    let three = "BEGIN\0SELECT a FROM t WHERE b='x1'\0SELECT a FROM t WHERE b='it''s'\0select 17\0COMMIT\0";
    assert_eq!(work(three), ["SELECT a FROM t WHERE b='x1'", "select 17"]);
    assert_eq!(work("SELECT 1\0SELECT 25\0"), ["SELECT 1"]);
    // A digit of a name is no value.
    assert_eq!(work("SELECT a FROM t1\0SELECT a FROM t2\0").len(), 2);
    // The rows that it read have changed since.
    assert!(work("SELECT 1\0DELETE FROM t\0").is_empty());
    assert!(work("SELECT a INTO u FROM t\0").is_empty());
    assert!(work("WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d\0").is_empty());
}

#[test]
fn rows_of_a_plan_become_lines() {
    let text = |text: &str| Value::Text(text.into());
    let row = |number, above, detail| {
        vec![Value::Integer(number), Value::Integer(above), Value::Integer(0), text(detail)]
    };
    let rows = [row(2, 0, "COMPOUND"), row(3, 2, "SCAN t"), row(9, 0, "SEARCH u")];
    assert_eq!(indented(&rows), ["COMPOUND", "  SCAN t", "SEARCH u"]);
    assert_eq!(lines_of_last(&[vec![text("a\nb")], vec![text("c")]]), ["a", "b", "c"]);
    assert_eq!(joined(&[vec![Value::Integer(1), Value::Null, text("ALL")]]), ["1 | – | ALL"]);
}

#[test]
fn positions_count_the_jobs_own_tests() {
    let added = |test: &str| Some((test.to_owned(), "SELECT 1".to_owned()));
    let plans = PlanTests { added: vec![None, added("1"), added("1"), None, None] };
    let own: Vec<Option<usize>> = (0..5).map(|position| plans.own(position)).collect();
    assert_eq!(own, [Some(0), None, None, Some(1), Some(2)]);
    assert_eq!(PlanTests::default().own(3), Some(3));
}

#[test]
fn a_mixs_statement_has_the_values_of_a_step_of_its_class() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("steps");
    let step = |class: u64, id: i64, name: &str| {
        let mut step = [0_u64.to_le_bytes(), class.to_le_bytes(), id.to_le_bytes()].concat();
        step.extend((name.len() as u64).to_le_bytes());
        step.extend(name.as_bytes());
        step.resize(40, 0);
        step
    };
    std::fs::write(&file, [step(1, 3, "a"), step(0, -7, "it's")].concat()).unwrap();
    let field = |kind, bytes| StepField { name: "f".into(), kind, bytes };
    let statement = |text: &[&str], parameters: &[MixValue]| MixStatement {
        text: text.iter().map(|&piece| piece.to_owned()).collect(),
        parameters: parameters.to_vec(),
        ..MixStatement::default()
    };
    let statements = vec![
        statement(&["SELECT a FROM t WHERE b=", " AND c=", ""], &[MixValue::Field(0), MixValue::Field(1)]),
        statement(&["UPDATE t SET a=", ""], &[MixValue::Field(0)]),
        statement(&["SELECT d FROM t WHERE e=", ""], &[MixValue::Row { statement: 0, column: 0 }]),
    ];
    let mix = MixWork {
        classes: vec![MixClass { statements, ..MixClass::default() }],
        fields: vec![field(StepKind::Integer, 8), field(StepKind::VaryingText, 16)],
        steps: vec![StepFile { file, count: 2 }],
        ..MixWork::default()
    };
    let reads = reads(&Work::Mix(mix)).unwrap();
    assert_eq!(reads, ["SELECT a FROM t WHERE b=-7 AND c='it''s'"]);
}
