/* A program in C against the header, as a runner in another language would use the library. */

#include "dyno_gauge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                                         \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int section(void) {
    size_t size = 64 << 20;
    dyno_gauge_cost process, server;
    /* This process is taken for the server too: both see the same work. */
    dyno_gauge *gauge = dyno_gauge_open((uint32_t)getpid());
    dyno_gauge_before(gauge);
    char *memory = malloc(size);
    for (int round = 0; round < 20; round++) {
        memset(memory, round, size);
        __asm__ volatile("" : : "r"(memory) : "memory");
    }
    CHECK(dyno_gauge_after(gauge, &process, &server) == 1);
    CHECK(process.user_ns + process.system_ns > 1000000 && process.peak_memory_bytes >= size);
    CHECK(server.user_ns + server.system_ns >= process.user_ns + process.system_ns);
    CHECK(server.peak_memory_bytes >= size);
    free(memory);
    dyno_gauge_close(gauge);

    /* Of two nodes of which one is not there, nothing is said. */
    gauge = dyno_gauge_open((uint32_t)getpid());
    dyno_gauge_add_node(gauge, 0x7fffffff);
    dyno_gauge_before(gauge);
    CHECK(dyno_gauge_after(gauge, &process, &server) == 0);
    dyno_gauge_close(gauge);

    gauge = dyno_gauge_open(0);
    dyno_gauge_before(gauge);
    CHECK(dyno_gauge_after(gauge, &process, &server) == 0);
    CHECK(process.peak_memory_bytes < size);
    dyno_gauge_close(gauge);
    return 0;
}

static int digests(void) {
    const uint8_t *cells[] = {(const uint8_t *)"key", (const uint8_t *)"value"};
    size_t lengths[] = {3, 5};
    uint64_t sums[4];
    dyno_gauge_table *table = dyno_gauge_table_new(2);
    dyno_gauge_table_add(table, cells, lengths);
    dyno_gauge_table_add(table, cells, lengths);
    dyno_gauge_table_sums(table, sums);
    /* python3 -c 'import zlib; print(zlib.crc32(b"key"), zlib.crc32(b"value"), zlib.crc32(b"keyvalue"))' */
    CHECK(sums[0] == 2 && sums[1] == 2 * (uint64_t)2324736937u && sums[2] == 2 * (uint64_t)494360628u);
    uint64_t row = sums[3];
    dyno_gauge_table_free(table);

    dyno_gauge_store *store = dyno_gauge_store_new();
    dyno_gauge_store_add(store, cells[0], 3, cells[1], 5);
    dyno_gauge_store_sums(store, sums);
    CHECK(sums[0] == 1 && sums[1] == 2324736937u && sums[2] == 494360628u && 2 * sums[3] == row);
    dyno_gauge_store_free(store);
    return 0;
}

static int histogram(void) {
    char text[4096];
    dyno_gauge_histogram *histogram = dyno_gauge_histogram_new();
    for (int i = 0; i < 3; i++)
        dyno_gauge_histogram_record(histogram, 1000);
    dyno_gauge_histogram_record(histogram, 5);
    dyno_gauge_histogram_record(histogram, UINT64_MAX);
    size_t length = dyno_gauge_histogram_text(histogram, NULL, 0);
    CHECK(length > 20 && length < sizeof text);
    CHECK(dyno_gauge_histogram_text(histogram, text, length) == length);
    CHECK(dyno_gauge_histogram_text(histogram, text, length + 1) == length);
    CHECK(strlen(text) == length && strncmp(text, "HISTFAAA", 8) == 0);
    dyno_gauge_histogram_free(histogram);
    return 0;
}

int main(void) {
    CHECK(dyno_gauge_version() == DYNO_GAUGE_VERSION);
    dyno_gauge_before(NULL);
    dyno_gauge_close(NULL);
    return section() || digests() || histogram();
}
