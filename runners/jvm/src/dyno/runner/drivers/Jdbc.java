package dyno.runner.drivers;

import dyno.runner.Answer;
import dyno.runner.Failure;
import dyno.runner.Job;
import dyno.runner.Load;
import dyno.runner.RowFile;
import dyno.runner.Statements;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A driver behind JDBC: everything but connections, errors and ways of loading that are the library's own. Its loops do what
 *  a careful program would do and nothing else. */
abstract class Jdbc implements Driver {
    /** Rows that a batch holds, and that are read back at once. */
    static final int MANY = 1000;

    final Job job;
    final String variant;
    final Listed listed;
    Connection connection = null;
    /** For all statements that are executed once. */
    private Statement statement = null;
    private long changes = 0;

    /** `variants` are the ways of loading rows that a contender may name, the usual one first. */
    Jdbc(Job job, List<String> variants) {
        this.job = job;
        this.variant = job.variant() == null ? variants.get(0) : job.variant();
        this.listed = new Listed(this, job.onConnect());
        if (!variants.contains(variant)) {
            throw new Failure(job.engine() + "/" + job.driver() + " has no way of working '" + variant + "'; it has "
                    + String.join(", ", variants));
        }
    }

    /** A connection to the database of the trial, without its settings. */
    abstract Connection connect() throws SQLException;

    /** The engine's code of an error; empty for an error of the connection. */
    abstract String code(SQLException error);

    /** A client on a connection. With `isOwn` the connection was opened for this client. */
    abstract Session client(Connection connection, boolean isOwn);

    /** What loads rows by the variant. */
    Loader loader(Load load) throws SQLException {
        return new Batches(load);
    }

    /** The codes by which a class may name an error; none of an error of the connection. */
    List<String> codes(SQLException error) {
        String code = code(error);
        return code.isEmpty() ? List.of() : List.of(code);
    }

    /** Has the server keep the statements prepared that a layer executes on a connection, or keep none. Returns false if this
     *  driver has no call for that. */
    boolean keep(Connection opened, boolean isPrepared) throws SQLException {
        return false;
    }

    /** The archive of the driver, which is that of an engine in Java as well. */
    final String archive() {
        try {
            return Path.of(connection.getClass().getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException error) {
            throw new Failure("the archive of the driver has no name: " + error.getMessage());
        }
    }

    /** Opens the connection of the trial, with the settings. */
    void begin() throws SQLException {
        use(connect());
        listed.apply(connection);
    }

    final void use(Connection opened) throws SQLException {
        connection = opened;
        statement = opened.createStatement();
    }

    /** One more connection, with the settings in force. */
    Connection another() throws SQLException {
        Connection opened = connect();
        try {
            listed.apply(opened);
            return opened;
        } catch (SQLException | Failure error) {
            opened.close();
            throw error;
        }
    }

    @Override
    public void statements(Statements file, Answer answer) throws SQLException {
        int place = 0;
        try {
            for (; place < file.count(); place++) {
                run(file.get(place), answer::add);
            }
        } catch (SQLException error) {
            throw failure(error, place);
        }
    }

    /** Executes a statement, and fetches every value of its rows. */
    void run(String sql, Consumer<Object[]> add) throws SQLException {
        if (statement.execute(sql)) {
            try (ResultSet found = statement.getResultSet()) {
                JdbcCall.fetch(found, found.getMetaData().getColumnCount(), add);
            }
        } else {
            changes += Math.max(0, statement.getUpdateCount());
        }
    }

    @Override
    public void insertRows(Load load) throws Exception {
        load(load, new Inserts(load));
    }

    @Override
    public void bulkLoad(Load load) throws Exception {
        load(load, variant.equals("insert") ? new Inserts(load) : loader(load));
    }

    /** Loads all rows, and closes what loads them. */
    final void load(Load load, Loader loader) throws Exception {
        try (loader) {
            if (load.isSingle(loader.rows())) {
                // It commits on its own: statements around it would cost an exchange with a server each.
                transactions(load, loader, () -> {});
            } else {
                connection.setAutoCommit(false);
                transactions(load, loader, connection::commit);
                connection.setAutoCommit(true);
            }
        } catch (SQLException error) {
            throw failure(error, loader.place());
        }
    }

    /** The end of a transaction. */
    private interface Commit {
        void run() throws SQLException;
    }

    private static void transactions(Load load, Loader loader, Commit commit) throws Exception {
        Load.Range range = load.transaction(load.start());
        while (range.start() < load.stop()) {
            loader.load(range);
            commit.run();
            range = load.transaction(range.stop());
        }
    }

    /** A prepared INSERT, which inserts the rows of a load. */
    private abstract class Prepared implements Loader {
        final PreparedStatement insert;
        private final RowFile file;
        private final String[] cells;

        Prepared(Load load, PreparedStatement insert) {
            file = load.file();
            cells = new String[file.columns().size()];
            this.insert = insert;
        }

        final void bind(int place) throws SQLException {
            file.read(place, cells);
            for (int column = 0; column < cells.length; column++) {
                insert.setString(column + 1, cells[column]);
            }
        }

        @Override
        public void close() throws SQLException {
            insert.close();
        }
    }

    /** By `executeUpdate` for each row. */
    private final class Inserts extends Prepared {
        private int place = Failure.NOWHERE;

        Inserts(Load load) throws SQLException {
            super(load, prepare(insertText(load)));
        }

        @Override
        public void load(Load.Range range) throws SQLException {
            for (int row = range.start(); row < range.stop(); row++) {
                place = row;
                bind(row);
                insert.executeUpdate();
            }
            // A commit that fails is no row's.
            place = Failure.NOWHERE;
        }

        @Override
        public int place() {
            return place;
        }
    }

    /** By `executeBatch`. */
    private final class Batches extends Prepared {
        Batches(Load load) throws SQLException {
            super(load, prepareBatches(load, insertText(load)));
        }

        @Override
        public void load(Load.Range range) throws SQLException {
            for (Load.Range part : Load.parts(range, MANY)) {
                batch(part);
            }
        }

        /** A single row goes without a batch, for which pgjdbc has the server parse it each time, and MySQL Connector/J, where it
         *  rewrites batches, prepares a statement each time. */
        private void batch(Load.Range part) throws SQLException {
            if (part.stop() - part.start() == 1) {
                bind(part.start());
                insert.executeUpdate();
                return;
            }
            for (int row = part.start(); row < part.stop(); row++) {
                bind(row);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    /** A statement for rows. */
    PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /** A statement for the batches of a load. */
    PreparedStatement prepareBatches(Load load, String sql) throws SQLException {
        return prepare(sql);
    }

    private static String insertText(Load load) {
        List<String> marks = Collections.nCopies(load.file().columns().size(), "?");
        return "INSERT INTO " + identifier(load.table()) + " VALUES (" + String.join(", ", marks) + ")";
    }

    @Override
    public void scan(String sql, Answer answer) throws SQLException {
        try (PreparedStatement scan = connection.prepareStatement(sql);
                ResultSet found = scan.executeQuery()) {
            JdbcCall.fetch(found, found.getMetaData().getColumnCount(), answer::add);
        }
    }

    @Override
    public List<Object[]> query(String sql) throws SQLException {
        Answer answer = new Answer(true);
        run(sql, answer::add);
        return answer.rows();
    }

    @Override
    public void table(String table, List<RowFile.Column> columns, Consumer<Object[]> add) throws SQLException {
        String names = columns.stream().map(column -> identifier(column.name())).collect(Collectors.joining(", "));
        // PostgreSQL's driver fetches some rows at a time only within a transaction.
        connection.setAutoCommit(false);
        try (Statement read = connection.createStatement()) {
            read.setFetchSize(fetchSize());
            try (ResultSet found = read.executeQuery("SELECT " + names + " FROM " + identifier(table))) {
                JdbcCall.fetch(found, columns.size(), add);
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    /** The fetch size with which the driver does not hold all rows of a table. */
    int fetchSize() {
        return MANY;
    }

    @Override
    public long changes() throws SQLException {
        return changes;
    }

    @Override
    public Long databaseBytes() throws SQLException {
        return null;
    }

    @Override
    public Session session(int place) throws SQLException {
        return client(place == 0 ? connection : another(), place > 0);
    }

    @Override
    public Session visit() throws SQLException {
        return client(another(), true);
    }

    @Override
    public void close() throws SQLException {
        Connection open = connection;
        connection = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void abandon() {
        try {
            close();
        } catch (SQLException | Failure error) {
            // The first failure is the one to report.
        }
    }

    /** Checks that a name can stand unquoted in a statement. */
    static String identifier(String name) {
        if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            throw new Failure("'" + name + "' is no name of a table: letters, digits and _ make one");
        }
        return name;
    }
}
