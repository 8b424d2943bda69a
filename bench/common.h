/* Shared by the C programs that speak SQL: statements and rows from mapped files, and a place for the
** values that they fetch.
*/
#pragma once
#include "clock.h"

/* A statement: its text and its length with the NUL byte. */
typedef struct {
  const char *text;
  int length;
} Statement;

/* The statements of a file, each ended by a NUL byte. */
typedef struct {
  const char *text;
  Statement *list;
  size_t size, count;
  int file;
} Input;

/* A file of rows without separators, each its cells one after another. */
typedef struct {
  const char *cells;
  size_t count, width;
  int columns;
  unsigned long widths[64];
} Rows;

/* The fetched values are copied here, so that fetching them has a use. */
static char *values;
static size_t used, reserved;

static void reserve(void) {
  reserved = 1 << 20;
  values = malloc(reserved);
  if (!values) die("values", "no memory");
  memset(values, 1, reserved);
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

static inline Input load(const char *path) {
  Input input = {.file = open(path, O_RDONLY)};
  struct stat data;
  if (input.file < 0 || fstat(input.file, &data) != 0) die(path, "cannot be opened");
  input.size = data.st_size;
  input.text = mmap(NULL, input.size, PROT_READ, MAP_SHARED, input.file, 0);
  if (input.text == MAP_FAILED) die(path, "cannot be mapped");
  /* Memory of its own and not malloc's, because giving back a large piece changes how malloc serves the
  ** database's library. */
  input.list = mmap(NULL, input.size * sizeof *input.list, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (input.list == MAP_FAILED) die(path, "no memory for the list");
  for (const char *next = input.text; next < input.text + input.size; next += input.list[input.count++].length)
    input.list[input.count] = (Statement){next, (int)strlen(next) + 1};
  used = 0;
  return input;
}

static inline void unload(Input *input) {
  munmap(input->list, input->size * sizeof *input->list);
  munmap((void *)input->text, input->size);
  close(input->file);
}

/* Rows from a file and the widths of their columns, as the command line gives them. */
static inline Rows load_rows(char **arguments, int count) {
  Rows rows = {.columns = count - 1};
  if (rows.columns < 1 || rows.columns > 64) die(arguments[0], "wants 1 to 64 widths");
  for (int i = 0; i < rows.columns; i++) rows.width += rows.widths[i] = strtoul(arguments[i + 1], NULL, 10);
  int file = open(arguments[0], O_RDONLY);
  struct stat data;
  if (file < 0 || fstat(file, &data) != 0) die(arguments[0], "cannot be opened");
  rows.count = data.st_size / rows.width;
  rows.cells = mmap(NULL, data.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  if (rows.cells == MAP_FAILED) die(arguments[0], "cannot be mapped");
  return rows;
}

/* `INSERT INTO t VALUES (?, ?)`, with as many parameters as columns; `$1, $2` where x is a dollar. */
static inline void insert_text(char *out, size_t size, int columns, char x) {
  int length = snprintf(out, size, "INSERT INTO t VALUES (");
  for (int i = 1; i <= columns; i++) {
    length += snprintf(out + length, size - length, "%s%c", i > 1 ? ", " : "", x);
    if (x == '$') length += snprintf(out + length, size - length, "%d", i);
  }
  snprintf(out + length, size - length, ")");
}
