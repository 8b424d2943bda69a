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
    /** Then it is executed by the call for queries, which takes less time than that for any statement. */
    private final boolean isSelect;
    private static final int UNKNOWN = -1;
    /** The number of columns of its rows, 0 if it returns none; unknown before the first execution. It does not change. */
    private int columns = UNKNOWN;

    JdbcCall(PreparedStatement statement, String sql) {
        this.statement = statement;
        isSelect = sql.stripLeading().regionMatches(true, 0, "SELECT", 0, "SELECT".length());
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
        if (isSelect) {
            return rows(statement.executeQuery());
        }
        if (columns == 0) {
            statement.executeUpdate();
            return List.of();
        }
        if (statement.execute()) {
            return rows(statement.getResultSet());
        }
        columns = 0;
        return List.of();
    }

    private List<Object[]> rows(ResultSet returned) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        try (ResultSet found = returned) {
            if (columns == UNKNOWN) {
                columns = found.getMetaData().getColumnCount();
            }
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
