package dyno.runner.drivers.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tables of a database, by name: what a program's own classes say of them. */
public record Schema(Map<String, Table> tables) {
    /** `keys` are the columns of the primary key. */
    public record Table(String name, Map<String, Column> columns, List<String> keys) {}

    /** `isGenerated` is true if the database gives the column a number where an INSERT has none. */
    public record Column(String name, Class<?> type, boolean isGenerated) {}

    /** A schema of one table whose columns are texts. The first of them is its key. */
    public static Schema ofTexts(String table, List<String> names) {
        Map<String, Column> columns = new LinkedHashMap<>();
        names.forEach(name -> columns.put(name, new Column(name, String.class, false)));
        return new Schema(Map.of(table, new Table(table, columns, names.subList(0, 1))));
    }

    /** The schema of the database to which a connection leads. */
    public static Schema of(Connection connection) throws SQLException {
        DatabaseMetaData about = connection.getMetaData();
        String catalog = connection.getCatalog();
        String schema = connection.getSchema();
        Map<String, Table> tables = new LinkedHashMap<>();
        try (ResultSet found = about.getTables(catalog, schema, "%", new String[] {"TABLE"})) {
            while (found.next()) {
                String name = found.getString("TABLE_NAME");
                tables.put(name, new Table(name, new LinkedHashMap<>(), new ArrayList<>()));
            }
        }
        try (ResultSet found = about.getColumns(catalog, schema, "%", "%")) {
            while (found.next()) {
                Table table = tables.get(found.getString("TABLE_NAME"));
                if (table != null) {
                    String name = found.getString("COLUMN_NAME");
                    boolean isGenerated = "YES".equals(found.getString("IS_AUTOINCREMENT"));
                    table.columns.put(name, new Column(name, typeOf(found), isGenerated));
                }
            }
        }
        for (Table table : tables.values()) {
            try (ResultSet found = about.getPrimaryKeys(catalog, schema, table.name)) {
                while (found.next()) {
                    table.keys.add(found.getString("COLUMN_NAME"));
                }
            }
        }
        return new Schema(tables);
    }

    private static Class<?> typeOf(ResultSet column) throws SQLException {
        // SQLite's driver reports BIGINT as INTEGER, and DOUBLE PRECISION as REAL.
        if (column.getString("TYPE_NAME").equals("BIGINT")) {
            return Long.class;
        }
        return switch (column.getInt("DATA_TYPE")) {
            case Types.TINYINT, Types.SMALLINT -> Short.class;
            case Types.INTEGER -> Integer.class;
            case Types.BIGINT -> Long.class;
            case Types.REAL, Types.FLOAT, Types.DOUBLE -> Double.class;
            case Types.NUMERIC, Types.DECIMAL -> BigDecimal.class;
            case Types.BOOLEAN, Types.BIT -> Boolean.class;
            case Types.TIMESTAMP, Types.TIMESTAMP_WITH_TIMEZONE -> Timestamp.class;
            default -> String.class;
        };
    }

    /** The names of a table's columns, in order; none if it is not known. */
    public List<String> names(String table) {
        return tables.containsKey(table) ? List.copyOf(tables.get(table).columns.keySet()) : List.of();
    }

    /** The table of a column of a statement, which may name it; null if it is not known. */
    public String tableOf(Tree tree, Tree.Column column) {
        List<String> among = new ArrayList<>(List.of(tree.table()));
        tree.joins().forEach(join -> among.add(join.table()));
        return among.stream()
                .filter(table -> column.table() == null || table.equals(column.table()))
                .filter(table -> names(table).contains(column.name()))
                .findFirst()
                .orElse(null);
    }

    /** What a column of a statement is, of the type `Object` if it is not known. */
    public Column find(Tree tree, Tree.Column column) {
        String table = tableOf(tree, column);
        return table == null
                ? new Column(column.name(), Object.class, false)
                : tables.get(table).columns.get(column.name());
    }
}
