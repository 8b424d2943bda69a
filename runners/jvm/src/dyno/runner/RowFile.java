package dyno.runner;

import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** A flat file of rows, each its cells one after another: all of them ASCII letters and digits. */
public final class RowFile {
    /** A column and its width in bytes. */
    public record Column(String name, int bytes) {}

    /** The bytes of rows that become one block of text: large enough that a block costs little compared with its rows. */
    private static final int BLOCK = 1 << 16;

    private final List<Column> columns;
    private final int[] widths;
    private final int width;
    private final int count;
    private final MappedByteBuffer data;
    private final byte[] row;

    RowFile(Record rows) {
        columns = rows.objects("columns", each -> new Column(each.text("name"), each.small("bytes")));
        widths = columns.stream().mapToInt(Column::bytes).toArray();
        width = IntStream.of(widths).sum();
        count = rows.small("count");
        data = Mapped.cells(rows.text("file"), count, width);
        row = new byte[width];
    }

    public List<Column> columns() {
        return columns;
    }

    int count() {
        return count;
    }

    /** The length of rows in bytes. */
    long bytesOf(int rows) {
        return (long) rows * width;
    }

    /** Puts the cells of the row at a position into `cells`, as texts. For one thread at a time. */
    public void read(int place, String[] cells) {
        data.get(place * width, row);
        int at = 0;
        for (int column = 0; column < cells.length; column++) {
            cells[column] = new String(row, at, widths[column], StandardCharsets.ISO_8859_1);
            at += widths[column];
        }
    }

    /** The first cells of the rows that a digest returns whole: the first, the middle and the last. */
    List<String> shown() {
        if (count == 0) {
            return List.of();
        }
        String[] cells = new String[widths.length];
        return IntStream.of(0, count / 2, count - 1)
                .mapToObj(place -> {
                    read(place, cells);
                    return cells[0];
                })
                .toList();
    }

    /** The number of rows of a block of lines. */
    public int linesAtOnce() {
        return Math.max(1, BLOCK / width);
    }

    /** The bytes of a line: its cells, a tab between two, and a newline. */
    public int lineBytes() {
        return width + widths.length;
    }

    /** Puts rows into `lines`, with a tab between cells and a newline after each row: the input of COPY and LOAD DATA.
     *  Letters and digits need no escapes. Returns the number of bytes. */
    public int lines(int start, int stop, byte[] lines) {
        int to = 0;
        int from = start * width;
        for (int place = start; place < stop; place++) {
            for (int bytes : widths) {
                data.get(from, lines, to, bytes);
                from += bytes;
                to += bytes;
                lines[to++] = '\t';
            }
            lines[to - 1] = '\n';
        }
        return to;
    }
}
