package dyno.runner.drivers;

import dyno.runner.Answer;
import dyno.runner.Load;
import dyno.runner.RowFile;
import dyno.runner.Statements;
import dyno.runner.drivers.layers.Parser;
import dyno.runner.drivers.layers.Schema;
import dyno.runner.drivers.layers.Tree;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/** A layer that builds SQL above a driver: statements of a mix and rows of a load go through it, all else to the driver. */
abstract class Layered implements Driver {
    static final List<String> VARIANTS = List.of("batch", "insert");

    final Jdbc under;
    /** The tables that the layer knows. */
    Schema schema = null;
    /** By statement, its tree: it is read once, and not by each client that comes and goes within the clock. */
    private final Map<List<String>, Optional<Tree>> trees = new ConcurrentHashMap<>();

    Layered(Jdbc under) {
        this.under = under;
    }

    /** The library with its version. */
    abstract String library();

    /** Takes over what the schema says, outside the clock. */
    abstract void learn();

    /** A client of the layer on the connection of a client of the driver. */
    abstract Session client(JdbcSession own) throws SQLException;

    /** What loads rows, `many` of them at once. */
    abstract Loader loader(Load load, int many);

    private void know(Schema found) {
        if (!found.equals(schema)) {
            schema = found;
            trees.clear();
            learn();
        }
    }

    /** The tree of a statement; null where it has none. */
    Tree tree(List<String> pieces) {
        Function<List<String>, Optional<Tree>> parse = one -> Optional.ofNullable(Parser.parse(one, schema::names));
        return trees.computeIfAbsent(pieces, parse).orElse(null);
    }

    @Override
    public Identity open() throws SQLException {
        Identity found = under.open();
        String version = library() + " above " + found.driverVersion();
        return new Identity(found.engineVersion(), version, found.build(), found.settings(), found.readBack());
    }

    @Override
    public void statements(Statements file, Answer answer) throws SQLException {
        under.statements(file, answer);
    }

    @Override
    public void ready(Load load) throws SQLException {
        under.keep(under.connection, true);
        know(Schema.ofTexts(load.table(), load.file().columns().stream().map(RowFile.Column::name).toList()));
    }

    @Override
    public void insertRows(Load load) throws Exception {
        under.load(load, loader(load, 1));
    }

    @Override
    public void bulkLoad(Load load) throws Exception {
        under.load(load, loader(load, under.variant.equals("insert") ? 1 : Jdbc.MANY));
    }

    @Override
    public void scan(String sql, Answer answer) throws SQLException {
        under.scan(sql, answer);
    }

    @Override
    public List<Object[]> query(String sql) throws SQLException {
        return under.query(sql);
    }

    @Override
    public void table(String table, List<RowFile.Column> columns, Consumer<Object[]> add) throws SQLException {
        under.table(table, columns, add);
    }

    @Override
    public long changes() throws SQLException {
        return under.changes();
    }

    @Override
    public Long databaseBytes() throws SQLException {
        return under.databaseBytes();
    }

    @Override
    public Session session(int place) throws SQLException {
        if (place == 0) {
            know(Schema.of(under.connection));
        }
        return client((JdbcSession) under.session(place));
    }

    @Override
    public Session visit() throws SQLException {
        return client((JdbcSession) under.visit());
    }

    @Override
    public void aside() throws SQLException {
        know(Schema.of(under.connection));
        under.aside();
    }

    @Override
    public void back() throws SQLException {
        under.back();
    }

    @Override
    public String words(SQLException error) {
        return under.words(error);
    }

    @Override
    public void close() throws SQLException {
        under.close();
    }

    @Override
    public void abandon() {
        under.abandon();
    }
}
