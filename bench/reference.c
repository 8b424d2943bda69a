/* A program as a careful C programmer would write it by hand to run files of statements on SQLite, and to know
** how long each file takes. dyno's own time is measured against this program's.
**
**     reference [turns] DIRECTORY [NAME=VALUE ...] -- FILE ...
**
** Each NAME=VALUE becomes a PRAGMA. A file holds statements, each ended by a NUL byte. For each file
** one line is printed: the nanoseconds it took, for how many of them the process waited for a
** processor, by which a disturbed measurement is known, and for how many it worked. With turns
** each file is done in slices, as turns.h says.
*/
#include "sqlite.h"
#include "turns.h"

static void run(sqlite3 *db, const char *path) {
  announce();
  Input input = load(path);
  begin_test(input.count);
  for (size_t i = 0; i < input.count;)
    for (size_t stop = i + take(input.count - i); i < stop; i++)
      execute(db, input.list[i].text, input.list[i].length);
  end_test();
  unload(&input);
}

int main(int argc, char **argv) {
  sqlite3 *db;
  char path[4096];
  int i = 2;
  greet(&argc, &argv);
  if (argc < 2) die("usage", "reference [turns] DIRECTORY [NAME=VALUE ...] -- FILE ...");
  snprintf(path, sizeof path, "%s/dyno.db", argv[1]);
  reserve();
  sqlite3_initialize();
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
    die(path, sqlite3_errmsg(db));
  sqlite3_extended_result_codes(db, 1);
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) set(db, argv[i]);
  for (i++; i < argc; i++) run(db, argv[i]);
  if (sqlite3_close(db) != SQLITE_OK) die("close", sqlite3_errmsg(db));
  leave();
  return 0;
}
