package dyno.runner.drivers;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A statement that is prepared anew for each execution. */
final class PreparedAgain implements Call {
    /** Prepares it, executes it with these values and fetches its rows. */
    interface Execution {
        List<Object[]> run(Object[] values) throws SQLException;
    }

    private final Execution execution;
    private final Object[] values;

    PreparedAgain(int parameters, Execution execution) {
        this.execution = execution;
        this.values = new Object[parameters];
    }

    PreparedAgain(Connection connection, String sql, int parameters) {
        this(parameters, values -> execute(connection, sql, values));
    }

    @Override
    public void integer(int parameter, long value) {
        values[parameter - 1] = value;
    }

    @Override
    public void real(int parameter, double value) {
        values[parameter - 1] = value;
    }

    @Override
    public void object(int parameter, Object value) {
        values[parameter - 1] = value;
    }

    @Override
    public List<Object[]> run() throws SQLException {
        return execution.run(values);
    }

    private static List<Object[]> execute(Connection connection, String sql, Object[] values) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int place = 0; place < values.length; place++) {
                statement.setObject(place + 1, values[place]);
            }
            if (statement.execute()) {
                try (ResultSet found = statement.getResultSet()) {
                    JdbcCall.fetch(found, found.getMetaData().getColumnCount(), rows::add);
                }
            }
        }
        return rows;
    }
}
