package dyno.runner.drivers;

import dyno.runner.Job;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;

/** H2. https://h2database.com/html/features.html */
final class H2 extends Embedded {
    /** H2 is asked for its cache in KiB, and reports it in MiB. */
    private static final int KIB = 1024;

    H2(Job job) {
        super(job, new org.h2.Driver(), List.of("write_delay", "retention_time", "cache_size"));
    }

    @Override
    String url(Path file) {
        return file == null ? "jdbc:h2:mem:dyno" : "jdbc:h2:file:" + file;
    }

    @Override
    String value(String name) throws SQLException {
        String ask = "SELECT setting_value FROM information_schema.settings WHERE setting_name = ";
        if (name.equals("cache_size")) {
            String most = first(ask + "'info.CACHE_MAX_SIZE'");
            return most == null ? null : String.valueOf(Long.parseLong(most) * KIB);
        }
        return first(ask + "'" + name.toUpperCase(Locale.ROOT).replace("'", "''") + "'");
    }

    @Override
    String version() throws SQLException {
        return first("SELECT h2version()");
    }

    @Override
    void waitForLocks(Connection opened, long milliseconds) throws SQLException {
        try (Statement statement = opened.createStatement()) {
            statement.execute("SET LOCK_TIMEOUT " + milliseconds);
        }
    }
}
