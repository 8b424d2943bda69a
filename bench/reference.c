/* What a careful C programmer would write by hand to run files of statements on SQLite, and to know
** how long each file takes. dyno's own time is measured against this program's.
**
**     reference DATABASE [NAME=VALUE ...] -- FILE ...
**
** Each NAME=VALUE becomes a PRAGMA. A file holds statements, each ended by a NUL byte. For each file
** one line is printed: the nanoseconds it took, for how many of them the process waited for a
** processor, by which a disturbed measurement is known, and for how many it worked.
*/
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

static void run(sqlite3 *db, const char *path) {
  Input input = load(path);
  Reading before = begin();
  for (size_t i = 0; i < input.count; i++) execute(db, input.list[i].text, input.list[i].length);
  end(before);
  unload(&input);
}

int main(int argc, char **argv) {
  sqlite3 *db;
  int i = 2;
  if (argc < 2) die("usage", "reference DATABASE [NAME=VALUE ...] -- FILE ...");
  reserve();
  sqlite3_initialize();
  if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
    die(argv[1], sqlite3_errmsg(db));
  sqlite3_extended_result_codes(db, 1);
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) set(db, argv[i]);
  for (i++; i < argc; i++) run(db, argv[i]);
  if (sqlite3_close(db) != SQLITE_OK) die("close", sqlite3_errmsg(db));
  return 0;
}
