package dyno.runner.drivers;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A PreparedStatement of a client. */
class JdbcCall implements Call {
    final PreparedStatement statement;
    /** The number of columns of its rows, 0 if it returns none; unknown before the first execution. It does not change. */
    private int columns = UNKNOWN;
    private static final int UNKNOWN = -1;

    JdbcCall(PreparedStatement statement) {
        this.statement = statement;
    }

    @Override
    public void integer(int parameter, long value) throws SQLException {
        statement.setLong(parameter, value);
    }

    @Override
    public void real(int parameter, double value) throws SQLException {
        statement.setDouble(parameter, value);
    }

    @Override
    public void object(int parameter, Object value) throws SQLException {
        if (value instanceof String text) {
            statement.setString(parameter, text);
        } else {
            statement.setObject(parameter, value);
        }
    }

    @Override
    public List<Object[]> run() throws SQLException {
        if (columns == UNKNOWN) {
            return first();
        }
        if (columns == 0) {
            statement.executeUpdate();
            return List.of();
        }
        // Connector/J takes no INSERT that returns rows as a query.
        statement.execute();
        return rows(statement.getResultSet());
    }

    /** The first execution: the text does not say whether there are rows. */
    private List<Object[]> first() throws SQLException {
        if (!statement.execute()) {
            columns = 0;
            return List.of();
        }
        ResultSet found = statement.getResultSet();
        columns = found.getMetaData().getColumnCount();
        return rows(found);
    }

    private List<Object[]> rows(ResultSet found) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        try (found) {
            fetch(found, columns, rows::add);
        }
        return rows;
    }

    /** Fetches every value of every row. */
    static void fetch(ResultSet found, int columns, Consumer<Object[]> add) throws SQLException {
        while (found.next()) {
            Object[] row = new Object[columns];
            for (int column = 0; column < columns; column++) {
                row[column] = found.getObject(column + 1);
            }
            add.accept(row);
        }
    }
}
