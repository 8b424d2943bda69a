/* Shared by the C programs on SQLite: a statement executed once, with every value fetched, and settings. */
#pragma once
#include "common.h"
#include <sqlite3.h>

static void keep_row(sqlite3_stmt *stmt, int columns) {
  for (int i = 0; i < columns; i++) {
    int type = sqlite3_column_type(stmt, i);
    if (type == SQLITE_INTEGER) {
      sqlite3_int64 value = sqlite3_column_int64(stmt, i);
      keep(&value, sizeof value);
    } else if (type == SQLITE_FLOAT) {
      double value = sqlite3_column_double(stmt, i);
      keep(&value, sizeof value);
    } else if (type == SQLITE_TEXT) {
      const void *text = sqlite3_column_text(stmt, i);
      keep(text, sqlite3_column_bytes(stmt, i));
    } else if (type == SQLITE_BLOB) {
      const void *blob = sqlite3_column_blob(stmt, i);
      keep(blob, sqlite3_column_bytes(stmt, i));
    }
  }
}

static void execute(sqlite3 *db, const char *text, int length) {
  sqlite3_stmt *stmt;
  const char *tail;
  if (sqlite3_prepare_v2(db, text, length, &stmt, &tail) != SQLITE_OK) die(text, sqlite3_errmsg(db));
  if (!stmt || *tail) die(text, "not exactly one statement");
  int code = sqlite3_step(stmt);
  if (code == SQLITE_ROW) {
    int columns = sqlite3_column_count(stmt);
    for (; code == SQLITE_ROW; code = sqlite3_step(stmt)) keep_row(stmt, columns);
  }
  if (sqlite3_finalize(stmt) != SQLITE_OK || code != SQLITE_DONE) die(text, sqlite3_errmsg(db));
}

static void set(sqlite3 *db, const char *setting) {
  char *sql = sqlite3_mprintf("PRAGMA %s", setting);
  execute(db, sql, -1);
  sqlite3_free(sql);
}
