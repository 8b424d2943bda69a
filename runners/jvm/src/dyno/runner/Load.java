package dyno.runner;

import java.util.ArrayList;
import java.util.List;

/** The rows from `start` up to `stop` for a table, of which `perCommit` make a transaction: all of them if it is 0. */
public record Load(String table, RowFile file, int start, int stop, int perCommit) {
    /** Positions of rows, the last excluded. */
    public record Range(int start, int stop) {}

    /** The rows of the transaction that begins with the row at a position; none if that is `stop`. */
    public Range transaction(int first) {
        return new Range(first, (int) Math.min((long) first + size(), stop));
    }

    /** True if each transaction is a single statement, which loads up to `rows` rows. */
    public boolean isSingle(int rows) {
        return Math.min(size(), stop - start) <= rows;
    }

    /** The number of rows of every transaction but the last. */
    private int size() {
        return perCommit > 0 ? perCommit : Math.max(1, stop - start);
    }

    /** The parts of a range of at most `most` rows. */
    public static List<Range> parts(Range range, int most) {
        List<Range> parts = new ArrayList<>();
        for (long first = range.start; first < range.stop; first += most) {
            parts.add(new Range((int) first, (int) Math.min(first + most, range.stop)));
        }
        return parts;
    }
}
