package dyno.runner.drivers;

import dyno.runner.drivers.layers.Parser;
import dyno.runner.drivers.layers.Schema;
import dyno.runner.drivers.layers.Tree;
import dyno.runner.drivers.layers.Tree.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.QueryPart;
import org.jooq.Record;
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
    static PreparedAgain.Execution of(DSLContext db, Schema schema, List<String> pieces) {
        Tree tree = Parser.parse(pieces, schema::names);
        if (tree != null) {
            return new JooqQuery(db, schema, tree)::run;
        }
        String text = Parser.textOf(pieces);
        boolean hasRows = HAS_ROWS.matcher(text).matches();
        return values -> {
            if (hasRows) {
                return List.of(db.resultQuery(template(text), parts(text, values, null)).fetch().intoArrays());
            }
            db.query(template(text), parts(text, values, null)).execute();
            return List.of();
        };
    }

    private List<Object[]> run(Object[] values) {
        switch (tree.kind()) {
            case SELECT -> {
                return List.of(select(values).fetch().intoArrays());
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
                    ? DSL.field(template(item.fragment()), parts(item.fragment(), values, null))
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
                    ? DSL.condition(template(one.fragment()), parts(one.fragment(), values, null))
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
        String fragment = ((Value.Fragment) value).text();
        return DSL.field(template(fragment), type, parts(fragment, values, type));
    }

    /** A text of plain SQL, which has `{0}` for the first value. A negative number after a minus would begin a comment. */
    private static String template(String fragment) {
        int[] place = {0};
        return PARAMETER.matcher(fragment.replaceAll("-(?=\\$\\d+\\$)", "- ")).replaceAll(one -> "{" + place[0]++ + "}");
    }

    /** The values of a fragment in their order, of a type if that is known. */
    private static QueryPart[] parts(String fragment, Object[] values, DataType<Object> type) {
        return PARAMETER.matcher(fragment).results().map(one -> {
            Object value = values[Integer.parseInt(one.group(1))];
            return type == null ? DSL.val(value) : DSL.val(value, type);
        }).toArray(QueryPart[]::new);
    }
}
