package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Consumer;

/** An engine that is written in Java and works within the process. Its settings are properties of the URL by which the first
 *  connection opens the database, and the isolation of each connection. */
abstract class Embedded extends Jdbc {
    private static final Map<String, Integer> ISOLATION = Map.of(
            "read-uncommitted", Connection.TRANSACTION_READ_UNCOMMITTED,
            "read-committed", Connection.TRANSACTION_READ_COMMITTED,
            "repeatable-read", Connection.TRANSACTION_REPEATABLE_READ,
            "serializable", Connection.TRANSACTION_SERIALIZABLE);
    /** A serialization failure or a deadlock, and a lock that was not got in time or a row that another one changed. */
    private static final List<String> MAY_PASS = List.of("40001", "40XL1", "40XL2", "HYT00", "90131");
    /** The state of an error of the connection begins so. */
    private static final String LOST = "08";

    final Map<String, String> asked = new java.util.LinkedHashMap<>();
    private final java.sql.Driver library;
    private boolean isOpen = false;

    /** `names` are the settings that it takes as properties. */
    Embedded(Job job, java.sql.Driver library, List<String> names) {
        super(job, List.of("batch", "insert"));
        this.library = library;
        if (!job.build().equals("bundled")) {
            throw new Failure(job.engine() + " is a library of the runner and has the build bundled alone");
        }
        for (Job.Setting setting : job.settings()) {
            boolean isOwn = setting.name().equals("database") || setting.name().equals("isolation");
            if (!isOwn && !names.contains(setting.name())) {
                throw new Failure(job.engine() + " has no setting '" + setting.name() + "' here; it has database, isolation, "
                        + String.join(", ", names));
            }
            // It would add a property to the URL.
            if (setting.value().contains(";")) {
                throw new Failure("the value of the setting '" + setting.name() + "' holds a semicolon");
            }
            asked.put(setting.name(), setting.value());
        }
        check("database", List.of("file", ":memory:"));
        check("isolation", new TreeSet<>(ISOLATION.keySet()));
    }

    private void check(String name, java.util.Collection<String> values) {
        if (asked.containsKey(name) && !values.contains(asked.get(name))) {
            throw new Failure("the setting '" + name + "' is one of " + String.join(", ", values) + ", not '" + asked.get(name)
                    + "'");
        }
    }

    /** The URL of a database in this file, or of one in memory where it is null, without properties. */
    abstract String url(Path file);

    /** A property of the URL of the first connection. */
    String property(String name, String value) {
        return ";" + name + "=" + value;
    }

    /** The properties of every connection's URL. */
    String always() {
        return "";
    }

    /** The value in force of a setting; null where the engine has none by that name or does not report it. */
    abstract String value(String name) throws SQLException;

    abstract String version() throws SQLException;

    /** Ends the work on the database, of which the last connection is given. */
    void shutDown(Connection last) throws SQLException {
        last.close();
    }

    @Override
    Connection connect() throws SQLException {
        boolean isFile = asked.getOrDefault("database", "file").equals("file");
        StringBuilder url = new StringBuilder(url(isFile ? Path.of(job.directory(), "dyno") : null)).append(always());
        if (!isOpen) {
            asked.forEach((name, value) -> {
                if (!name.equals("database") && !name.equals("isolation")) {
                    url.append(property(name, value));
                }
            });
        }
        Connection opened = library.connect(url.toString(), new Properties());
        isOpen = true;
        if (asked.containsKey("isolation")) {
            opened.setTransactionIsolation(ISOLATION.get(asked.get("isolation")));
        }
        return opened;
    }

    @Override
    public Identity open() throws SQLException {
        begin();
        List<String> names = new ArrayList<>(asked.keySet());
        job.readBack().stream().map(Job.Query::name).filter(name -> !names.contains(name)).forEach(names::add);
        List<Object> settings = new ArrayList<>();
        for (String name : names) {
            String value = inForce(name);
            if (value != null) {
                settings.add(Map.of("name", name, "value", value));
            }
        }
        String version = version();
        return new Identity(version, job.engine() + " " + version, Map.of("library", List.of(archive())), settings, List.of());
    }

    private String inForce(String name) throws SQLException {
        return switch (name) {
            case "database" -> asked.getOrDefault(name, "file");
            case "isolation" -> {
                int level = connection.getTransactionIsolation();
                yield ISOLATION.entrySet().stream().filter(one -> one.getValue() == level).findAny().orElseThrow().getKey();
            }
            default -> value(name);
        };
    }

    /** The first value of the first row, as a text, or null without a row. */
    final String first(String sql) throws SQLException {
        List<Object[]> rows = query(sql);
        return rows.isEmpty() || rows.get(0)[0] == null ? null : rows.get(0)[0].toString();
    }

    /** Transactions are those of JDBC: not all of these engines have statements for them. */
    @Override
    void run(String sql, Consumer<Object[]> add) throws SQLException {
        if (sql.equals("BEGIN")) {
            connection.setAutoCommit(false);
        } else if (sql.equals("COMMIT")) {
            connection.commit();
            connection.setAutoCommit(true);
        } else {
            super.run(sql, add);
        }
    }

    /** The database stays open while clients come and go, as in a program that has it within. */
    @Override
    public void aside() {}

    @Override
    public void back() {}

    @Override
    public void close() throws SQLException {
        Connection open = connection;
        connection = null;
        if (open != null) {
            shutDown(open);
        }
    }

    @Override
    String code(SQLException error) {
        String state = String.valueOf(error.getSQLState());
        return state.startsWith(LOST) ? "" : state;
    }

    @Override
    public String words(SQLException error) {
        // H2 appends the statement.
        String words = Failure.oneLine(error.getMessage()).replaceFirst("; SQL statement: .*$", "");
        SQLException next = error.getNextException();
        return words + " (" + job.engine() + " error " + error.getSQLState() + ")"
                + (next == null || next == error ? "" : ": " + Failure.oneLine(next.getMessage()));
    }

    @Override
    Session client(Connection opened, boolean isOwn) {
        return new Client(this, opened, isOwn);
    }

    /** Sets a connection's limit of waiting for a lock, where the engine has one for each connection. */
    void waitForLocks(Connection opened, long milliseconds) throws SQLException {}

    private static final class Client extends JdbcSession {
        private final Embedded own;

        Client(Embedded driver, Connection opened, boolean isOwn) {
            super(driver, opened, isOwn);
            own = driver;
        }

        @Override
        public Call simple(List<String> pieces) {
            return new PreparedAgain(connection, String.join("?", pieces), pieces.size() - 1);
        }

        @Override
        public void waitForLocks(long patience) throws SQLException {
            own.waitForLocks(connection, Math.min(patience / 1_000_000, Integer.MAX_VALUE));
        }

        @Override
        public boolean mayPass(SQLException error) {
            return MAY_PASS.contains(String.valueOf(error.getSQLState()));
        }
    }
}
