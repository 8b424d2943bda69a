/* Tests in one go or, where the first argument is `turns`, in slices: then the program speaks as much of dyno's protocol
** (docs/protocol.md) as it takes to have its turns next to a runner. The tests are called 1, 2, ...
*/
#pragma once
#include "clock.h"

/* The totals of all slices of the test, and the slice at work. */
static struct {
  int turns;
  size_t test, of, done, left;
  int64_t time, wait, cpu;
  Reading slice;
} section;

/* Says how far the test is, waits for a turn and starts the clock. */
static inline void next_turn(void) {
  printf("{\"event\":\"waiting\",\"done\":%zu,\"of\":%zu,\"nanoseconds\":%lld}\n", section.done, section.of,
         (long long)section.time);
  fflush(stdout);
  if (scanf(" {\"operations\":%zu}", &section.left) != 1 || section.left == 0) die("standard input", "no turn");
  section.slice = begin();
}

/* Stops the clock. */
static inline void end_turn(void) {
  section.time += now() - section.slice.start;
  section.wait += waited() - section.slice.wait;
  section.cpu += worked() - section.slice.cpu;
}

/* Greets, if there are turns. What is left of the arguments is as without. */
static inline void greet(int *argc, char ***argv) {
  section.turns = *argc > 1 && strcmp((*argv)[1], "turns") == 0;
  if (!section.turns) return;
  --*argc;
  ++*argv;
  /* The job, of which the arguments say all that matters. */
  if (scanf("%*[^\n]") == EOF) die("standard input", "no job");
  puts("{\"event\":\"hello\",\"protocol\":3,\"runner\":\"C\",\"engine_version\":\"\",\"driver_version\":\"\",\"settings\":[]}");
}

/* Begins a test of a number of operations. */
static inline void begin_test(size_t of) {
  section.test++;
  section.of = of;
  section.done = section.left = 0;
  section.time = section.wait = section.cpu = 0;
  if (section.turns) next_turn();
  else section.slice = begin();
}

/* The number of the wanted operations to do before this is asked again. */
static inline size_t take(size_t wanted) {
  if (!section.turns) return wanted;
  if (section.left == 0) {
    end_turn();
    next_turn();
  }
  size_t part = section.left < wanted ? section.left : wanted;
  section.left -= part;
  section.done += part;
  return part;
}

/* Ends a test and reports the time that it took. */
static inline void end_test(void) {
  if (!section.turns) {
    end(section.slice);
    return;
  }
  end_turn();
  printf("{\"event\":\"sample\",\"test\":\"%zu\",\"section\":{\"nanoseconds\":%lld,\"client\":{\"user_ns\":%lld,"
         "\"wait_ns\":%lld}},\"operations\":%zu}\n",
         section.test, (long long)section.time, (long long)section.cpu, (long long)section.wait, section.of);
}

/* Says what the next test is, before anything of it is done. */
static inline void announce(void) {
  if (section.turns) printf("{\"event\":\"progress\",\"test\":\"%zu\"}\n", section.test + 1);
}

static inline void leave(void) {
  if (section.turns) puts("{\"event\":\"bye\"}");
}
