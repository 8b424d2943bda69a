/* A program as a careful C programmer would write it by hand to put rows, or keys and values, into SQLite by prepared
** statements, to look keys up and to scan a table, and to know how long each takes. dyno's own time is measured
** against this program's.
**
**     prepared [turns] DIRECTORY [NAME=VALUE ...] -- TEST ...
**
** Each NAME=VALUE becomes a PRAGMA, but for `database`, which says where it is. A test is one of cells.h, where keys
** of 8 bytes are whole numbers, or one of
**
**     rows TABLE SETUP COLUMNS NAME ... FILE WIDTH ...
**     query SQL
**
** For each test one line is printed, as by reference.c; or it is done in slices, as turns.h says.
*/
#include "sqlite.h"
#include "cells.h"
#include "turns.h"

static sqlite3 *db;

static void check(int code, const char *what) {
  if (code != SQLITE_OK) die(what, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *stmt;
  check(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), sql);
  return stmt;
}

static inline void step(sqlite3_stmt *stmt) {
  int code = sqlite3_step(stmt);
  if (sqlite3_reset(stmt) != SQLITE_OK || code != SQLITE_DONE) die("step", sqlite3_errmsg(db));
}

static inline void bind_key(sqlite3_stmt *stmt, Cells keys, size_t i) {
  const unsigned char *key = cell(keys, i);
  uint64_t number;
  if (keys.width != 8) {
    check(sqlite3_bind_blob(stmt, 1, key, (int)keys.width, SQLITE_STATIC), "bind");
    return;
  }
  memcpy(&number, key, 8);
  check(sqlite3_bind_int64(stmt, 1, (sqlite3_int64)__builtin_bswap64(number)), "bind");
}

/* Reads everything, as dyno does after it has put: what is in the cache when the next test begins is the same. */
static void read_back(const char *table, const char *order) {
  char sql[256];
  snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"%s", table, order);
  sqlite3_stmt *stmt = prepare(sql);
  while (sqlite3_step(stmt) == SQLITE_ROW) sqlite3_column_blob(stmt, sqlite3_column_count(stmt) - 1);
  check(sqlite3_finalize(stmt), sql);
}

static void put(const Test *test, size_t from, size_t to, size_t per_commit, int timed) {
  char sql[256];
  snprintf(sql, sizeof sql, "INSERT INTO \"%s\"(k, v) VALUES(?1, ?2)", test->store);
  sqlite3_stmt *insert = prepare(sql), *start = prepare("BEGIN"), *commit = prepare("COMMIT");
  while (from < to) {
    size_t last = per_commit && to - from > per_commit ? from + per_commit : to;
    if (per_commit != 1) step(start);
    while (from < last)
      for (size_t stop = from + (timed ? take(last - from) : last - from); from < stop; from++) {
        bind_key(insert, test->keys, from);
        check(sqlite3_bind_blob(insert, 2, cell(test->values, from), (int)test->values.width, SQLITE_STATIC), "bind");
        step(insert);
      }
    if (per_commit != 1) step(commit);
  }
  sqlite3_finalize(insert);
  sqlite3_finalize(start);
  sqlite3_finalize(commit);
}

static void get(const Test *test) {
  char sql[256];
  size_t bytes = 0;
  const void *volatile found;
  snprintf(sql, sizeof sql, "SELECT v FROM \"%s\" WHERE k = ?1", test->store);
  begin_test(test->keys.count);
  sqlite3_stmt *select = prepare(sql);
  for (size_t i = 0; i < test->keys.count;)
    for (size_t stop = i + take(test->keys.count - i); i < stop; i++) {
      bind_key(select, test->keys, i);
      int code = sqlite3_step(select);
      if (code == SQLITE_ROW) {
        found = sqlite3_column_blob(select, 0);
        bytes += sqlite3_column_bytes(select, 0);
      } else if (code != SQLITE_DONE) die(sql, sqlite3_errmsg(db));
      sqlite3_reset(select);
    }
  sqlite3_finalize(select);
  end_test();
  (void)found;
  if (bytes == 0) die(test->store, "nothing found");
}

static char **run_pairs(char **argument, char **last) {
  Test test;
  char sql[256];
  char **next = next_test(argument, last, &test);
  const char *kind = test.keys.width == 8 ? "INTEGER" : "BLOB";
  snprintf(sql, sizeof sql, "CREATE TABLE IF NOT EXISTS \"%s\"(k %s PRIMARY KEY, v BLOB)", test.store, kind);
  execute(db, sql, -1);
  if (strcmp(test.what, "get") == 0) get(&test);
  else {
    begin_test(test.timed);
    put(&test, 0, test.timed, test.per_commit, 1);
    end_test();
    put(&test, test.timed, test.keys.count, 0, 0);
    read_back(test.store, " ORDER BY k");
  }
  unmap(test.keys);
  unmap(test.values);
  return next;
}

static void insert(const char *sql, Rows rows) {
  sqlite3_stmt *insert = prepare(sql), *start = prepare("BEGIN"), *commit = prepare("COMMIT");
  const char *at = rows.cells;
  for (size_t row = 0; row < rows.count;)
    for (size_t stop = row + take(rows.count - row); row < stop; row++) {
      for (int i = 0; i < rows.columns; i++) {
        check(sqlite3_bind_text(insert, i + 1, at, (int)rows.widths[i], SQLITE_STATIC), "bind");
        at += rows.widths[i];
      }
      if (row == 0) step(start);
      step(insert);
    }
  if (rows.count) step(commit);
  sqlite3_finalize(insert);
  sqlite3_finalize(start);
  sqlite3_finalize(commit);
}

static char **run_rows(char **argument, char **last) {
  char sql[2048];
  int columns = last - argument < 6 ? 0 : atoi(argument[3]);
  char **names = argument + 4, **file = names + columns;
  if (columns < 1 || last - file <= columns) die("rows", "arguments are missing");
  Rows rows = load_rows(file, columns + 1);
  int length = snprintf(sql, sizeof sql, "INSERT INTO \"%s\"(", argument[1]);
  for (int i = 0; i < columns; i++)
    length += snprintf(sql + length, sizeof sql - length, "%s\"%s\"", i ? "," : "", names[i]);
  length += snprintf(sql + length, sizeof sql - length, ") VALUES(");
  for (int i = 0; i < columns; i++) length += snprintf(sql + length, sizeof sql - length, i ? ",?" : "?");
  snprintf(sql + length, sizeof sql - length, ")");
  execute(db, argument[2], -1);
  begin_test(rows.count);
  insert(sql, rows);
  end_test();
  munmap((void *)rows.cells, rows.count * rows.width);
  read_back(argument[1], "");
  return file + columns + 1;
}

static char **run_query(char **argument, char **last) {
  if (last - argument < 2) die("query", "no statement");
  used = 0;
  begin_test(1);
  execute(db, argument[1], -1);
  end_test();
  return argument + 2;
}

static char **run(char **argument, char **last) {
  if (strcmp(*argument, "rows") == 0) return run_rows(argument, last);
  if (strcmp(*argument, "query") == 0) return run_query(argument, last);
  return run_pairs(argument, last);
}

int main(int argc, char **argv) {
  char path[4096];
  int i = 2;
  greet(&argc, &argv);
  if (argc < 3) die("usage", "prepared [turns] DIRECTORY [NAME=VALUE ...] -- TEST ...");
  snprintf(path, sizeof path, "%s/dyno.db", argv[1]);
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "database=temporary") == 0) *path = 0;
    if (strcmp(argv[i], "database=:memory:") == 0) strcpy(path, ":memory:");
  }
  reserve();
  sqlite3_initialize();
  check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), path);
  sqlite3_extended_result_codes(db, 1);
  for (int j = 2; j < i; j++)
    if (strncmp(argv[j], "database=", 9) != 0) set(db, argv[j]);
  for (char **next = argv + i + 1; next < argv + argc;) {
    announce();
    next = run(next, argv + argc);
  }
  if (sqlite3_close(db) != SQLITE_OK) die("close", sqlite3_errmsg(db));
  leave();
  return 0;
}
