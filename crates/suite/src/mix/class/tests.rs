use std::collections::BTreeSet;
use std::path::Path;

use dyno_record::Parameters;

use super::*;

fn rendered(statements: &str) -> Result<RenderedClass> {
    let text = format!(
        r#"name = "x"
title = "X"
story = ""
contenders = ["sqlite"]
[[test]]
id = "1"
title = "T"
shows = ""
model = "mix"
count = 1
check = "SELECT 1"
values.id = {{ from = 1, to = 9 }}
lists.line = {{ count = {{ from = 1, to = 3 }}, values.item = {{ from = 1, to = 9 }} }}
[[test.class]]
name = "c"
transaction = "write"
rollback = "id"
statements = """
{statements}
"""
"#
    );
    let suite = Suite::parse(text, Path::new("x.toml"), &BTreeSet::from(["sqlite".to_owned()]))?;
    let mut tests = suite.render(&Parameters::default(), "sqlite")?;
    Ok(tests.remove(0).classes.remove(0))
}

#[test]
fn rows_are_kept_and_statements_repeated() {
    let class = rendered(
        "person(name, age) = SELECT name, age FROM person WHERE id = :id;\nfor each line:\n  \
         maybe?(price) = SELECT price FROM item WHERE id = :line.item;\n  \
         INSERT INTO l VALUES(:line.item, :maybe.price, :person.age);\nend;\n\
         UPDATE person SET name = :person.name WHERE id = 1;\nfor each person:\n  SELECT :person.age;\nend",
    )
    .unwrap();
    let keeps: Vec<Option<MixRows>> = class.statements.iter().map(|one| one.keeps).collect();
    assert_eq!(keeps[0], Some(MixRows { columns: 2, all: true, may_miss: false }));
    assert_eq!(keeps[1], Some(MixRows { columns: 1, all: false, may_miss: true }));
    assert_eq!(keeps[2..], [None, None, None]);
    let item = || Parameter::Item("line".into(), "item".into());
    assert_eq!(class.statements[2].parameters, [item(), Parameter::Row(1, 0), Parameter::Row(0, 1)]);
    assert_eq!(class.statements[1].text, ["SELECT price FROM item WHERE id = ", ""]);
    let list = Repeated { first: 1, count: 2, over: Repeat::List("line".into()) };
    assert_eq!(class.loops, [list, Repeated { first: 4, count: 1, over: Repeat::Rows(0) }]);
    assert_eq!(class.rollback.as_deref(), Some("id"));
}

#[test]
fn what_comes_from_nowhere_is_reported_with_its_line() {
    for (statements, said) in [
        (
            "SELECT 1;\nSELECT :person.age;",
            "x.toml:20: test 1: class c: the parameter :person.age has no source",
        ),
        (
            "person(age) = SELECT 1;\nSELECT :person.name;",
            "20: test 1: class c: the parameter :person.name has no source: person has no column 'name'",
        ),
        (
            "c(n) = SELECT n FROM t\nUPDATE t SET n = :c.n;",
            "Does the line before `UPDATE t SET n = :c.n` lack a `;` at its end?",
        ),
        ("SELECT :line.item;", "write the statement between `for each line:` and `end`"),
        ("for each line:\nSELECT :line.itme;\nend;", "line has no column 'itme'; did you mean item?"),
        ("for each lime:\nSELECT 1;\nend;", "named 'lime'; did you mean line?"),
        (
            "for each line:\na(b) = SELECT 1;\nend;\nSELECT :a.b;",
            "x.toml:22: test 1: class c: the parameter :a.b",
        ),
        ("for each line:\nSELECT 1;", "`for each line:` has no `end`"),
        ("SELECT 1;\nend;", "x.toml:20: test 1: class c: `end` ends no"),
        ("for each line:\nend;", "nothing is repeated"),
        ("line(a) = SELECT 1;", "two lists or rows of the name line"),
        ("a(B) = SELECT 1;", "the columns of a are names"),
        ("SELECT :idd;", "no [test.values] has a source for the parameter 'idd'"),
    ] {
        let error = rendered(statements).unwrap_err().to_string();
        assert!(error.contains(said), "{statements}: {error}");
    }
}
