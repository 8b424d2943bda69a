/* The instruments of a runner of dyno, for languages other than Rust: the library libdyno_gauge.so next to dyno's
 * programs. Durations are nanoseconds, sizes are bytes. A function that is given a null pointer does nothing.
 *
 * Nothing here reads the clock: that is for the runner, in its own language, between dyno_gauge_before and
 * dyno_gauge_after and with nothing else between. Each object is for one thread at a time. */

#ifndef DYNO_GAUGE_H
#define DYNO_GAUGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It rises when a program made for the one before would go wrong. */
#define DYNO_GAUGE_VERSION 4
uint32_t dyno_gauge_version(void);

/* The cost of a process, or of all processes of a server, in a timed section. */
typedef struct dyno_gauge_cost {
    uint64_t user_ns;
    uint64_t system_ns;
    uint64_t wait_ns; /* runnable, and waiting for a processor */
    uint64_t device_read_bytes;
    uint64_t device_written_bytes;
    uint64_t peak_memory_bytes;
} dyno_gauge_cost;

/* The kernel's counters of this process, and of a server by its main process (0: none). */
typedef struct dyno_gauge dyno_gauge;
dyno_gauge *dyno_gauge_open(uint32_t server);
/* Adds the main process of a further node of that server, which is a cluster. Before the first section. */
void dyno_gauge_add_node(dyno_gauge *gauge, uint32_t server);
/* Does what takes long of the next dyno_gauge_before, which may then come while many threads are at work. Only for work that
 * begins before the clock does. */
void dyno_gauge_prepare(dyno_gauge *gauge);
/* Just before the clock is read. */
void dyno_gauge_before(dyno_gauge *gauge);
/* Just after the clock is read. What this process spent goes to `process`. Returns 1, and what the server spent in
 * `server`, where there is one and all of its main processes are still there; else 0. */
int dyno_gauge_after(dyno_gauge *gauge, dyno_gauge_cost *process, dyno_gauge_cost *server);
void dyno_gauge_close(dyno_gauge *gauge);

/* The digest of a table. */
typedef struct dyno_gauge_table dyno_gauge_table;
dyno_gauge_table *dyno_gauge_table_new(size_t columns);
/* Takes in a row of as many cells and lengths as the table has columns. */
void dyno_gauge_table_add(dyno_gauge_table *table, const uint8_t *const *cells, const size_t *lengths);
/* The count, the sum of each column, and that of whole rows: two numbers more than there are columns. */
void dyno_gauge_table_sums(const dyno_gauge_table *table, uint64_t *sums);
void dyno_gauge_table_free(dyno_gauge_table *table);

/* The digest of a store. */
typedef struct dyno_gauge_store dyno_gauge_store;
dyno_gauge_store *dyno_gauge_store_new(void);
void dyno_gauge_store_add(dyno_gauge_store *store, const uint8_t *key, size_t key_length, const uint8_t *value,
                          size_t value_length);
/* The count, and the sums of keys, of values, and of pairs: four numbers. */
void dyno_gauge_store_sums(const dyno_gauge_store *store, uint64_t *sums);
void dyno_gauge_store_free(dyno_gauge_store *store);

/* Durations of single operations, to three significant digits. All its memory is reserved by _new. */
typedef struct dyno_gauge_histogram dyno_gauge_histogram;
dyno_gauge_histogram *dyno_gauge_histogram_new(void);
void dyno_gauge_histogram_record(dyno_gauge_histogram *histogram, uint64_t nanoseconds);
/* HdrHistogram's own compressed encoding, as base64 that ends with a NUL, where there is `room` for it in bytes; empty
 * where nothing was recorded. Returns its length without the NUL: with less room than that and one, nothing is written.
 * */
size_t dyno_gauge_histogram_text(const dyno_gauge_histogram *histogram, char *text, size_t room);
void dyno_gauge_histogram_free(dyno_gauge_histogram *histogram);

#ifdef __cplusplus
}
#endif

#endif
