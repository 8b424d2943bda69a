package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteException;
import org.sqlite.SQLiteJDBCLoader;

/** sqlite-jdbc, with the SQLite that it carries. https://github.com/xerial/sqlite-jdbc/blob/master/USAGE.md */
final class SqliteJdbc extends Jdbc {
    private static final String FILE = "dyno.db";
    /** The time that a connection waits for a lock when others may be open, in milliseconds. */
    private static final int PATIENCE = 10_000;
    private static final int BUSY = 5;
    private static final int LOCKED = 6;

    private final String place;
    /** True once SQLite knows where its temporary files belong. */
    private boolean isPlaced = false;

    SqliteJdbc(Job job) {
        super(job, Layered.VARIANTS);
        if (!job.build().equals("bundled")) {
            throw new Failure(
                    "sqlite-jdbc has its own SQLite and takes no other: name the contender sqlite/sqlite-jdbc");
        }
        place = placeOf(job);
    }

    private static String placeOf(Job job) {
        String place = "file";
        for (Job.Setting setting : job.settings()) {
            if (!setting.name().equals("database")) {
                throw new Failure("sqlite/sqlite-jdbc itself has no setting '" + setting.name() + "'");
            }
            if (!List.of("file", ":memory:", "temporary").contains(setting.value())) {
                throw new Failure("the setting 'database' is one of file, :memory:, temporary, not '" + setting.value()
                        + "'");
            }
            place = setting.value();
        }
        return place;
    }

    @Override
    Connection connect() throws SQLException {
        String name = switch (place) {
            case "file" -> Path.of(job.directory(), FILE).toString();
            case "temporary" -> "";
            default -> place;
        };
        SQLiteDataSource source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + name);
        Connection opened = source.getConnection();
        if (!isPlaced) {
            isPlaced = true;
            // SQLite's temporary files belong on the measured file system, like the database: that is a setting of the
            // process, and Java cannot set the variable SQLITE_TMPDIR.
            pragma(opened, "temp_store_directory = '" + job.directory().replace("'", "''") + "'");
        }
        return opened;
    }

    @Override
    public Identity open() throws SQLException {
        begin();
        Object[] version = query("SELECT sqlite_version(), sqlite_source_id()").get(0);
        List<Object> options = query("PRAGMA compile_options").stream().map(row -> row[0]).toList();
        Map<String, Object> build = new LinkedHashMap<>();
        build.put("source_id", List.of(version[1]));
        build.put("compile_options", options);
        String library = System.getProperty("org.sqlite.lib.path") + "/" + System.getProperty("org.sqlite.lib.name");
        build.put("library", List.of(library));
        List<Object> settings = List.of();
        return new Identity(
                (String) version[0], "sqlite-jdbc " + SQLiteJDBCLoader.getVersion(), build, settings,
                listed.readBack(connection, job.readBack()));
    }

    /** One more connection, while others may be about to write, or to close the database. */
    @Override
    Connection another() throws SQLException {
        if (!place.equals("file")) {
            throw new Failure("a database that is not in a file is that of one connection alone");
        }
        Connection opened = connect();
        try {
            pragma(opened, "busy_timeout = " + PATIENCE);
            listed.apply(opened);
            return opened;
        } catch (SQLException | Failure error) {
            opened.close();
            throw error;
        }
    }

    private static void pragma(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA " + text);
        }
    }

    /** Closes the connection while clients come and go: the last one that closes copies the log into the database and
     *  removes it, which is part of what it costs to come and go. */
    @Override
    public void aside() throws SQLException {
        if (!place.equals("file")) {
            throw new Failure("a database that is not in a file is that of one connection alone");
        }
        close();
    }

    @Override
    public void back() throws SQLException {
        use(another());
    }

    @Override
    public long changes() throws SQLException {
        return ((Number) query("SELECT total_changes()").get(0)[0]).longValue();
    }

    private static int codeOf(SQLException error) {
        return error instanceof SQLiteException own ? own.getResultCode().code : 0;
    }

    @Override
    String code(SQLException error) {
        int code = codeOf(error);
        return code > 0 ? String.valueOf(code) : "";
    }

    /** The driver puts the name of the code before SQLite's own message, in brackets. */
    @Override
    public String words(SQLException error) {
        String words = Failure.oneLine(error.getMessage()).replaceFirst("^\\[SQLITE_[A-Z_]+\\]\\s+", "");
        String code = code(error);
        return code.isEmpty() ? words : words + " (SQLite error " + code + ")";
    }

    @Override
    Session client(Connection opened, boolean isOwn) {
        return new Client(this, opened, isOwn);
    }

    /** It takes the write lock at the beginning of a transaction that writes: one that read first could not wait for it,
     *  since what it has read may have changed meanwhile (https://www.sqlite.org/lang_transaction.html). */
    private static final class Client extends JdbcSession {
        private final SQLiteConnection own;

        Client(SqliteJdbc driver, Connection opened, boolean isOwn) {
            super(driver, opened, isOwn);
            own = (SQLiteConnection) opened;
        }

        /** The driver prepares when it is asked for a PreparedStatement: again for each execution. */
        @Override
        public Call simple(List<String> pieces) {
            return new PreparedAgain(connection, String.join("?", pieces), pieces.size() - 1);
        }

        @Override
        public void waitForLocks(long patience) throws SQLException {
            pragma(connection, "busy_timeout = " + patience / 1_000_000);
        }

        @Override
        public void begin(boolean writes) throws SQLException {
            own.getConnectionConfig().setTransactionMode(writes ? TransactionMode.IMMEDIATE : TransactionMode.DEFERRED);
            own.setAutoCommit(false);
        }

        /** `commit` would begin the next transaction at once, and with it take the lock. */
        @Override
        public void commit() throws SQLException {
            try {
                own.setAutoCommit(true);
            } catch (SQLException error) {
                // The driver believes that there is no transaction any more, and would not roll it back.
                own.getConnectionConfig().setAutoCommit(false);
                throw error;
            }
        }

        /** So would `rollback`, which therefore begins one that takes no lock. If none was begun, there is none to roll back:
         *  the driver believes in one even if it could not begin. */
        @Override
        public void rollback() throws SQLException {
            own.getConnectionConfig().setTransactionMode(TransactionMode.DEFERRED);
            try {
                own.rollback();
            } catch (SQLException error) {
                if (codeOf(error) != 1) {
                    throw error;
                }
                own.getConnectionConfig().setAutoCommit(true);
                return;
            }
            own.setAutoCommit(true);
        }

        @Override
        public boolean mayPass(SQLException error) {
            int primary = codeOf(error) & 0xff;
            return primary == BUSY || primary == LOCKED;
        }

        @Override
        public List<String> codes(SQLException error) {
            return List.of(driver.code(error), String.valueOf(codeOf(error) & 0xff));
        }
    }
}
