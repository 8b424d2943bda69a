/* Shared by all C programs of the benchmark: the clock, and an end with a reason. */
#pragma once
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

/* The readings taken before the clock started. */
typedef struct {
  int64_t start, wait, cpu;
} Reading;

static void die(const char *what, const char *why) {
  fprintf(stderr, "reference: %s: %s\n", what, why);
  exit(1);
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

static inline Reading begin(void) {
  Reading reading;
  reading.cpu = worked();
  reading.wait = waited();
  reading.start = now();
  return reading;
}

/* Prints what has passed since: nanoseconds by the clock, of waiting for a processor, of CPU time. */
static inline void end(Reading before) {
  int64_t time = now() - before.start;
  int64_t wait = waited() - before.wait;
  printf("%lld %lld %lld\n", (long long)time, (long long)wait, (long long)(worked() - before.cpu));
  fflush(stdout);
}
