/* What a careful C programmer would write by hand to run files of statements on SQLite, and to know
** how long each file takes. dyno's own time is measured against this program's.
**
**     reference DATABASE [NAME=VALUE ...] -- FILE ...
**
** Each NAME=VALUE becomes a PRAGMA. A file holds statements, each ended by a NUL byte. For each file
** one line is printed: the nanoseconds it took, and for how many of them the process waited for a
** processor, by which a disturbed measurement is known.
*/
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A statement: its text and its length with the NUL byte. */
typedef struct {
  const char *text;
  int length;
} Statement;

/* Where the values go, so that fetching them is not for nothing. */
static char *values;
static size_t used, reserved;

static void die(const char *what, const char *why) {
  fprintf(stderr, "reference: %s: %s\n", what, why);
  exit(1);
}

static void keep(const void *bytes, size_t length) {
  if (used + length > reserved) {
    reserved = 2 * reserved + length;
    values = realloc(values, reserved);
    if (!values) die("values", "no memory");
  }
  memcpy(values + used, bytes, length);
  used += length;
}

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

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* The second number of /proc/self/schedstat: nanoseconds spent waiting for a processor. */
static int64_t waited(int schedstat) {
  char text[128] = "";
  long long wait = 0;
  if (pread(schedstat, text, sizeof text - 1, 0) > 0) sscanf(text, "%*s %lld", &wait);
  return wait;
}

static void run(sqlite3 *db, int schedstat, const char *path) {
  int file = open(path, O_RDONLY);
  struct stat data;
  if (file < 0 || fstat(file, &data) != 0) die(path, "cannot be opened");
  const char *text = mmap(NULL, data.st_size, PROT_READ, MAP_SHARED, file, 0);
  if (text == MAP_FAILED) die(path, "cannot be mapped");
  /* Memory of its own and not malloc's, because giving back a large piece changes how malloc serves SQLite. */
  Statement *list = mmap(NULL, data.st_size * sizeof *list, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (list == MAP_FAILED) die(path, "no memory for the list");
  size_t count = 0;
  for (const char *next = text; next < text + data.st_size; next += list[count++].length)
    list[count] = (Statement){next, (int)strlen(next) + 1};
  used = 0;

  int64_t wait = waited(schedstat);
  int64_t start = now();
  for (size_t i = 0; i < count; i++) execute(db, list[i].text, list[i].length);
  int64_t end = now();
  wait = waited(schedstat) - wait;

  printf("%lld %lld\n", (long long)(end - start), (long long)wait);
  fflush(stdout);
  munmap(list, data.st_size * sizeof *list);
  munmap((void *)text, data.st_size);
  close(file);
}

int main(int argc, char **argv) {
  sqlite3 *db;
  int i = 2;
  if (argc < 2) die("usage", "reference DATABASE [NAME=VALUE ...] -- FILE ...");
  reserved = 1 << 20;
  values = malloc(reserved);
  if (!values) die("values", "no memory");
  memset(values, 1, reserved);
  sqlite3_initialize();
  if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
    die(argv[1], sqlite3_errmsg(db));
  sqlite3_extended_result_codes(db, 1);
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) set(db, argv[i]);
  int schedstat = open("/proc/self/schedstat", O_RDONLY);
  for (i++; i < argc; i++) run(db, schedstat, argv[i]);
  if (sqlite3_close(db) != SQLITE_OK) die("close", sqlite3_errmsg(db));
  return 0;
}
