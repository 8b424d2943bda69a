import dyno.runner.measure.Clock;
import dyno.runner.measure.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The shortest honest programs for the work of bench/jvm.py. Of dyno they take the clock with its counters and nothing else,
 *  so that both ways are measured alike. */
final class Loop {
    /** The bytes of a step and of a row: three numbers, of which the last is the key, and three texts of 8 letters. */
    private static final int WIDTH = 24;
    /** When each look-up began and ended: all are kept, as in dyno. There is room for more than a driver does in the time. */
    private static final long[] TIMES = new long[1 << 23];
    private static Connection db;
    private static byte[] data;
    /** The operations of a mix; all other work counts as one. */
    private static long done = 1;

    /** A row of the table t: who writes a program knows the types of its columns. */
    private record Row(int n, String s) {}

    public static void main(String[] given) throws Exception {
        Native.open(given[0]);
        Clock clock = new Clock(null, 0);
        db = DriverManager.getConnection(given[1]);
        try (Statement setup = db.createStatement()) {
            for (String sql : Files.readAllLines(Path.of(given[2], "setup"))) {
                setup.execute(sql);
            }
        }
        data = Files.readAllBytes(Path.of(given[2], "input"));
        Map<String, Object> section = switch (given[3]) {
            case "statements", "fetch" -> clock.time(() -> statements());
            case "insert", "batch" -> clock.time(() -> load(given[3].equals("batch")));
            default -> mix(clock, given[3].equals("lasting"));
        };
        Map<?, ?> client = (Map<?, ?>) section.get("client");
        double spent = (Long) client.get("user_ns") + (Long) client.get("system_ns");
        System.out.println("[" + (Long) section.get("nanoseconds") * 1.0 / done + "," + spent / done + "]");
    }

    private static List<Row> statements() throws SQLException {
        List<Row> kept = new ArrayList<>();
        try (Statement statement = db.createStatement()) {
            for (String sql : new String(data, StandardCharsets.UTF_8).split("\0")) {
                if (statement.execute(sql)) {
                    keep(statement.getResultSet(), kept);
                }
            }
        }
        return kept;
    }

    private static void keep(ResultSet found, List<Row> kept) throws SQLException {
        try (ResultSet rows = found) {
            while (rows.next()) {
                kept.add(new Row(rows.getInt(1), rows.getString(2)));
            }
        }
    }

    private static void load(boolean isBatch) throws SQLException {
        db.setAutoCommit(false);
        try (PreparedStatement insert = db.prepareStatement("INSERT INTO r VALUES (?, ?, ?)")) {
            for (int at = 0; at < data.length; at += WIDTH) {
                for (int column = 0; column < 3; column++) {
                    insert.setString(column + 1, new String(data, at + 8 * column, 8, StandardCharsets.ISO_8859_1));
                }
                if (!isBatch) {
                    insert.executeUpdate();
                } else {
                    insert.addBatch();
                    if ((at / WIDTH + 1) % 1000 == 0) {
                        insert.executeBatch();
                    }
                }
            }
        }
        db.commit();
    }

    /** Looks up each step once, or for two seconds, after two of warm-up. */
    private static Map<String, Object> mix(Clock clock, boolean lasts) throws Exception {
        PreparedStatement find = db.prepareStatement("SELECT n, s FROM t WHERE id = ?");
        if (!lasts) {
            return clock.time(() -> done = lookUps(find, data.length / WIDTH, Long.MAX_VALUE));
        }
        Clock.collect();
        clock.prepare();
        lookUps(find, TIMES.length / 2, System.nanoTime() + 2_000_000_000L);
        clock.count();
        clock.startAt(System.nanoTime());
        done = lookUps(find, TIMES.length / 2, System.nanoTime() + 2_000_000_000L);
        return clock.stop();
    }

    private static long lookUps(PreparedStatement find, int most, long end) throws SQLException {
        ByteBuffer steps = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        long free = System.nanoTime();
        int place = 0;
        for (int at = 0; place < most && free < end; place++, at = at + WIDTH < data.length ? at + WIDTH : 0) {
            find.setInt(1, (int) steps.getLong(at + 16));
            List<Row> kept = new ArrayList<>();
            keep(find.executeQuery(), kept);
            long ended = System.nanoTime();
            TIMES[2 * place] = free;
            TIMES[2 * place + 1] = ended;
            free = ended;
        }
        return place;
    }
}
