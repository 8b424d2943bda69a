package dyno.runner;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of one test, in the order in which they were fetched. A client that asks for rows reads their values, and in Java
 * that means having them as objects: so fetching belongs to the timed section. Making JSON of them does not.
 */
public final class Answer {
    private final boolean keep;
    private final List<Object[]> rows = new ArrayList<>();
    private long count = 0;

    /** Without `keep`, rows are counted and dropped, so a test whose answer comes from a check query may return any number
     *  of them. */
    public Answer(boolean keep) {
        this.keep = keep;
    }

    /** Adds a row. */
    public void add(Object[] row) {
        count++;
        if (keep) {
            rows.add(row);
        }
    }

    public long count() {
        return count;
    }

    public List<Object[]> rows() {
        return rows;
    }
}
