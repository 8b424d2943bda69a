package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import dyno.runner.Values;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Statements and queries that the job lists, executed outside the clock by the driver that is measured. What they mean is for
 *  dyno to say. */
final class Listed {
    /** Stands for any code. */
    private static final String ANY = "*";

    private final Jdbc driver;
    private volatile List<Job.Listed> onConnect;

    /** `onConnect` are the settings that every connection sets for itself. */
    Listed(Jdbc driver, List<Job.Listed> onConnect) {
        this.driver = driver;
        this.onConnect = onConnect;
    }

    /** Sets them for a connection. What the first connection was refused is not tried again: it would cost each of the others
     *  an exchange that no ordinary program makes. Several threads may call it. */
    void apply(Connection connection) throws SQLException {
        List<Job.Listed> taken = new ArrayList<>();
        for (Job.Listed one : onConnect) {
            if (execute(connection, one, "the setting '" + one.name() + "' is refused")) {
                taken.add(one);
            }
        }
        onConnect = taken;
    }

    /** Executes statements of a maintenance, in order. */
    void maintain(Connection connection, List<Job.Listed> statements) throws SQLException {
        for (Job.Listed one : statements) {
            execute(connection, one, "cannot " + one.name());
        }
    }

    /** Executes a statement. Returns false if it was refused for a reason that the job ignores. */
    private boolean execute(Connection connection, Job.Listed one, String what) {
        boolean taken = true;
        try (Statement statement = connection.createStatement()) {
            List<String> texts = new ArrayList<>(List.of(one.sql()));
            if (one.each()) {
                texts.clear();
                rows(connection, one.sql()).forEach(row -> texts.add(String.valueOf(row[0])));
            }
            for (String text : texts) {
                try {
                    statement.execute(text);
                } catch (SQLException error) {
                    String code = driver.code(error);
                    if (code.isEmpty() || !(one.ignores().contains(code) || one.ignores().contains(ANY))) {
                        throw error;
                    }
                    taken = false;
                }
            }
        } catch (SQLException error) {
            String code = driver.code(error);
            String message = what + ": " + driver.words(error);
            throw code.isEmpty() ? new Failure(message) : new Failure.Refused(message, code, one.name());
        }
        return taken;
    }

    /** Asks queries. What the engine refuses is reported as that; a lost connection is a failure. */
    List<Object> readBack(Connection connection, List<Job.Query> queries) {
        List<Object> answers = new ArrayList<>();
        for (Job.Query query : queries) {
            try {
                List<List<Object>> rows = rows(connection, query.query()).stream().map(Values::plain).toList();
                answers.add(Map.of("name", query.name(), "rows", rows));
            } catch (SQLException error) {
                String code = driver.code(error);
                if (code.isEmpty()) {
                    throw new Failure("cannot read the settings back: " + driver.words(error));
                }
                Map<String, String> refused = Map.of("code", code, "message", driver.words(error));
                answers.add(Map.of("name", query.name(), "refused", refused));
            }
        }
        return answers;
    }

    /** The answer of the first of some queries that the engine does not refuse; 0 if it refuses all. */
    long firstNumber(Connection connection, List<String> queries) {
        for (String query : queries) {
            try {
                return ((Number) rows(connection, query).get(0)[0]).longValue();
            } catch (SQLException error) {
                if (driver.code(error).isEmpty()) {
                    throw new Failure("cannot read the size of the database: " + driver.words(error));
                }
            }
        }
        return 0;
    }

    static List<Object[]> rows(Connection connection, String sql) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            if (statement.execute(sql)) {
                try (ResultSet found = statement.getResultSet()) {
                    JdbcCall.fetch(found, found.getMetaData().getColumnCount(), rows::add);
                }
            }
        }
        return rows;
    }
}
