/* What the C programs of the benchmark share: statements and rows from mapped files, a place for the values
** that they fetch, and the clock.
*/
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* What was read before the clock started. */
typedef struct {
  int64_t start, wait, cpu;
} Reading;

/* Where the values go, so that fetching them is not for nothing. */
static char *values;
static size_t used, reserved;

static void die(const char *what, const char *why) {
  fprintf(stderr, "reference: %s: %s\n", what, why);
  exit(1);
}

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

static Input load(const char *path) {
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

static void unload(Input *input) {
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

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* The second number of /proc/self/schedstat: nanoseconds spent waiting for a processor. */
static int64_t waited(void) {
  static int schedstat = -1;
  char text[128] = "";
  long long wait = 0;
  if (schedstat < 0) schedstat = open("/proc/self/schedstat", O_RDONLY);
  if (pread(schedstat, text, sizeof text - 1, 0) > 0) sscanf(text, "%*s %lld", &wait);
  return wait;
}

/* Nanoseconds of CPU time, user and system. */
static int64_t worked(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

static Reading begin(void) {
  Reading reading;
  reading.cpu = worked();
  reading.wait = waited();
  reading.start = now();
  return reading;
}

/* Prints what has passed since: nanoseconds by the clock, of waiting for a processor, of CPU time. */
static void end(Reading before) {
  int64_t time = now() - before.start;
  int64_t wait = waited() - before.wait;
  printf("%lld %lld %lld\n", (long long)time, (long long)wait, (long long)(worked() - before.cpu));
  fflush(stdout);
}
