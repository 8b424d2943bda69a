//! The model `mix`: queries of a client, which sqlx keeps prepared or has parsed at each execution.

use anyhow::{Error, Result};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, Values, statements};
use dyno_runner::{JobSql, quote};
use dyno_runner_crates::sqlite;
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

use crate::flavour::Flavour;
use crate::session::Session;

/// The queries of a session.
pub struct Statements<'s, D: Flavour> {
    session: &'s Session<D>,
    queries: Vec<MixedQuery>,
}

/// A query of a class: its text, by which sqlx finds what it keeps prepared.
struct MixedQuery {
    sql: SqlStr,
    /// Where the value of each parameter comes from, and the number of its type.
    parameters: Vec<(MixValue, Option<u32>)>,
    /// False if it is parsed at each execution.
    is_kept: bool,
}

impl<'s, D: Flavour> Statements<'s, D> {
    /// Prepares all queries of a mix, whose parameters then have types.
    pub fn prepare(session: &'s Session<D>, mix: &MixWork) -> Result<Statements<'s, D>> {
        if let Some(sql) = D::patience(mix.shortest_patience()) {
            session.rows(&sql)?;
        }
        let mut all = statements(mix, D::placeholder);
        // Those that are not to be kept are asked for their types and forgotten, before the others are prepared.
        let mut queries: Vec<Option<MixedQuery>> = all.iter().map(|_| None).collect();
        for is_kept in [false, true] {
            let wanted = all.iter_mut().zip(&mut queries).filter(|(one, _)| one.is_simple != is_kept);
            for (one, query) in wanted {
                let sql = AssertSqlSafe(one.sql.clone()).into_sql_str();
                let kinds = session.with_connection(async |connection| {
                    let prepared = D::prepare(connection, sql.clone()).await;
                    prepared.map_err(|error| D::said(error).context(quote(sql.as_str())))
                })?;
                let places = one.parameters.drain(..).enumerate();
                let parameters = places.map(|(place, source)| (source, kinds.get(place).copied())).collect();
                *query = Some(MixedQuery { sql, parameters, is_kept });
            }
            if !is_kept && queries.iter().any(Option::is_some) {
                session.with_connection(async |connection| D::forget(connection).await.map_err(D::said))?;
            }
        }
        Ok(Statements { session, queries: queries.into_iter().flatten().collect() })
    }
}

impl<D: Flavour> Prepared for Statements<'_, D> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let MixedQuery { sql, parameters, is_kept } = &self.queries[statement];
        let mut arguments = D::Arguments::default();
        for &(source, kind) in parameters {
            D::add(&mut arguments, values.get(source), kind).map_err(D::said)?;
        }
        let query = D::keep(sqlx::query_with(sql.clone(), arguments), *is_kept);
        self.session.fetch(query, sink).map(drop)
    }

    fn begin(&mut self, purpose: Purpose) -> Result<()> {
        self.session.command(D::begin(purpose))
    }

    fn commit(&mut self) -> Result<()> {
        self.session.command("COMMIT")
    }

    fn rollback(&mut self) -> Result<()> {
        sqlite::rolled_back(self.session.command("ROLLBACK"))
    }

    fn is_retryable(&self, error: &Error) -> bool {
        D::is_retryable(error)
    }

    fn has_code(&self, error: &Error, wanted: &str) -> bool {
        D::has_code(error, wanted)
    }
}
