//! The parts of a table that one in its place would not have.

use anyhow::Result;
use dyno_client::postgres::Connection;

use super::catalog::texts;
use super::statements::Place;

/// The first version with statistics of several columns and publications, as libpq numbers versions.
const EXTENDED: i32 = 100_000;

/// Lists the parts of a table that one in its place would not have, sorted.
pub fn losses(connection: &Connection, place: &Place) -> Result<Vec<String>> {
    let table = format!("'{}'::regclass", place.quoted().replace('\'', "''"));
    let mut parts = [of_others(&table), of_columns(&table), of_table(&table)].concat();
    if connection.server_version() >= EXTENDED {
        parts.extend(of_later_versions(&table));
    }
    let mut losses = texts(connection, &parts.join(" UNION ALL "))?;
    losses.sort();
    Ok(losses)
}

/// Queries for what others have made for the table.
fn of_others(table: &str) -> Vec<String> {
    vec![
        format!("SELECT 'index ' || indexrelid::regclass FROM pg_index WHERE indrelid = {table}"),
        format!(
            "SELECT 'constraint ' || conname FROM pg_constraint WHERE conrelid = {table} \
             AND contype NOT IN ('p', 'u', 'n')"
        ),
        format!("SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = {table} AND NOT tgisinternal"),
        format!(
            "SELECT 'rule ' || rulename FROM pg_rewrite WHERE ev_class = {table} AND rulename <> '_RETURN'"
        ),
        format!("SELECT 'policy ' || polname FROM pg_policy WHERE polrelid = {table}"),
        format!("SELECT 'partition ' || inhrelid::regclass FROM pg_inherits WHERE inhparent = {table}"),
        format!("SELECT 'the place in ' || inhparent::regclass FROM pg_inherits WHERE inhrelid = {table}"),
        format!(
            "SELECT 'comments' WHERE EXISTS (SELECT FROM pg_description \
             WHERE objoid = {table} AND classoid = 'pg_class'::regclass)"
        ),
        format!(
            "SELECT 'privileges of ' || string_agg(DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' \
             ELSE grantee::regrole::text END, ' and ') FROM pg_class, aclexplode(relacl) \
             WHERE oid = {table} AND grantee <> relowner HAVING count(*) > 0"
        ),
    ]
}

/// Queries for properties of columns.
fn of_columns(table: &str) -> Vec<String> {
    let of = |what: &str, condition: &str| {
        format!(
            "SELECT '{what} ' || string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute a \
             WHERE attrelid = {table} AND attnum > 0 AND NOT attisdropped AND {condition} HAVING count(*) > 0"
        )
    };
    vec![
        of(
            "NOT NULL of",
            "attnotnull AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid \
             AND indisprimary AND attnum = ANY (indkey))",
        ),
        of("the default of", "(atthasdef OR coalesce(to_jsonb(a) ->> 'attidentity', '') <> '')"),
        of("privileges on the columns", "cardinality(attacl) > 0"),
        of("the collation of", "attcollation <> (SELECT typcollation FROM pg_type WHERE oid = atttypid)"),
        of("the storage of", "attstorage <> (SELECT typstorage FROM pg_type WHERE oid = atttypid)"),
        of("the compression of", "coalesce(to_jsonb(a) ->> 'attcompression', '') <> ''"),
        // It is NULL since version 17, where it was -1.
        of("the statistics target of", "coalesce(attstattarget, -1) <> -1"),
        of("the options of", "attoptions IS NOT NULL"),
    ]
}

/// Queries for properties of the table itself.
fn of_table(table: &str) -> Vec<String> {
    let of = |what: &str, condition: &str| {
        format!("SELECT {what} FROM pg_class WHERE oid = {table} AND {condition}")
    };
    vec![
        of("'the owner ' || pg_get_userbyid(relowner)", "pg_get_userbyid(relowner) <> current_user"),
        of("'row security'", "(relrowsecurity OR relforcerowsecurity)"),
        of("'UNLOGGED'", "relpersistence = 'u'"),
        of("'the replica identity'", "relreplident <> 'd'"),
        of("'the options ' || array_to_string(reloptions, ', ')", "reloptions IS NOT NULL"),
        format!(
            "SELECT 'the tablespace ' || spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace \
             WHERE c.oid = {table}"
        ),
    ]
}

/// Queries for what servers before version 10 do not have.
fn of_later_versions(table: &str) -> [String; 2] {
    [
        format!("SELECT 'statistics ' || stxname FROM pg_statistic_ext WHERE stxrelid = {table}"),
        format!(
            "SELECT 'the publication ' || pubname FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid \
             WHERE prrelid = {table}"
        ),
    ]
}
