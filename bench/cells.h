/* Shared by the C programs that keep keys and values: mapped files of cells, and the tests as arguments:
**
**     put STORE KEYS WIDTH VALUES WIDTH COUNT TIMED PER_COMMIT
**     get STORE KEYS WIDTH COUNT
**     scan STORE
**     settle
**
** PER_COMMIT is 0 where all operations make one transaction.
*/
#pragma once
#include "clock.h"

/* A mapped file of cells of one width. */
typedef struct {
  const unsigned char *bytes;
  size_t width, count;
} Cells;

/* One test. */
typedef struct {
  const char *what, *store;
  Cells keys, values;
  size_t timed, per_commit;
} Test;

/* Maps a file and touches its pages. */
static inline Cells map(const char *path, const char *width, size_t count) {
  Cells cells = {.width = strtoul(width, NULL, 10), .count = count};
  size_t size = cells.width * count;
  int file = open(path, O_RDONLY);
  volatile unsigned char touched = 0;
  if (file < 0) die(path, "cannot be opened");
  cells.bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
  if (cells.bytes == MAP_FAILED) die(path, "cannot be mapped");
  close(file);
  for (size_t i = 0; i < size; i += 4096) touched = cells.bytes[i];
  (void)touched;
  return cells;
}

static inline void unmap(Cells cells) {
  if (cells.bytes) munmap((void *)cells.bytes, cells.width * cells.count);
}

static inline const unsigned char *cell(Cells cells, size_t i) { return cells.bytes + i * cells.width; }

/* Reads one test from the arguments; returns where the next begins. */
static inline char **next_test(char **argument, char **end, Test *test) {
  int put = strcmp(*argument, "put") == 0;
  if (strcmp(*argument, "settle") == 0) {
    *test = (Test){.what = argument[0]};
    return argument + 1;
  }
  if (strcmp(*argument, "scan") == 0) {
    if (end - argument < 2) die(*argument, "arguments are missing");
    *test = (Test){.what = argument[0], .store = argument[1]};
    return argument + 2;
  }
  if (end - argument < (put ? 9 : 5)) die(*argument, "arguments are missing");
  *test = (Test){.what = argument[0], .store = argument[1]};
  if (!put) {
    test->keys = map(argument[2], argument[3], test->timed = strtoul(argument[4], NULL, 10));
    return argument + 5;
  }
  size_t count = strtoul(argument[6], NULL, 10);
  test->keys = map(argument[2], argument[3], count);
  test->values = map(argument[4], argument[5], count);
  test->timed = strtoul(argument[7], NULL, 10);
  test->per_commit = strtoul(argument[8], NULL, 10);
  return argument + 9;
}
