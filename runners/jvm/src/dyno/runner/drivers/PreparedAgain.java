package dyno.runner.drivers;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A statement that is prepared anew for each execution. */
final class PreparedAgain implements Call {
    private final Connection connection;
    private final String sql;
    private final Object[] values;

    PreparedAgain(Connection connection, String sql, int parameters) {
        this.connection = connection;
        this.sql = sql;
        this.values = new Object[parameters];
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
