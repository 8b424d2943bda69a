package dyno.runner;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * The content of a table of columns of text in a few numbers that every language can compute: a count, and sums of zlib's
 * CRC-32. Sums do not depend on the order of rows, which tables do not promise.
 */
final class TableDigest {
    private final List<RowFile.Column> columns;
    private final List<String> shown;
    private final Map<String, Object[]> found = new HashMap<>();
    private final long[] sums;
    /** The sum over whole rows detects cells that were swapped between rows. */
    private long rows = 0;
    private long count = 0;

    /** `shown` are the first cells of the rows that are returned whole. */
    TableDigest(List<RowFile.Column> columns, List<String> shown) {
        this.columns = columns;
        this.shown = shown;
        this.sums = new long[columns.size()];
    }

    /** Adds a row. A cell that is not stored as text is a failure. */
    void add(Object[] row) {
        if (row.length != columns.size()) {
            throw new Failure("row " + (count + 1) + " has " + row.length + " columns and not " + columns.size());
        }
        CRC32 whole = new CRC32();
        CRC32 one = new CRC32();
        for (int place = 0; place < row.length; place++) {
            if (!(row[place] instanceof String cell)) {
                String kind = row[place] == null ? "NULL" : row[place].getClass().getSimpleName();
                throw new Failure(
                        "a cell of the column " + columns.get(place).name() + " is stored as " + kind + " and not as text");
            }
            byte[] bytes = cell.getBytes(StandardCharsets.UTF_8);
            one.reset();
            one.update(bytes);
            whole.update(bytes);
            sums[place] += one.getValue();
        }
        rows += whole.getValue();
        count++;
        if (shown.contains(row[0])) {
            found.put((String) row[0], row);
        }
    }

    /** The rows of the answer: the count and the sums, then each wanted row or one NULL. */
    List<Object[]> answer() {
        List<Object> first = new ArrayList<>(List.of(count));
        for (long sum : sums) {
            first.add(new BigInteger(Long.toUnsignedString(sum)));
        }
        first.add(new BigInteger(Long.toUnsignedString(rows)));
        List<Object[]> answer = new ArrayList<>();
        answer.add(first.toArray());
        shown.forEach(cell -> answer.add(found.getOrDefault(cell, new Object[] {null})));
        return answer;
    }
}
