package dyno.runner.mix;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Records the operations of a client, by class. Within the clock each operation is only written down: 16 bytes, or 32 where it
 * is due at a time, in blocks, so that nothing is copied. Moments are nanoseconds of the clock.
 */
final class Recorder {
    private static final int BLOCK = 1 << 14;

    /** A list of groups of numbers that grows without being copied. */
    private static final class Numbers {
        private final List<long[]> full = new ArrayList<>();
        private long[] block = new long[BLOCK];
        private int length = 0;

        void push(long first, long second) {
            if (length == BLOCK) {
                full.add(block);
                block = new long[BLOCK];
                length = 0;
            }
            block[length++] = first;
            block[length++] = second;
        }

        /** Calls `take` with each group of numbers: the block and the position. */
        void each(int width, Group take) {
            for (long[] one : full) {
                for (int at = 0; at < BLOCK; at += width) {
                    take.take(one, at);
                }
            }
            for (int at = 0; at < length; at += width) {
                take.take(block, at);
            }
        }
    }

    private interface Group {
        void take(long[] block, int at);
    }

    /** Takes an operation: when it was due, when its client was free, when it was sent, and when it ended. */
    interface Done {
        void take(long due, long free, long sent, long ended);
    }

    /** Takes an execution of a statement: when its operation ended, and how long it took. */
    interface Executed {
        void take(long ended, long took);
    }

    /** An operation that was tried more than once. */
    record Tried(int place, long ended, long retried, boolean failed) {}

    /** An operation that ended otherwise than by success, or at a moment that is of interest; `since` is when it was due
     *  or under way. */
    record Event(int place, long since, long ended) {}

    final List<Tried> tried = new ArrayList<>();
    /** Operations that were rolled back as planned. They are recorded as done too. */
    final List<Event> undone = new ArrayList<>();
    /** Of these, those that ended with an error which the suite ignores. */
    final List<Event> ignored = new ArrayList<>();
    final List<Event> givenUp = new ArrayList<>();
    /** Operations that were due and never begun. */
    final List<Event> left = new ArrayList<>();
    /** By class, the error of the first operation that failed other than for want of time. */
    final Map<Integer, String> failures = new HashMap<>();
    /** The moment at which the client began to repeat the steps. */
    long anew = Long.MAX_VALUE;

    private final boolean[] isDue;
    private final Numbers[] moments;
    private final Map<List<Integer>, Numbers> executions = new HashMap<>();

    /** Operations are due at a time or not. With `connects` the client comes and goes, and a further class records its
     *  connecting, which is due at a time. */
    Recorder(int classes, boolean areDue, boolean connects) {
        isDue = new boolean[classes + (connects ? 1 : 0)];
        moments = new Numbers[isDue.length];
        for (int place = 0; place < isDue.length; place++) {
            isDue[place] = place == classes || areDue;
            moments[place] = new Numbers();
        }
    }

    boolean isDue(int place) {
        return isDue[place];
    }

    /** Records an operation that succeeded. In a mix with due times, one without is due when it is sent. */
    void done(int place, long due, long free, long sent, long ended) {
        if (isDue[place]) {
            moments[place].push(due == 0 ? sent : due, free);
        }
        moments[place].push(sent, ended);
    }

    /** Records an operation that never succeeded, and why, or null if that was for want of time. */
    void failed(int place, long since, long ended, long retried, String why) {
        tried.add(new Tried(place, ended, retried, true));
        givenUp.add(new Event(place, since, ended));
        if (why != null) {
            failures.putIfAbsent(place, why);
        }
    }

    void retried(int place, long ended, long retried) {
        if (retried > 0) {
            tried.add(new Tried(place, ended, retried, false));
        }
    }

    void executed(int place, int statement, long ended, long took) {
        executions.computeIfAbsent(List.of(place, statement), key -> new Numbers()).push(ended, took);
    }

    /** Calls `take` with each operation of a class. */
    void each(int place, Done take) {
        if (isDue[place]) {
            moments[place].each(4, (block, at) -> take.take(block[at], block[at + 1], block[at + 2], block[at + 3]));
        } else {
            moments[place].each(2, (block, at) -> take.take(block[at], block[at], block[at], block[at + 1]));
        }
    }

    /** Calls `take` with each execution of a statement. */
    void eachExecution(int place, int statement, Executed take) {
        Numbers found = executions.get(List.of(place, statement));
        if (found != null) {
            found.each(2, (block, at) -> take.take(block[at], block[at + 1]));
        }
    }
}
