package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import dyno.runner.Load;
import dyno.runner.Tests;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Tests of what drivers ask of JDBC, without an engine. */
public final class DriversTests {
    private DriversTests() {}

    private static Job job(String variant, Job.Server server) {
        String build = server == null ? "bundled" : "system";
        return new Job(
                "toy", "", "toy", variant, build, List.of(), "/", List.of(), server, null, List.of(), List.of(), List.of(), false,
                0);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** A connection that notes what it is asked for, and so do its statements. */
    private static Connection noting(List<String> calls) {
        PreparedStatement statement = proxy(PreparedStatement.class, (self, method, values) -> {
            if (!method.getName().startsWith("set")) {
                calls.add(method.getName());
            }
            return method.getReturnType() == int.class ? 1 : null;
        });
        return proxy(Connection.class, (self, method, values) -> {
            if (method.getName().equals("createStatement")) {
                return statement;
            }
            calls.add(method.getName() + (method.getName().equals("setAutoCommit") ? " " + values[0] : ""));
            return method.getReturnType() == PreparedStatement.class ? statement : null;
        });
    }

    /** A driver of no engine. */
    private static final class Toy extends Jdbc {
        Toy(String variant, Connection opened) throws SQLException {
            super(job(variant, null), List.of("batch", "insert"));
            use(opened);
        }

        @Override
        Connection connect() {
            return connection;
        }

        @Override
        public Identity open() {
            return new Identity("", "", Map.of(), List.of(), List.of());
        }

        @Override
        String code(SQLException error) {
            return "";
        }

        @Override
        public String words(SQLException error) {
            return error.getMessage();
        }

        @Override
        Session client(Connection opened, boolean isOwn) {
            return null;
        }

        @Override
        public void aside() {}

        @Override
        public void back() {}
    }

    /** The calls of a load of three rows. */
    private static String calls(String variant, int perCommit) throws Exception {
        List<String> calls = new ArrayList<>();
        Toy driver = new Toy(variant, noting(calls));
        driver.bulkLoad(new Load("t", Tests.rows("aa1bb2cc3", 3), 0, 3, perCommit));
        return String.join(", ", calls);
    }

    /** A statement is prepared once for a load, and a transaction of one statement is neither begun nor committed. */
    public static void aTransactionOfOneStatementCommitsOnItsOwnTest() throws Exception {
        String single = "prepareStatement, executeUpdate, executeUpdate, executeUpdate, close";
        Tests.equal(calls("insert", 1), single);
        Tests.equal(calls("batch", 1), single);
        Tests.equal(
                calls("insert", 2),
                "prepareStatement, setAutoCommit false, executeUpdate, executeUpdate, commit, executeUpdate, commit, "
                        + "setAutoCommit true, close");
        Tests.equal(
                calls("batch", 2),
                "prepareStatement, setAutoCommit false, addBatch, addBatch, executeBatch, commit, executeUpdate, commit, "
                        + "setAutoCommit true, close");
        Tests.equal(
                calls("batch", 0),
                "prepareStatement, setAutoCommit false, addBatch, addBatch, addBatch, executeBatch, commit, "
                        + "setAutoCommit true, close");
    }

    private static List<MySqlJdbc> mysql() {
        Job job = job(null, new Job.Server("h", null, "u", null, "d", Map.of(), 0, List.of()));
        return List.of(new MariaDbClient(job), new ConnectorJ(job));
    }

    /** A class may name an error of MySQL's protocol in both ways. */
    public static void anErrorHasItsNumberAndItsSqlStateTest() {
        for (MySqlJdbc driver : mysql()) {
            Tests.equal(driver.codes(new SQLException("twice", "23000", 1062)), List.of("1062", "23000"));
            Tests.equal(driver.codes(new SQLException("refused", "08S01", 0)), List.of());
            Tests.equal(driver.codes(new SQLException("killed", "70100", 1927)), List.of());
        }
    }

    public static void aListedErrorIsIgnoredByItsNumberTest() throws SQLException {
        PreparedStatement statement = proxy(PreparedStatement.class, (self, method, values) -> {
            if (method.getName().equals("execute")) {
                throw new SQLException("twice", "23000", 1062);
            }
            return null;
        });
        Connection refusing = proxy(Connection.class, (self, method, values) -> statement);
        for (MySqlJdbc driver : mysql()) {
            for (String code : List.of("1062", "*")) {
                apply(driver, code, refusing);
            }
            for (String code : List.of("1050", "23000")) {
                try {
                    apply(driver, code, refusing);
                    throw new AssertionError("another error was ignored");
                } catch (Failure.Refused refused) {
                    Tests.equal(refused.getMessage(), "the setting 'add' is refused: twice (error 1062)");
                }
            }
        }
    }

    private static void apply(MySqlJdbc driver, String ignored, Connection connection) throws SQLException {
        new Listed(driver, List.of(new Job.Listed("add", "INSERT", List.of(ignored), false))).apply(connection);
    }
}
