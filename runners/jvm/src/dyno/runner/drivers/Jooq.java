package dyno.runner.drivers;

import dyno.runner.Job;
import dyno.runner.Load;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import org.jooq.BatchBindStep;
import org.jooq.Constants;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;

/** jOOQ, whose tables and fields are those of the database. https://www.jooq.org/doc/3.19/manual/ */
final class Jooq extends Layered {
    static {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
    }

    private final SQLDialect dialect;

    Jooq(Jdbc under, SQLDialect dialect) {
        super(under);
        this.dialect = dialect;
    }

    /** The dialect of a server of MySQL's protocol. */
    static SQLDialect mysql(Job job) {
        return job.engine().equals("mysql") ? SQLDialect.MYSQL : SQLDialect.MARIADB;
    }

    @Override
    String library() {
        return "jOOQ " + Constants.FULL_VERSION;
    }

    @Override
    void learn() {}

    /** A context as programs have one, on a connection. */
    private DSLContext on(Connection connection, StatementType type) {
        return DSL.using(connection, dialect, new Settings().withStatementType(type));
    }

    @Override
    Session client(JdbcSession own) throws SQLException {
        under.keep(own.connection, true);
        DSLContext prepared = on(own.connection, StatementType.PREPARED_STATEMENT);
        DSLContext inText = on(own.connection, StatementType.STATIC_STATEMENT);
        return new LayerSession(own) {
            @Override
            public Call prepare(List<String> pieces) {
                return call(prepared, pieces);
            }

            @Override
            public Call simple(List<String> pieces) {
                return call(inText, pieces);
            }
        };
    }

    private Call call(DSLContext db, List<String> pieces) {
        PreparedAgain.Execution query = JooqQuery.of(db, schema, tree(pieces), pieces);
        return new PreparedAgain(pieces.size() - 1, values -> LayerSession.unwrapped(() -> query.run(values)));
    }

    @Override
    Loader loader(Load load, int many) {
        DSLContext db = on(under.connection, StatementType.PREPARED_STATEMENT);
        Table<?> table = DSL.table(DSL.name(load.table()));
        List<Field<String>> fields = schema.names(load.table()).stream()
                .map(name -> DSL.field(DSL.name(name), String.class))
                .toList();
        if (many == 1) {
            return range -> LayerSession.unwrapped(() -> {
                for (int place = range.start(); place < range.stop(); place++) {
                    db.insertInto(table, fields).values(cells(load, place)).execute();
                }
                return null;
            });
        }
        return range -> LayerSession.unwrapped(() -> {
            for (Load.Range part : Load.parts(range, many)) {
                batch(db.batch(db.insertInto(table, fields).values(Collections.nCopies(fields.size(), null))), load, part);
            }
            return null;
        });
    }

    /** https://www.jooq.org/doc/3.19/manual/sql-execution/batch-execution/ */
    private static void batch(BatchBindStep batch, Load load, Load.Range part) {
        BatchBindStep bound = batch;
        for (int place = part.start(); place < part.stop(); place++) {
            bound = bound.bind((Object[]) cells(load, place));
        }
        bound.execute();
    }

    private static String[] cells(Load load, int place) {
        String[] cells = new String[load.file().columns().size()];
        load.file().read(place, cells);
        return cells;
    }
}
