package dyno.runner.mix;

import java.util.concurrent.locks.LockSupport;

/** Waits until a moment. */
final class Moment {
    /** The time by which a sleep ends earlier than due, in nanoseconds: about as late as a thread wakes up. */
    private static final long EARLY = 50_000;

    private Moment() {}

    /** Waits asleep while the moment is far away, then looking at the clock. Returns the time at which the wait ended. */
    static long waitUntil(long due) {
        for (;;) {
            long now = System.nanoTime();
            if (now >= due) {
                return now;
            }
            if (due - now > EARLY) {
                LockSupport.parkNanos(due - now - EARLY);
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
