package dyno.runner.measure;

import dyno.runner.Job;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Starts and stops the clock, and reads the counters just outside it. The clock is System.nanoTime, which is
 * CLOCK_MONOTONIC.
 *
 * <p>The garbage collector stays on, because a program that uses a driver has it on: its pauses are part of what the
 * driver costs. The runner's own garbage is collected before the clock starts.
 */
public final class Clock {
    /** The fields of `dyno_gauge_cost`, by the names of the protocol. */
    private static final String[] FIELDS = {
        "user_ns", "system_ns", "wait_ns", "device_read_bytes", "device_written_bytes", "peak_memory_bytes"
    };

    private final long gauge;
    private final double slowdown;
    private final long[] process = new long[FIELDS.length];
    private final long[] server = new long[FIELDS.length];
    private long began;

    /** The work of a test. */
    public interface Work {
        void run() throws Exception;
    }

    /** `server` may be null; the counters of its processes are read. */
    public Clock(Job.Server server, double slowdown) {
        this.gauge = Native.dyno_gauge_open(server == null ? 0 : server.process());
        if (server != null) {
            server.nodes().forEach(node -> Native.dyno_gauge_add_node(gauge, node));
        }
        this.slowdown = slowdown;
        // The first calls of functions take longer than later ones: they are not to be those next to the clock.
        for (int turn = 0; turn < 20; turn++) {
            count();
            startAt(System.nanoTime());
            stop();
        }
    }

    /** Does the work of a test, and returns the section. */
    public Map<String, Object> time(Work work) throws Exception {
        collect();
        prepare();
        count();
        startAt(System.nanoTime());
        work.run();
        return stop();
    }

    /** Collects garbage. */
    public static void collect() {
        System.gc();
    }

    /** Does the slow part of the next reading of the counters. */
    public void prepare() {
        Native.dyno_gauge_prepare(gauge);
    }

    /** Reads the counters: just before the clock starts. */
    public void count() {
        Native.dyno_gauge_before(gauge);
    }

    /** Starts the clock at a moment; the counters were read. */
    public void startAt(long moment) {
        began = moment;
    }

    /** Stops the clock and returns the section since it was started. */
    public Map<String, Object> stop() {
        long end = System.nanoTime();
        if (slowdown > 0) {
            end = spin(end + (long) ((end - began) * slowdown));
        }
        boolean hasServer = Native.dyno_gauge_after(gauge, process, server) != 0;
        Map<String, Object> section = new LinkedHashMap<>();
        section.put("nanoseconds", end - began);
        section.put("began_ns", began);
        section.put("client", cost(process));
        if (hasServer) {
            section.put("server", cost(server));
        }
        return section;
    }

    private static Map<String, Object> cost(long[] values) {
        Map<String, Object> cost = new LinkedHashMap<>();
        for (int place = 0; place < FIELDS.length; place++) {
            cost.put(FIELDS[place], values[place]);
        }
        return cost;
    }

    private static long spin(long until) {
        long at;
        do {
            at = System.nanoTime();
        } while (at < until);
        return at;
    }
}
