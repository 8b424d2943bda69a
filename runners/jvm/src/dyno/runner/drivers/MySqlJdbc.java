package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import dyno.runner.Load;
import dyno.runner.RowFile;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

/** Shared parts of the drivers of MySQL's protocol: options of connections, errors, and LOAD DATA from memory. */
abstract class MySqlJdbc extends ServerJdbc {
    private static final int PORT = 3306;
    // The numbers of errors that mean something: runners/mysql/errors.toml says what, with the manuals' pages.
    /** Errors after which there is no connection: the server has gone, was lost within a query, shuts down, has killed the
     *  connection or closed it as idle. */
    private static final List<Integer> LOST = List.of(2006, 2013, 1053, 1927, 3169, 4031);
    /** The numbers of servers' errors are below this: those of clients begin here. */
    private static final int CLIENTS = 45_000;
    /** A deadlock, a lock that was not to be had in time or at once, a row that another transaction has changed. */
    private static final List<Integer> MAY_PASS = List.of(1213, 1205, 3572, 1020);
    /** The server or its configuration lets no client send a file. */
    private static final List<Integer> NO_LOCAL = List.of(1148, 3948, 4166);
    private static final List<String> MODES =
            List.of("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY");
    private static final List<String> OPTIONS = List.of("ssl-mode", "connect-timeout", "ssl-ca");

    private static final String ACCOUNT = "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf";
    private static final String DATABASE = "; name a database in the URL that the user may enter, or none";
    /** Advice on a connection that failed, by the number of the error. */
    private static final Map<Integer, String> ADVICE = Map.of(
            1045, ACCOUNT,
            1698, ACCOUNT,
            1044, DATABASE,
            1049, DATABASE,
            1040, "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections",
            1203, "; the server accepts no more connections of one account: take fewer clients, or raise its max_user_connections",
            1226, "; the account may do no more: take fewer clients, or raise its limit (ALTER USER … WITH "
                    + "MAX_USER_CONNECTIONS …)");

    /** The way of encryption of the URL, or the one that its other options ask for. */
    final String mode;
    /** The file of the authority to believe, or null. */
    final String authority;
    final int patience;

    MySqlJdbc(Job job, List<String> variants) {
        super(job, variants);
        Map<String, String> options = new HashMap<>();
        job.server().options().forEach((name, value) -> {
            String plain = name.toLowerCase(Locale.ROOT).replace('_', '-');
            if (!OPTIONS.contains(plain)) {
                throw new Failure("the URL has the option '" + name + "', and a connection of this driver has "
                        + String.join(", ", OPTIONS));
            }
            options.put(plain, value);
        });
        authority = options.get("ssl-ca");
        String usual = authority == null ? "DISABLED" : "VERIFY_CA";
        mode = options.getOrDefault("ssl-mode", usual).toUpperCase(Locale.ROOT).replace('-', '_');
        if (!MODES.contains(mode)) {
            throw new Failure("the option ssl-mode is one of " + String.join(", ", MODES) + ", not '" + mode + "'");
        }
        patience = seconds("connect-timeout", options.getOrDefault("connect-timeout", String.valueOf(PATIENCE)));
    }

    /** Connects by the library, to this place as a URL names it. */
    abstract Connection attach(String place, String database, Properties properties) throws SQLException;

    /** Gives a statement the rows that LOAD DATA LOCAL asks for. */
    void give(Statement statement, InputStream rows) throws SQLException {
        throw new Failure("this driver does not load rows by LOAD DATA");
    }

    @Override
    final Connection attach(String database) throws SQLException {
        Job.Server server = job.server();
        int port = server.port() == null ? PORT : server.port();
        if (isLocal()) {
            LocalSockets.at(server.host());
        }
        String host = isLocal() ? "localhost" : server.host();
        String bracketed = host.contains(":") ? "[" + host + "]" : host;
        Connection opened = attach(bracketed + ":" + port, database == null ? "" : database, account());
        try (Statement statement = opened.createStatement()) {
            // The server's own choice of collation for it, which the driver's may not be.
            statement.execute("SET NAMES utf8mb4");
            return opened;
        } catch (SQLException error) {
            opened.close();
            throw error;
        }
    }

    @Override
    String encryption() throws SQLException {
        List<Object[]> found = query("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
        String cipher = found.isEmpty() ? "" : String.valueOf(found.get(0)[1]);
        return cipher.isEmpty() ? "none" : cipher;
    }

    /** True if the job loads rows by LOAD DATA: only then may the server ask for what a client has. */
    final boolean loadsData() {
        return variant.equals("load-data") && job.tests().stream().anyMatch(test -> test.model().equals("bulk-load"));
    }

    @Override
    String code(SQLException error) {
        int number = error.getErrorCode();
        boolean isServers = number > 0 && number < CLIENTS && !LOST.contains(number);
        return isServers && !String.valueOf(error.getSQLState()).startsWith("08") ? String.valueOf(number) : "";
    }

    /** The number, and the SQLSTATE, which several errors share. */
    @Override
    List<String> codes(SQLException error) {
        String code = code(error);
        return code.isEmpty() ? List.of() : List.of(code, String.valueOf(error.getSQLState()));
    }

    @Override
    public String words(SQLException error) {
        String code = code(error);
        // MariaDB's driver begins with the number of the connection.
        String words = reason(error).replaceFirst("^\\(conn=\\d+\\) ", "");
        if (!code.isEmpty()) {
            String advice = NO_LOCAL.contains(error.getErrorCode())
                    ? "; let the server take rows from its clients: SET GLOBAL local_infile = 1"
                    : "";
            return words + " (error " + code + ")" + advice;
        }
        boolean isLost = String.valueOf(error.getSQLState()).startsWith("08") || LOST.contains(error.getErrorCode());
        return connection != null && isLost
                ? "the connection to the server is lost: " + words
                        + ". If the server has crashed or was stopped, its log says why"
                : words;
    }

    @Override
    String advice(SQLException error) {
        String known = ADVICE.get(error.getErrorCode());
        if (known != null) {
            return known;
        }
        return String.valueOf(error.getSQLState()).startsWith("08")
                ? "; is the server running, and does it listen there? Else check the host's name"
                : "";
    }

    @Override
    Loader loader(Load load) throws SQLException {
        return variant.equals("load-data") ? new Data(load) : super.loader(load);
    }

    /** By LOAD DATA LOCAL. */
    private final class Data implements Loader {
        private final RowFile file;
        private final String sql;
        private final byte[] lines;
        private final Statement statement;

        Data(Load load) throws SQLException {
            file = load.file();
            sql = "LOAD DATA LOCAL INFILE 'rows' INTO TABLE " + identifier(load.table()) + " CHARACTER SET utf8mb4";
            lines = new byte[file.linesAtOnce() * file.lineBytes()];
            statement = connection.createStatement();
        }

        @Override
        public int rows() {
            return Integer.MAX_VALUE;
        }

        @Override
        public void load(Load.Range range) throws SQLException {
            give(statement, new Lines(file, range, lines));
            statement.execute(sql);
            // The server turns an error of an INSERT into a warning here.
            if (statement.getWarnings() != null) {
                throw new Failure("LOAD DATA changed what it was given: "
                        + Failure.oneLine(statement.getWarnings().getMessage()));
            }
        }

        @Override
        public void close() throws SQLException {
            statement.close();
        }
    }

    /** Rows as lines. */
    private static final class Lines extends InputStream {
        private final RowFile file;
        private final Iterator<Load.Range> parts;
        private final byte[] lines;
        private int at = 0;
        private int end = 0;

        /** `lines` has room for as many rows as are made into lines at once. */
        Lines(RowFile file, Load.Range range, byte[] lines) {
            this.file = file;
            this.parts = Load.parts(range, file.linesAtOnce()).iterator();
            this.lines = lines;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int start, int length) {
            if (at == end) {
                if (!parts.hasNext()) {
                    return -1;
                }
                Load.Range part = parts.next();
                end = file.lines(part.start(), part.stop(), lines);
                at = 0;
            }
            int some = Math.min(length, end - at);
            System.arraycopy(lines, at, bytes, start, some);
            at += some;
            return some;
        }
    }

    @Override
    Session client(Connection opened, boolean isOwn) {
        return new Client(this, opened, isOwn);
    }

    /** A statement whose values the driver writes into the text. */
    abstract java.sql.PreparedStatement simple(Connection opened, String sql) throws SQLException;

    private static final class Client extends JdbcSession {
        private final MySqlJdbc own;

        Client(MySqlJdbc driver, Connection opened, boolean isOwn) {
            super(driver, opened, isOwn);
            own = driver;
        }

        @Override
        public Call simple(List<String> pieces) throws SQLException {
            String sql = String.join("?", pieces);
            return new JdbcCall(own.simple(connection, sql), sql);
        }

        @Override
        public boolean mayPass(SQLException error) {
            return MAY_PASS.contains(error.getErrorCode());
        }
    }
}
