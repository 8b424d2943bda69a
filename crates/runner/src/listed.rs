//! Statements and queries that the job lists, executed outside the clock: what they mean is dyno's to say.

use std::sync::OnceLock;

use anyhow::{Error, Result, anyhow};
use dyno_protocol::{EngineRefusal, JobStatement, ReadBackAnswer, ReadBackQuery, Value};

/// The code that stands for any.
const ANY: &str = "*";

/// A connection to an engine with SQL.
pub trait JobSql {
    /// Executes a statement and returns its rows.
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>>;

    /// The engine's code, if it refused the statement; `None` for an error of the connection.
    fn code(error: &Error) -> Option<String>;
}

/// A statement of the job that the engine refused.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StatementRefused {
    /// The statement's name.
    pub name: String,
    /// The engine's code.
    pub code: String,
    message: String,
}

/// Executes the statements of a maintenance, in order.
pub fn execute<C: JobSql>(client: &C, statements: &[JobStatement]) -> Result<()> {
    statements.iter().try_for_each(|statement| {
        run(client, statement)
            .map(drop)
            .map_err(|error| refused::<C>(statement, &error, format!("cannot {}: {error:#}", statement.name)))
    })
}

/// The settings that every connection sets for itself.
#[derive(Debug)]
pub struct OnConnect {
    statements: Vec<JobStatement>,
    /// True if the first connection was refused each of them.
    refused: OnceLock<Vec<bool>>,
}

impl OnConnect {
    /// Those of a job.
    pub fn new(statements: &[JobStatement]) -> OnConnect {
        OnConnect { statements: statements.to_vec(), refused: OnceLock::new() }
    }

    /// The names of the settings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.statements.iter().map(|statement| statement.name.as_str())
    }

    /// Sets them for a connection. What the first one was refused is not tried again: it would cost each of the others
    /// an exchange that no ordinary program makes.
    pub fn apply<C: JobSql>(&self, client: &C) -> Result<()> {
        let known = self.refused.get();
        let mut refused = Vec::with_capacity(self.statements.len());
        for (place, statement) in self.statements.iter().enumerate() {
            let skip = known.is_some_and(|known| known[place]);
            refused.push(skip || set(client, statement)?);
        }
        // Two that come at once find the same.
        let _ = self.refused.set(refused);
        Ok(())
    }

    /// Sets those whose names are wanted.
    pub fn apply_some<C: JobSql>(&self, client: &C, wanted: impl Fn(&str) -> bool) -> Result<()> {
        let mut statements = self.statements.iter().filter(|statement| wanted(&statement.name));
        statements.try_for_each(|statement| set(client, statement).map(drop))
    }
}

/// Sets one setting. Returns true if the engine refused it for a reason that the job ignores.
fn set<C: JobSql>(client: &C, statement: &JobStatement) -> Result<bool> {
    run(client, statement).map_err(|error| {
        refused::<C>(statement, &error, format!("the setting '{}' is refused: {error:#}", statement.name))
    })
}

/// Executes a statement. Returns true if it was refused for a reason that the job ignores.
fn run<C: JobSql>(client: &C, statement: &JobStatement) -> Result<bool> {
    let ignored = |result: Result<()>| match result {
        Ok(()) => Ok(false),
        Err(error) => match C::code(&error) {
            Some(code) if statement.ignores.iter().any(|known| *known == code || known == ANY) => Ok(true),
            _ => Err(error),
        },
    };
    if !statement.each {
        return ignored(client.rows(&statement.sql).map(drop));
    }
    let mut refused = false;
    for row in client.rows(&statement.sql)? {
        let Some(Value::Text(sql)) = row.first() else { continue };
        refused |= ignored(client.rows(sql).map(drop))?;
    }
    Ok(refused)
}

fn refused<C: JobSql>(statement: &JobStatement, error: &Error, message: String) -> Error {
    match C::code(error) {
        Some(code) => StatementRefused { name: statement.name.clone(), code, message }.into(),
        None => anyhow!(message),
    }
}

/// Asks the job's queries. What the engine refuses is reported as that; a lost connection is an error.
pub fn read_back<C: JobSql>(client: &C, queries: &[ReadBackQuery]) -> Result<Vec<ReadBackAnswer>> {
    let answer = |ReadBackQuery { name, query }: &ReadBackQuery| {
        let (rows, refused) = match client.rows(query) {
            Ok(rows) => (rows, None),
            Err(error) => match C::code(&error) {
                Some(code) => (Vec::new(), Some(EngineRefusal { code, message: format!("{error:#}") })),
                None => return Err(error.context("cannot read the settings back")),
            },
        };
        Ok(ReadBackAnswer { name: name.clone(), rows, refused })
    };
    queries.iter().map(answer).collect()
}

/// The answer of the first of some queries that the engine does not refuse, a number; 0 if it refuses all.
pub fn first_number<C: JobSql>(client: &C, queries: &[String]) -> Result<u64> {
    for query in queries {
        match client.rows(query) {
            Ok(rows) => return Ok(rows.first().and_then(|row| row.first()).map_or(0, number)),
            Err(error) if C::code(&error).is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(0)
}

fn number(value: &Value) -> u64 {
    match value {
        Value::Integer(number) => u64::try_from(*number).unwrap_or(0),
        Value::Real(number) => *number as u64,
        Value::Text(text) => text.parse().unwrap_or(0),
        Value::Null | Value::Blob { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::bail;

    use super::*;

    /// Answers with two statements, or refuses what begins with a code.
    #[derive(Default)]
    struct Client(RefCell<Vec<String>>);

    impl JobSql for Client {
        fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
            self.0.borrow_mut().push(sql.to_owned());
            match sql {
                "two" => Ok(["a", "b"].map(|text| vec![Value::Text(text.into())]).to_vec()),
                "7" => Ok(vec![vec![Value::Integer(7)]]),
                _ if sql.starts_with("refuse") => bail!("no, says the engine"),
                _ if sql.starts_with("lose") => bail!("lost"),
                _ => Ok(Vec::new()),
            }
        }

        fn code(error: &Error) -> Option<String> {
            error.to_string().starts_with("no").then(|| "E1".to_owned())
        }
    }

    fn statement(sql: &str, ignores: &[&str]) -> JobStatement {
        let ignores = ignores.iter().map(|&code| code.to_owned()).collect();
        JobStatement {
            name: "do it".into(),
            sql: sql.into(),
            ignores,
            each: sql == "two",
            before_checks: false,
        }
    }

    #[test]
    fn each_row_of_a_query_can_be_a_statement() {
        let client = Client::default();
        execute(&client, &[statement("one", &[]), statement("two", &[])]).unwrap();
        assert_eq!(*client.0.borrow(), ["one", "two", "a", "b"]);
    }

    #[test]
    fn only_what_the_job_ignores_is_ignored() {
        let client = Client::default();
        for ignores in [&["E1"][..], &["*"]] {
            execute(&client, &[statement("refuse", ignores)]).unwrap();
        }
        let error = execute(&client, &[statement("refuse", &["E2"])]).unwrap_err();
        let refused = error.downcast_ref::<StatementRefused>().unwrap();
        assert_eq!((refused.name.as_str(), refused.code.as_str()), ("do it", "E1"));
        assert_eq!(error.to_string(), "cannot do it: no, says the engine");
        let lost = execute(&client, &[statement("lose", &["*"])]).unwrap_err();
        assert!(
            lost.downcast_ref::<StatementRefused>().is_none() && lost.to_string() == "cannot do it: lost"
        );
    }

    #[test]
    fn what_the_first_connection_was_refused_is_not_tried_again() {
        let settings = OnConnect::new(&[statement("refuse", &["E1"]), statement("fine", &[])]);
        let (first, second) = (Client::default(), Client::default());
        settings.apply(&first).unwrap();
        settings.apply(&second).unwrap();
        assert_eq!(*first.0.borrow(), ["refuse", "fine"]);
        assert_eq!(*second.0.borrow(), ["fine"]);
    }

    #[test]
    fn rows_are_reported_as_they_are_and_refusals_as_such() {
        let query = |query: &str| ReadBackQuery { name: query.into(), query: query.into() };
        let answers = read_back(&Client::default(), &[query("7"), query("refuse")]).unwrap();
        assert_eq!(answers[0].rows, [[Value::Integer(7)]]);
        assert_eq!(answers[1].refused.as_ref().unwrap().code, "E1");
        assert!(read_back(&Client::default(), &[query("lose")]).is_err());
    }

    #[test]
    fn the_first_query_that_is_not_refused_counts() {
        let queries = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(first_number(&Client::default(), &queries(&["refuse", "7", "lose"])).unwrap(), 7);
        assert_eq!(first_number(&Client::default(), &queries(&["refuse"])).unwrap(), 0);
    }
}
