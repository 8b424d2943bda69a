package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import dyno.runner.Load;
import dyno.runner.RowFile;
import java.sql.Connection;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyIn;
import org.postgresql.util.PGobject;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** pgjdbc. https://jdbc.postgresql.org/documentation/ */
class PgJdbc extends ServerJdbc {
    private static final int PORT = 5432;
    /** The server was stopped by its administrator. */
    private static final String SHUTDOWN = "57P01";
    /** A serialization failure, a deadlock, a lock that was not available. */
    private static final List<String> MAY_PASS = List.of("40001", "40P01", "55P03");
    /** Options of a URL, by libpq's names: the driver has them too. */
    private static final List<String> OPTIONS =
            List.of("sslmode", "connect_timeout", "application_name", "sslrootcert");
    private static final List<String> MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");
    private static final String FULL =
            "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections";
    /** Advice on a connection that failed, by the server's code or by the words of the driver. */
    private static final Map<String, String> ADVICE = Map.of(
            "28P01", "; check user and password in the URL, PGPASSWORD or ~/.pgpass",
            "28000", "; check user and password in the URL, PGPASSWORD or ~/.pgpass",
            "08004", "; give the password in the URL, in PGPASSWORD or in ~/.pgpass",
            "3D000", "; name a database and a user of the server in the URL",
            "53300", FULL,
            "08001", "; is the server running, and does it listen there? Else check the host's name");

    private final Properties properties;
    private final String mode;
    /** By text, the types of the parameters that the server chose. */
    private final Map<String, int[]> types = new ConcurrentHashMap<>();

    PgJdbc(Job job) {
        this(job, List.of("copy", "rewrite", "batch", "insert"));
    }

    PgJdbc(Job job, List<String> variants) {
        super(job, variants);
        Map<String, String> options = job.server().options();
        for (String name : options.keySet()) {
            if (!OPTIONS.contains(name)) {
                throw new Failure("the URL has the option '" + name + "', and a connection of this driver has "
                        + String.join(", ", OPTIONS));
            }
        }
        String root = options.get("sslrootcert");
        mode = options.getOrDefault("sslmode", root == null ? "disable" : "verify-ca");
        if (!MODES.contains(mode)) {
            throw new Failure("the option sslmode is one of libpq's, not '" + mode + "'");
        }
        properties = account();
        properties.setProperty("sslmode", mode);
        if (root != null) {
            properties.setProperty("sslrootcert", root);
        }
        properties.setProperty("gssEncMode", "disable");
        properties.setProperty("ApplicationName", options.getOrDefault("application_name", "dyno"));
        int patience =
                seconds("connect_timeout", options.getOrDefault("connect_timeout", String.valueOf(PATIENCE)));
        properties.setProperty("connectTimeout", String.valueOf(patience));
        properties.setProperty("loginTimeout", String.valueOf(patience));
        properties.setProperty("reWriteBatchedInserts", String.valueOf(variant.equals("rewrite")));
    }

    @Override
    Connection attach(String database) throws SQLException {
        Job.Server server = job.server();
        int port = server.port() == null ? PORT : server.port();
        String host = server.host();
        if (isLocal()) {
            LocalSockets.at(host + "/.s.PGSQL." + port);
            properties.setProperty("socketFactory", LocalSockets.class.getName());
            host = "localhost";
        }
        String bracketed = host.contains(":") ? "[" + host + "]" : host;
        properties.setProperty("PGDBNAME", database == null ? server.user() : database);
        Connection opened =
                new org.postgresql.Driver().connect("jdbc:postgresql://" + bracketed + ":" + port + "/", properties);
        // An interval stays the text that the server writes.
        opened.unwrap(PGConnection.class).addDataType("interval", PGobject.class);
        return opened;
    }

    @Override
    String encryption() throws SQLException {
        if (isLocal() || mode.equals("disable")) {
            return "none";
        }
        String otherwise = MODES.indexOf(mode) > MODES.indexOf("prefer") ? "TLS" : "none";
        try {
            List<Object[]> found = query("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl");
            return found.isEmpty() ? otherwise : String.valueOf(found.get(0)[0]);
        } catch (SQLException error) {
            // Not every server has this view.
            return otherwise;
        }
    }

    @Override
    String driverVersion() {
        return "pgjdbc " + org.postgresql.util.DriverInfo.DRIVER_VERSION;
    }

    private static ServerErrorMessage message(SQLException error) {
        return error instanceof PSQLException own ? own.getServerErrorMessage() : null;
    }

    /** The first error of a batch has the cause as its next. */
    private static SQLException cause(SQLException error) {
        SQLException next = error.getNextException();
        return message(error) == null && next != null && message(next) != null ? next : error;
    }

    @Override
    String code(SQLException error) {
        String code = message(cause(error)) == null ? "" : String.valueOf(cause(error).getSQLState());
        return code.equals(SHUTDOWN) ? "" : code;
    }

    @Override
    public String words(SQLException error) {
        ServerErrorMessage message = message(cause(error));
        String code = code(error);
        if (message != null && !code.isEmpty()) {
            StringBuilder words = new StringBuilder(Failure.oneLine(message.getMessage()));
            for (String more : new String[] {message.getDetail(), message.getHint()}) {
                words.append(more == null ? "" : " " + Failure.oneLine(more));
            }
            return words + " (PostgreSQL error " + code + ")";
        }
        String words = reason(error).replaceFirst("\\.$", "");
        String state = String.valueOf(error.getSQLState());
        boolean isLost = state.startsWith("08") || state.equals(SHUTDOWN);
        return connection != null && isLost
                ? "the connection to the server is lost: " + words
                        + ". If the server has crashed or was stopped, its log says why"
                : words;
    }

    @Override
    String advice(SQLException error) {
        return ADVICE.getOrDefault(String.valueOf(error.getSQLState()), "");
    }

    @Override
    PreparedStatement prepare(String sql) throws SQLException {
        return prepared(connection, sql, 1);
    }

    /** The server keeps it prepared from that execution on; after none, with 0. */
    private static PreparedStatement prepared(Connection connection, String sql, int threshold) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.unwrap(PGStatement.class).setPrepareThreshold(threshold);
        return statement;
    }

    @Override
    boolean keep(Connection opened, boolean isPrepared) throws SQLException {
        opened.unwrap(PGConnection.class).setPrepareThreshold(isPrepared ? 1 : 0);
        return true;
    }

    @Override
    Loader loader(Load load) throws SQLException {
        return variant.equals("copy") ? new Copies(load) : super.loader(load);
    }

    /** By COPY. */
    private final class Copies implements Loader {
        private final RowFile file;
        private final String sql;
        private final byte[] lines;

        Copies(Load load) {
            file = load.file();
            sql = "COPY " + identifier(load.table()) + " FROM STDIN";
            lines = new byte[file.linesAtOnce() * file.lineBytes()];
        }

        @Override
        public int rows() {
            return Integer.MAX_VALUE;
        }

        @Override
        public void load(Load.Range range) throws SQLException {
            CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(sql);
            try {
                for (Load.Range part : Load.parts(range, file.linesAtOnce())) {
                    copy.writeToCopy(lines, 0, file.lines(part.start(), part.stop(), lines));
                }
                copy.endCopy();
            } finally {
                if (copy.isActive()) {
                    copy.cancelCopy();
                }
            }
        }
    }

    @Override
    Session client(Connection opened, boolean isOwn) {
        return new Client(this, opened, isOwn);
    }

    /** A statement on a connection, which the server keeps prepared; with the threshold 0 it does not. */
    final JdbcCall call(Connection on, String sql, int parameters, int threshold) throws SQLException {
        PreparedStatement statement = prepared(on, sql, threshold);
        int[] known = types.get(sql);
        if (known == null) {
            known = typesOf(statement, parameters);
            types.put(sql, known);
        }
        return new Typed(statement, sql, known);
    }

    private static int[] typesOf(PreparedStatement statement, int parameters) throws SQLException {
        int[] types = new int[parameters];
        if (parameters > 0) {
            ParameterMetaData found = statement.getParameterMetaData();
            for (int place = 0; place < parameters; place++) {
                types[place] = found.getParameterType(place + 1);
            }
        }
        return types;
    }

    final boolean passes(SQLException error) {
        return MAY_PASS.contains(code(error));
    }

    private static final class Client extends JdbcSession {
        private final PgJdbc own;

        Client(PgJdbc driver, Connection opened, boolean isOwn) {
            super(driver, opened, isOwn);
            own = driver;
        }

        @Override
        public Call prepare(List<String> pieces) throws SQLException {
            return own.call(connection, String.join("?", pieces), pieces.size() - 1, 1);
        }

        @Override
        public Call simple(List<String> pieces) throws SQLException {
            return own.call(connection, String.join("?", pieces), pieces.size() - 1, 0);
        }

        @Override
        public boolean mayPass(SQLException error) {
            return own.passes(error);
        }
    }

    /** A call whose numbers have the types that the server chose, as a program that knows its tables binds them. The driver
     *  prepares a statement anew for other types. */
    private static final class Typed extends JdbcCall {
        private final int[] types;

        Typed(PreparedStatement statement, String sql, int[] types) {
            super(statement, sql);
            this.types = types;
        }

        @Override
        public void integer(int parameter, long value) throws SQLException {
            switch (types[parameter - 1]) {
                case Types.INTEGER, Types.SMALLINT -> {
                    if (value == (int) value) {
                        statement.setInt(parameter, (int) value);
                    } else {
                        statement.setLong(parameter, value);
                    }
                }
                case Types.NUMERIC -> statement.setBigDecimal(parameter, java.math.BigDecimal.valueOf(value));
                case Types.DOUBLE, Types.REAL -> statement.setDouble(parameter, value);
                case Types.VARCHAR -> statement.setString(parameter, String.valueOf(value));
                default -> statement.setLong(parameter, value);
            }
        }

        @Override
        public void real(int parameter, double value) throws SQLException {
            if (types[parameter - 1] == Types.NUMERIC) {
                statement.setBigDecimal(parameter, java.math.BigDecimal.valueOf(value));
            } else {
                statement.setDouble(parameter, value);
            }
        }

        @Override
        public void object(int parameter, Object value) throws SQLException {
            int type = types[parameter - 1];
            if (value == null) {
                statement.setNull(parameter, type);
            } else if (value instanceof Number number && !(value instanceof java.math.BigDecimal)
                    && (type == Types.INTEGER || type == Types.BIGINT || type == Types.SMALLINT || type == Types.NUMERIC)
                    && !(value instanceof Double || value instanceof Float)) {
                integer(parameter, number.longValue());
            } else if (value instanceof String && (type == Types.DATE || type == Types.TIME || type == Types.TIMESTAMP)) {
                // As a text without a type, which the server reads as the one that it wants.
                statement.setObject(parameter, value, Types.OTHER);
            } else {
                super.object(parameter, value);
            }
        }
    }
}
