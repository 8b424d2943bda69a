//! The words by which a statement that reaches outside of its database is known, in lower case.

/// Words of which one is enough.
pub const WORDS: [&str; 67] = [
    // SQLite.
    "attach",
    "eval",
    "fsdir",
    "fts3_tokenizer",
    "load_extension",
    "readfile",
    "swarmvtab",
    "vsv",
    "writefile",
    "zipfile",
    // PostgreSQL. Those from set_config on execute a text, or set what it names.
    "lo_export",
    "lo_import",
    "pg_execute_server_program",
    "pg_reload_conf",
    "pg_stat_file",
    "plpythonu",
    "plpython3u",
    "plperlu",
    "set_config",
    "connectby",
    "ts_rewrite",
    "ts_stat",
    "xpath_table",
    // MariaDB and MySQL.
    "binlog",
    "datafile",
    "dumpfile",
    "federated",
    "federatedx",
    "infile",
    "load_file",
    "logfile",
    "outfile",
    "shutdown",
    "soname",
    "spider",
    // DuckDB. The last three execute a text or read a table that a text names.
    "enable_logging",
    "getenv",
    "sniff_csv",
    "json_execute_serialized_sql",
    "query",
    "query_table",
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
    // CockroachDB.
    "changefeed",
    "restore",
    // Of several. PREPARE makes a statement of a text in MySQL, and CALL may execute one.
    "call",
    "install",
    "load",
    "plperl",
    "prepare",
    "program",
    "tablespace",
    "xp_cmdshell",
    // PostgreSQL's languages and wrappers.
    "file_fdw",
    "mysql_fdw",
    "plsh",
    "pltclu",
    "postgres_fdw",
];

/// Words that do so together, in this order.
pub const PAIRS: [[&str; 2]; 48] = [
    ["alter", "database"],
    ["alter", "role"],
    ["alter", "system"],
    ["alter", "user"],
    ["change", "master"],
    ["change", "replication"],
    ["clone", "instance"],
    ["clone", "local"],
    ["copy", "from"],
    ["copy", "to"],
    ["create", "aggregate"],
    ["create", "extension"],
    ["create", "function"],
    ["create", "language"],
    ["create", "procedure"],
    ["create", "role"],
    ["create", "secret"],
    ["create", "server"],
    ["create", "subscription"],
    ["create", "user"],
    ["data", "directory"],
    ["drop", "database"],
    ["drop", "role"],
    ["drop", "user"],
    ["engine", "connect"],
    ["engine", "csv"],
    ["engine", "s3"],
    ["execute", "immediate"],
    ["export", "database"],
    ["export", "into"],
    ["foreign", "table"],
    ["foreign", "wrapper"],
    ["import", "database"],
    ["import", "foreign"],
    ["index", "directory"],
    ["install", "component"],
    ["set", "global"],
    ["set", "persist"],
    ["set", "persist_only"],
    ["set", "source"],
    ["start", "group_replication"],
    ["start", "replica"],
    ["start", "slave"],
    ["trigger", "as"],
    ["trigger", "call"],
    ["update", "extensions"],
    ["vacuum", "into"],
    ["virtual", "csv"],
];

/// The beginnings of names of functions that read files, execute a text or load a library.
pub const PREFIXES: [&str; 12] = [
    "crosstab",
    "dblink",
    "parquet_",
    "pg_create_logical",
    "pg_file_",
    "pg_logical_",
    "pg_ls_",
    "pg_read_",
    "pg_replication_",
    "read_",
    "syscs_",
    "xp_",
];

/// Parts of names: of PostgreSQL's functions that execute a text to make XML, of its settings that load libraries, and of
/// DuckDB's functions that open databases of other engines.
pub const PARTS: [&str; 5] = ["_to_xml", "preload_libraries", "_scan", "_attach", "_query"];

/// The words after a DO that begins no block of PostgreSQL's: `ON CONFLICT DO NOTHING`.
pub const AFTER_DO: [&str; 2] = ["nothing", "update"];

/// The words after which DuckDB takes a string for the name of a file with a table.
pub const TABLES: [&str; 6] = ["describe", "from", "join", "pivot", "summarize", "table"];

/// The ends of names of files that DuckDB takes for tables, also where they are not quoted: `FROM cities.csv`.
pub const FILES: [&str; 11] =
    [".avro", ".csv", ".geojson", ".gpkg", ".gz", ".json", ".ndjson", ".parquet", ".shp", ".tsv", ".xlsx"];
