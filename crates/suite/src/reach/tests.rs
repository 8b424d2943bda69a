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
        assert!(reaches_outside(statement, "any"), "{statement}");
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
        assert!(!reaches_outside(statement, "any"), "{statement}");
    }
}

/// True if each statement is named, with the first that is not.
#[track_caller]
fn all_reach(statements: &[&str], dialect: &str) {
    let missed = statements.iter().find(|statement| !reaches_outside(statement, dialect));
    assert_eq!(missed, None, "it is not named");
}

#[track_caller]
fn none_reach(statements: &[&str], dialect: &str) {
    let named = statements.iter().find(|statement| reaches_outside(statement, dialect));
    assert_eq!(named, None, "it is named");
}

#[test]
fn a_setting_or_a_pragma_that_is_not_known_as_harmless_is_named() {
    let reaching = [
        "SET log_query_path = '/root/.bashrc'",
        "set profile_output='x'",
        "SELECT 1; SET temp_directory = 'x'",
        "/* UPDATE t */ SET log_query_path = 'x'",
        "/* /* */ UPDATE t */ SET log_query_path = 'x'",
        "-- UPDATE t\nSET log_query_path = 'x'",
        "SET SESSION \"log_query_path\" = 'x'",
        "SET sql_mode = '', debug_dbug = 'd:o,/tmp/x'",
        "SET @@session.debug = 'd:o,/tmp/x'",
        "SET @@global.general_log_file = 'x'",
        "PRAGMA cipher_profile='/any/file'",
        "PRAGMA cipher_log='/any/file'",
        "PRAGMA main.cipher_log='/any/file'",
        "PRAGMA \"cipher_log\"='/any/file'",
        "PRAGMA /* journal_mode */ cipher_log='/any/file'",
        "PRAGMA data_store_directory = 'x'",
    ];
    all_reach(&reaching, "any");
    let harmless = [
        "SET work_mem = '64MB'",
        "SET LOCAL search_path TO a, b",
        "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET @@session.sql_mode = 'ANSI'",
        "SET @x = 1",
        "SELECT 1; SET threads = 4",
        "PRAGMA journal_mode = WAL",
        "PRAGMA main.cache_size=-2000",
        "PRAGMA table_info('t')",
        "INSERT INTO t SET a = 1, b = 2",
        "ALTER TABLE t ALTER COLUMN a SET DEFAULT 1",
        "CREATE TABLE t(a INT REFERENCES u ON DELETE SET NULL)",
        "UPDATE t SET a = 1, b = 'x'; UPDATE u SET c = 2",
    ];
    none_reach(&harmless, "any");
}

#[test]
fn a_file_that_duckdb_takes_for_a_table_is_named() {
    let reaching = [
        "SELECT count(*) FROM '/path/some.csv'",
        "SELECT * FROM \"/path/some.csv\"",
        "SELECT * FROM t, '/path/file'",
        "SELECT * FROM $$/path/file$$",
        "SELECT * FROM/**/'file'",
        "FROM 'file'",
        "SELECT * FROM cities.csv",
        "SELECT * FROM cities.\"csv\"",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM glob('*')",
        "SELECT * FROM \"glob\"('*')",
        "CALL enable_logging(storage = 'file')",
        "SELECT * FROM sqlite_scan('x', 't')",
        "CREATE SECRET s(TYPE s3)",
    ];
    all_reach(&reaching, DUCKDB);
    let harmless = [
        "SELECT a / 2 FROM t WHERE b = 'x'",
        "INSERT INTO t VALUES(1, 'forty-two')",
        "SELECT t.a FROM t JOIN \"u\" ON t.a = u.a",
    ];
    none_reach(&harmless, DUCKDB);
    none_reach(&["SELECT 1 FROM t WHERE b = 'and/or'", "SELECT 1 FROM t WHERE b GLOB 'x*'"], "sqlite");
}

#[test]
fn a_statement_that_executes_a_text_or_changes_a_server_is_named() {
    let reaching = [
        "SELECT word FROM ts_stat('SELECT 1')",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT table_to_xml_and_xmlschema('t', true, true, '')",
        "SELECT database_to_xml(true, true, '')",
        "SELECT cursor_to_xml('c', 1, true, true, '')",
        "SELECT * FROM xpath_table('a', 'b', 'c', 'd', 'e') AS t(f int)",
        "SELECT * FROM dblink_send_query('c', 'SELECT 1')",
        "SELECT * FROM crosstab('SELECT 1') AS t(a int)",
        "SELECT set_config('a', 'b', false)",
        "ALTER ROLE me SET session_preload_libraries = 'x'",
        "ALTER USER me SET search_path = x",
        "ALTER DATABASE d SET local_preload_libraries = 'x'",
        "SET session_preload_libraries = 'x'",
        "DO $update$ BEGIN EXECUTE 'COP' || 'Y'; END $update$",
        "DO '<<update>> BEGIN EXECUTE ''COP'' || ''Y''; END'",
        "DO LANGUAGE plpgsql 'BEGIN END'",
        "SET GLOBAL general_log_file = 'x'",
        "SET PERSIST log_error = 'x'",
        "CHANGE MASTER TO MASTER_HOST = 'x'",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'",
        "START SLAVE",
        "START REPLICA",
        "INSTALL SONAME 'x'",
        "CREATE SERVER s FOREIGN DATA WRAPPER w",
        "CREATE SUBSCRIPTION s CONNECTION 'host=x' PUBLICATION p",
        "EXECUTE IMMEDIATE CONCAT('SELECT 1 INTO OUT', 'FILE 1')",
        "CREATE TABLE t(a INT) DATA DIRECTORY = '/tmp'",
        "CALL sys.execute_prepared_stmt(concat('a', 'b'))",
        "DROP DATABASE production",
    ];
    all_reach(&reaching, "any");
}
