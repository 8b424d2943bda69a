package dyno.runner.drivers;

import dyno.runner.drivers.layers.Parser;
import dyno.runner.drivers.layers.Schema;
import dyno.runner.drivers.layers.Tree;
import dyno.runner.drivers.layers.Tree.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.QueryPart;
import org.jooq.Record;
import org.jooq.ResultQuery;
import org.jooq.SQLDialect;
import org.jooq.Select;
import org.jooq.SelectQuery;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultDataType;

/** A statement of a mix. Each execution builds its query anew, of tables and fields as the classes that jOOQ generates for a
 *  program have them. */
final class JooqQuery {
    private static final Pattern PARAMETER = Pattern.compile("\\$(\\d+)\\$");
    private static final Pattern HAS_ROWS = Pattern.compile("(?is)\\s*(select|with|values)\\b.*|.*\\breturning\\b.*");

    private final DSLContext db;
    private final Schema schema;
    private final Tree tree;
    private final Table<?> table;
    /** By column of the tree. */
    private final Map<Tree.Column, Field<Object>> fields = new HashMap<>();

    private JooqQuery(DSLContext db, Schema schema, Tree tree) {
        this.db = db;
        this.schema = schema;
        this.tree = tree;
        this.table = DSL.table(DSL.name(tree.table()));
    }

    /** What executes a statement with the values of its parameters. One whose form has no such calls is plain SQL. */
    static PreparedAgain.Execution of(DSLContext db, Schema schema, Tree tree, List<String> pieces) {
        if (tree != null) {
            return new JooqQuery(db, schema, tree)::run;
        }
        String text = Parser.textOf(pieces);
        boolean hasRows = HAS_ROWS.matcher(text).matches();
        Fragment plain = Fragment.of(text);
        return values -> {
            if (hasRows) {
                return Arrays.asList(plain.query(db, values).fetch().intoArrays());
            }
            db.query(plain.template(), plain.parts(values, null)).execute();
            return List.of();
        };
    }

    private List<Object[]> run(Object[] values) {
        switch (tree.kind()) {
            case SELECT -> {
                return Arrays.asList(select(values).fetch().intoArrays());
            }
            case INSERT -> db.insertInto(table, tree.set().stream().map(one -> field(one.column())).toList())
                    .values(tree.set().stream().map(one -> value(one.value(), typeOf(one.column()), values)).toList())
                    .execute();
            case UPDATE -> {
                Map<Field<?>, Field<?>> changes = new LinkedHashMap<>();
                tree.set().forEach(one ->
                        changes.put(field(one.column()), value(one.value(), typeOf(one.column()), values)));
                db.update(table).set(changes).where(conditions(values)).execute();
            }
            case DELETE -> db.deleteFrom(table).where(conditions(values)).execute();
        }
        return List.of();
    }

    private Select<Record> select(Object[] values) {
        SelectQuery<Record> query = db.selectQuery();
        query.addFrom(table);
        for (Tree.Join join : tree.joins()) {
            query.addJoin(DSL.table(DSL.name(join.table())), field(join.left()).eq(field(join.right())));
        }
        for (Tree.Item item : tree.items()) {
            query.addSelect(item.column() == null
                    ? Fragment.of(item.fragment()).field(values, null)
                    : field(item.column()));
        }
        query.addConditions(conditions(values));
        for (Tree.Order order : tree.order()) {
            query.addOrderBy(order.isDown() ? field(order.column()).desc() : field(order.column()).asc());
        }
        if (tree.limit() != null) {
            query.addLimit(number(tree.limit(), values));
        }
        if (tree.offset() != null) {
            query.addOffset(number(tree.offset(), values));
        }
        query.setForUpdate(tree.locks());
        return query;
    }

    private static Number number(Value value, Object[] values) {
        return value instanceof Value.Parameter one ? (Number) values[one.place()] : ((Value.Whole) value).number();
    }

    private List<Condition> conditions(Object[] values) {
        List<Condition> all = new ArrayList<>();
        for (Tree.Condition one : tree.where()) {
            all.add(one.left() == null
                    ? Fragment.of(one.fragment()).condition(values)
                    : comparison(one, value(one.right(), typeOf(one.left()), values)));
        }
        return all;
    }

    private Condition comparison(Tree.Condition one, Field<Object> right) {
        Field<Object> left = field(one.left());
        return switch (one.comparison()) {
            case "=" -> left.eq(right);
            case "<>" -> left.ne(right);
            case "<" -> left.lt(right);
            case "<=" -> left.le(right);
            case ">" -> left.gt(right);
            default -> left.ge(right);
        };
    }

    @SuppressWarnings("unchecked")
    private Field<Object> field(Tree.Column column) {
        return fields.computeIfAbsent(column, it -> (Field<Object>) DSL.field(
                it.table() == null ? DSL.name(it.name()) : DSL.name(it.table(), it.name()), typeOf(it)));
    }

    @SuppressWarnings("unchecked")
    private DataType<Object> typeOf(Tree.Column column) {
        return (DataType<Object>) DefaultDataType.getDataType(SQLDialect.DEFAULT, schema.find(tree, column).type());
    }

    /** A value of a type. */
    private static Field<Object> value(Value value, DataType<Object> type, Object[] values) {
        if (value instanceof Value.Parameter one) {
            return DSL.val(values[one.place()], type);
        }
        if (value instanceof Value.Whole one) {
            return DSL.val((Object) one.number(), type);
        }
        return Fragment.of(((Value.Fragment) value).text()).field(values, type);
    }

    /** A text of plain SQL as a program has it in its code: `{0}` stands for the first value.
     *
     *  @param template the text
     *  @param places the places of the values among those of the statement */
    private record Fragment(String template, int[] places) {
        private static final Map<String, Fragment> KNOWN = new ConcurrentHashMap<>();

        static Fragment of(String text) {
            return KNOWN.computeIfAbsent(text, Fragment::read);
        }

        private static Fragment read(String text) {
            int[] places =
                    PARAMETER.matcher(text).results().mapToInt(one -> Integer.parseInt(one.group(1))).toArray();
            int[] place = {0};
            // A negative number after a minus would begin a comment.
            String spaced = text.replaceAll("-(?=\\$\\d+\\$)", "- ");
            return new Fragment(PARAMETER.matcher(spaced).replaceAll(one -> "{" + place[0]++ + "}"), places);
        }

        ResultQuery<Record> query(DSLContext db, Object[] values) {
            return db.resultQuery(template, parts(values, null));
        }

        Condition condition(Object[] values) {
            return DSL.condition(template, parts(values, null));
        }

        /** Of a type, if that is known. */
        @SuppressWarnings("unchecked")
        Field<Object> field(Object[] values, DataType<Object> type) {
            QueryPart[] parts = parts(values, type);
            return type == null ? (Field<Object>) (Field<?>) DSL.field(template, parts) : DSL.field(template, type, parts);
        }

        QueryPart[] parts(Object[] values, DataType<Object> type) {
            QueryPart[] parts = new QueryPart[places.length];
            for (int place = 0; place < places.length; place++) {
                Object value = values[places[place]];
                parts[place] = type == null ? DSL.val(value) : DSL.val(value, type);
            }
            return parts;
        }
    }
}
