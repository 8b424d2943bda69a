package dyno.runner.drivers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dyno.runner.Failure;
import dyno.runner.Job;
import java.io.IOException;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** HikariCP above pgjdbc: clients borrow connections of a pool and give them back. https://github.com/brettwooldridge/HikariCP */
final class Hikari extends PgJdbc {
    private static final String SIZE = "pool-";

    private HikariDataSource pool = null;

    Hikari(Job job) {
        super(job, List.of("pool-10", "pool-2", "pool-5", "pool-20"));
    }

    private HikariDataSource pool() throws SQLException {
        if (pool == null) {
            HikariConfig config = new HikariConfig();
            config.setDataSource(new Source());
            config.setMaximumPoolSize(Integer.parseInt(variant.substring(SIZE.length())));
            pool = new HikariDataSource(config);
            fill(config.getMaximumPoolSize());
        }
        return pool;
    }

    /** Has all connections opened before the clock starts: the pool would open them one after another in the background, while
     *  clients wait for them. */
    private void fill(int size) throws SQLException {
        List<Connection> all = new ArrayList<>();
        try {
            while (all.size() < size) {
                all.add(pool.getConnection());
            }
        } finally {
            for (Connection one : all) {
                one.close();
            }
        }
    }

    @Override
    String driverVersion() {
        Properties about = new Properties();
        try (InputStream file = HikariDataSource.class.getResourceAsStream("/META-INF/maven/com.zaxxer/HikariCP/pom.properties")) {
            about.load(file);
        } catch (IOException error) {
            throw new Failure("the version of HikariCP cannot be read: " + error.getMessage());
        }
        return "HikariCP " + about.getProperty("version") + " over " + super.driverVersion();
    }

    @Override
    public Session session(int place) throws SQLException {
        return new Borrower(this, pool());
    }

    @Override
    public void close() throws SQLException {
        if (pool != null) {
            pool.close();
        }
        super.close();
    }

    @Override
    public void abandon() {
        if (pool != null) {
            pool.close();
        }
        super.abandon();
    }

    /** Connections with the settings of the job, for the pool. */
    private final class Source extends org.postgresql.ds.PGSimpleDataSource {
        private static final long serialVersionUID = 1;

        @Override
        public Connection getConnection() throws SQLException {
            return another();
        }
    }

    /** A client that has a connection for a transaction, or for a statement. */
    private static final class Borrower implements Session {
        private final Hikari driver;
        private final HikariDataSource pool;
        private Connection held = null;

        Borrower(Hikari driver, HikariDataSource pool) {
            this.driver = driver;
            this.pool = pool;
        }

        @Override
        public Call prepare(List<String> pieces) throws SQLException {
            return call(pieces, 1);
        }

        @Override
        public Call simple(List<String> pieces) throws SQLException {
            return call(pieces, 0);
        }

        /** pgjdbc keeps the statements of a connection, so that asking for one again finds it prepared. */
        private Call call(List<String> pieces, int threshold) throws SQLException {
            String sql = String.join("?", pieces);
            int parameters = pieces.size() - 1;
            // A statement that cannot be prepared is refused before the clock starts.
            try (Connection first = pool.getConnection()) {
                driver.call(first, sql, parameters, threshold).statement.close();
            }
            return new PreparedAgain(parameters, values -> execute(sql, threshold, values));
        }

        private List<Object[]> execute(String sql, int threshold, Object[] values) throws SQLException {
            Connection on = held == null ? pool.getConnection() : held;
            try {
                JdbcCall call = driver.call(on, sql, values.length, threshold);
                try (call.statement) {
                    for (int place = 0; place < values.length; place++) {
                        if (values[place] instanceof Double real) {
                            call.real(place + 1, real);
                        } else {
                            call.object(place + 1, values[place]);
                        }
                    }
                    return call.run();
                }
            } finally {
                if (held == null) {
                    on.close();
                }
            }
        }

        @Override
        public void waitForLocks(long patience) {}

        @Override
        public void separate() {}

        @Override
        public void begin(boolean writes) throws SQLException {
            held = pool.getConnection();
            held.setAutoCommit(false);
        }

        @Override
        public void commit() throws SQLException {
            held.commit();
            close();
        }

        @Override
        public void rollback() throws SQLException {
            if (held != null) {
                held.rollback();
                close();
            }
        }

        @Override
        public boolean keeps() {
            return true;
        }

        @Override
        public boolean mayPass(SQLException error) {
            return driver.passes(error);
        }

        @Override
        public List<String> codes(SQLException error) {
            return driver.codes(error);
        }

        @Override
        public String words(SQLException error) {
            return driver.words(error);
        }

        @Override
        public void close() throws SQLException {
            Connection open = held;
            held = null;
            if (open != null) {
                open.close();
            }
        }
    }
}
