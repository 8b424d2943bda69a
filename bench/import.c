/* Loads a TAB-delimited file into SQLite as a careful program does by hand, without any safety: one
 * transaction, a prepared statement, fields bound where they lie, no journal, no sync, one thread.
 * The types are letters: i is an INTEGER, t a TEXT. With "-" for the file and a count, rows of numbers
 * are made up in place of being read. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static sqlite3 *db;

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static void execute(const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) die(sql);
}

static void step(sqlite3_stmt *insert) {
  if (sqlite3_step(insert) != SQLITE_DONE) die("insert");
  sqlite3_reset(insert);
}

static void load(sqlite3_stmt *insert, const char *path, const char *types) {
  int file = open(path, O_RDONLY);
  struct stat data;
  if (file < 0 || fstat(file, &data) != 0) die(path);
  const char *at = mmap(NULL, data.st_size, PROT_READ, MAP_PRIVATE, file, 0), *end = at + data.st_size;
  if (at == MAP_FAILED) die(path);
  while (at < end) {
    for (int i = 0; types[i]; i++) {
      const char *stop = at;
      while (*stop != '\t' && *stop != '\n') stop++;
      if (types[i] == 'i') sqlite3_bind_int64(insert, i + 1, strtoll(at, NULL, 10));
      else sqlite3_bind_text(insert, i + 1, at, (int)(stop - at), SQLITE_STATIC);
      at = stop + 1;
    }
    step(insert);
  }
}

static void make_up(sqlite3_stmt *insert, long long count, int columns) {
  for (unsigned long long row = 0; row < (unsigned long long)count; row++) {
    for (int i = 0; i < columns; i++)
      sqlite3_bind_int64(insert, i + 1, (long long)((row * 3 + i) * 0x9e3779b97f4a7c15ull));
    step(insert);
  }
}

int main(int argc, char **argv) {
  char sql[4096] = "CREATE TABLE t(", marks[4096] = "INSERT INTO t VALUES (";
  sqlite3_stmt *insert;
  if (argc < 4) return 2;
  sqlite3_initialize();
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) die("open");
  execute("PRAGMA journal_mode=OFF");
  execute("PRAGMA synchronous=OFF");
  execute("PRAGMA locking_mode=EXCLUSIVE");
  for (int i = 0; argv[3][i]; i++) {
    sprintf(sql + strlen(sql), "%sc%d %s", i ? ", " : "", i, argv[3][i] == 'i' ? "INTEGER" : "TEXT");
    strcat(marks, i ? ", ?" : "?");
  }
  execute(strcat(sql, ")"));
  execute("BEGIN");
  if (sqlite3_prepare_v2(db, strcat(marks, ")"), -1, &insert, NULL) != SQLITE_OK) die("prepare");
  if (strcmp(argv[2], "-") == 0) make_up(insert, atoll(argv[4]), (int)strlen(argv[3]));
  else load(insert, argv[2], argv[3]);
  sqlite3_finalize(insert);
  execute("COMMIT");
  return sqlite3_close(db) != SQLITE_OK;
}
