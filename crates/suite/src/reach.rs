//! Finds statements that reach outside of their database: to files, libraries, programs or other servers.
//!
//! The check is for suites from elsewhere, so it may name a harmless statement but must miss no harmful one. Therefore
//! it looks only at words, wherever they are: quotes and comments hide nothing, and a statement that makes another
//! statement of a text is named as well.

use std::collections::BTreeSet;

use super::Rendered;

/// Words of which one is enough, in lower case.
const WORDS: [&str; 41] = [
    // SQLite.
    "attach",
    "fts3_tokenizer",
    "load_extension",
    "readfile",
    "writefile",
    // PostgreSQL.
    "dblink",
    "dblink_connect",
    "dblink_exec",
    "lo_export",
    "lo_import",
    "pg_execute_server_program",
    "pg_ls_dir",
    "pg_read_binary_file",
    "pg_read_file",
    "pg_stat_file",
    "plpythonu",
    "plpython3u",
    "plperlu",
    // MariaDB and MySQL.
    "dumpfile",
    "federated",
    "infile",
    "load_file",
    "outfile",
    "soname",
    // H2, HSQLDB and Derby, within the runner's own process. A trigger or an alias is a class of Java or its source.
    "alias",
    "backup",
    "csvread",
    "csvwrite",
    "file_read",
    "file_write",
    "link_schema",
    "linked",
    "runscript",
    "script",
    "sqlj",
    // Of several. PREPARE makes a statement of a text in MySQL.
    "install",
    "load",
    "prepare",
    "program",
    "xp_cmdshell",
    "plperl",
];

/// Words that do so together, in this order, in lower case.
const PAIRS: [[&str; 2]; 20] = [
    ["alter", "system"],
    ["copy", "from"],
    ["copy", "to"],
    ["create", "extension"],
    ["create", "function"],
    ["create", "language"],
    ["create", "procedure"],
    ["create", "server"],
    ["create", "subscription"],
    ["execute", "immediate"],
    ["engine", "connect"],
    ["export", "database"],
    ["import", "database"],
    ["install", "component"],
    ["set", "global"],
    ["vacuum", "into"],
    ["create", "aggregate"],
    ["set", "source"],
    ["trigger", "as"],
    ["trigger", "call"],
];

/// The words after a DO that begins no block of PostgreSQL's: `ON CONFLICT DO NOTHING`.
const AFTER_DO: [&str; 2] = ["nothing", "update"];

/// The beginnings of names of functions that read files, in lower case.
const PREFIXES: [&str; 7] = ["read_", "xp_", "pg_read_", "pg_ls_", "dblink_", "parquet_", "syscs_"];

/// True if a statement may reach outside of its database.
pub fn reaches_outside(statement: &str) -> bool {
    let statement = statement.to_ascii_lowercase();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = statement.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).peekable();
    let (mut seen, mut is_named) = (BTreeSet::new(), false);
    while let Some(word) = words.next() {
        is_named |= WORDS.contains(&word) || PREFIXES.iter().any(|prefix| word.starts_with(prefix));
        is_named |= PAIRS.iter().any(|[first, second]| *second == word && seen.contains(first));
        is_named |= word == "do" && !words.peek().is_some_and(|next| AFTER_DO.contains(next));
        // Few words are different in a statement of data, so this stays small; numbers are no words.
        if !word.starts_with(|first: char| first.is_ascii_digit()) {
            seen.insert(word);
        }
    }
    // PostgreSQL's spelling of names by numbers hides their words; a pragma may set a folder or a key.
    is_named || statement.contains("u&\"") || (seen.contains("pragma") && statement.contains("_directory"))
}

impl Rendered {
    /// Those of its statements that may reach outside of their database.
    pub fn reaching_outside(&self) -> Vec<&str> {
        let classes = self.classes.iter().flat_map(|class| &class.statements);
        let pieces = classes.flat_map(|statement| &statement.text);
        let own = [&self.setup, &self.index, &self.statements].into_iter().flatten().chain(&self.check);
        // The pieces of one statement surround its parameters, which are values and no words.
        own.chain(pieces).map(String::as_str).filter(|text| reaches_outside(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_outside_is_named_however_it_is_written() {
        for statement in [
            "ATTACH DATABASE '/etc/x.db' AS x",
            "attach/**/'x' as x",
            "VACUUM INTO '/tmp/x'",
            "SELECT load_extension('./evil')",
            "SELECT \"load_extension\"('./evil')",
            "COPY t TO PROGRAM 'sh'",
            "COPY t FROM '/etc/passwd'",
            "copy (select 1) to '/tmp/x'",
            "LOAD 'evil'",
            "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "SELECT 1 INTO /*!50000 DUMPFILE */ '/tmp/x'",
            "SELECT lo_import('/etc/passwd')",
            "SELECT U&\"lo\\005fimport\"('/etc/passwd')",
            "CREATE OR REPLACE FUNCTION f() RETURNS int AS 'evil', 'f' LANGUAGE C",
            "CREATE FUNCTION f RETURNS STRING SONAME 'evil.so'",
            "/* nothing */ DO $$ BEGIN EXECUTE 'COPY t TO ' || 'PROGRAM'; END $$",
            "PREPARE s FROM CONCAT('SELECT 1 INTO OUT', 'FILE 1')",
            "EXECUTE IMMEDIATE 'x'",
            "EXEC xp_cmdshell 'dir'",
            "INSTALL PLUGIN x SONAME 'evil.so'",
            "INSTALL httpfs",
            "SELECT * FROM read_csv('/etc/passwd')",
            "PRAGMA temp_store_directory = '/x'",
            "ALTER SYSTEM SET archive_command = 'x'",
            "CREATE ALIAS f AS 'void f() throws Exception { Runtime.getRuntime().exec(\"sh\"); }'",
            "CREATE TRIGGER t AFTER INSERT ON a CALL \"evil.Trigger\"",
            "CALL CSVWRITE('/tmp/x', 'SELECT 1')",
            "SELECT FILE_READ('/etc/passwd')",
            "SET TABLE t SOURCE '/etc/passwd'",
            "CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY('VALUES 1', '/tmp/x', null, null, null)",
            "CALL SQLJ.INSTALL_JAR('/tmp/x.jar', 'a.b', 0)",
        ] {
            assert!(reaches_outside(statement), "{statement}");
        }
    }

    #[test]
    fn ordinary_work_is_not_named() {
        for statement in [
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)",
            "INSERT INTO t VALUES(1, 'forty-two'), (2, 'hundred')",
            "INSERT INTO t VALUES(1) ON CONFLICT(a) DO UPDATE SET b = 'x'",
            "INSERT INTO t VALUES(1) ON CONFLICT DO NOTHING",
            "SELECT count(*) FROM t WHERE b LIKE '%three%'",
            "UPDATE t SET a = a + 1 WHERE b = 'x'",
            "BEGIN",
            "PRAGMA integrity_check",
            "CREATE INDEX i ON t(a)",
            "VACUUM",
        ] {
            assert!(!reaches_outside(statement), "{statement}");
        }
    }
}
