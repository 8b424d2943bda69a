package dyno.runner.drivers;

import dyno.runner.drivers.layers.Mapping;
import dyno.runner.drivers.layers.Parser;
import dyno.runner.drivers.layers.Schema;
import dyno.runner.drivers.layers.Tree;
import dyno.runner.drivers.layers.Tree.Value;
import java.math.BigDecimal;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.hibernate.HibernateException;
import org.hibernate.LockMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.query.CommonQueryContract;
import org.hibernate.query.SelectionQuery;

/** A statement of a mix as a program with Hibernate has it: `persist` of an entity, a query in HQL, or where that language has
 *  not its form, a native query. */
final class HibernateQuery {
    /** Executes a statement with the values of its parameters, and returns its rows. */
    interface Execution {
        List<Object[]> run(Session session, Object[] values);
    }

    private static final Pattern PARAMETER = Pattern.compile("\\$(\\d+)\\$");
    private static final Pattern NAMED = Pattern.compile(":v(\\d+)");
    private static final Pattern HAS_ROWS = Pattern.compile("(?is)\\s*(select|with|values)\\b.*|.*\\breturning\\b.*");

    private final Schema schema;
    private final Tree tree;
    private final String text;
    /** The parameters in the text: those of LIMIT and OFFSET are not. */
    private final int[] places;
    /** By parameter, the type of the column with which it is compared, or to which it is written. */
    private final Map<Integer, Class<?>> types = new HashMap<>();

    private HibernateQuery(Schema schema, Tree tree) {
        this.schema = schema;
        this.tree = tree;
        tree.set().forEach(one -> note(one.column(), one.value()));
        tree.where().stream().filter(one -> one.left() != null).forEach(one -> note(one.left(), one.right()));
        this.text = text();
        this.places = NAMED.matcher(text).results().mapToInt(found -> Integer.parseInt(found.group(1))).distinct().toArray();
    }

    static Execution of(
            SessionFactory factory, Connection connection, Schema schema, Tree tree, List<String> pieces) {
        if (tree != null && isKnown(schema, tree)) {
            boolean isInsert = tree.kind() == Tree.Kind.INSERT;
            if (isInsert && (hasKey(schema, tree) || Mapping.isGenerated(schema.tables().get(tree.table())))
                    && tree.set().stream().noneMatch(one -> one.value() instanceof Value.Fragment)) {
                return persisting(schema, tree);
            }
            // In HQL an INSERT would have to give the key.
            HibernateQuery query = new HibernateQuery(schema, tree);
            if ((!isInsert || hasKey(schema, tree)) && query.isUnderstood(factory, connection)) {
                return query::run;
            }
        }
        return natively(Parser.textOf(pieces), pieces.size() - 1);
    }

    /** True if all tables are entities, with all of the columns. */
    private static boolean isKnown(Schema schema, Tree tree) {
        List<String> tables = new ArrayList<>(List.of(tree.table()));
        List<Tree.Column> columns = new ArrayList<>();
        tree.joins().forEach(join -> {
            tables.add(join.table());
            columns.addAll(List.of(join.left(), join.right()));
        });
        tree.items().stream().filter(item -> item.column() != null).forEach(item -> columns.add(item.column()));
        tree.set().forEach(one -> columns.add(one.column()));
        tree.where().stream().filter(one -> one.left() != null).forEach(one -> columns.add(one.left()));
        tree.order().forEach(order -> columns.add(order.column()));
        return tables.stream().map(schema.tables()::get).allMatch(table -> table != null && Mapping.isEntity(table))
                && columns.stream().allMatch(column -> schema.tableOf(tree, column) != null);
    }

    private void note(Tree.Column column, Value value) {
        Class<?> type = schema.find(tree, column).type();
        if (value instanceof Value.Parameter one) {
            types.put(one.place(), type);
        } else if (value instanceof Value.Fragment one) {
            PARAMETER.matcher(one.text()).results().forEach(found -> types.put(Integer.parseInt(found.group(1)), type));
        }
    }

    /** The statement in HQL. */
    private String text() {
        String where = tree.where().isEmpty() ? "" : " where " + joined(" and ", tree.where(), this::condition);
        return switch (tree.kind()) {
            case SELECT -> "select "
                    + joined(", ", tree.items(), item -> item.column() == null ? named(item.fragment()) : path(item.column()))
                    + " from " + tree.table() + " as " + tree.table()
                    + joined("", tree.joins(), join -> " join " + join.table() + " as " + join.table() + " on "
                            + path(join.left()) + " = " + path(join.right()))
                    + where + (tree.order().isEmpty() ? "" : " order by "
                    + joined(", ", tree.order(), order -> path(order.column()) + (order.isDown() ? " desc" : "")));
            case INSERT -> "insert into " + tree.table() + " ("
                    + joined(", ", tree.set(), one -> one.column().name()) + ") values ("
                    + joined(", ", tree.set(), one -> value(one.value())) + ")";
            case UPDATE -> "update " + tree.table() + " set "
                    + joined(", ", tree.set(), one -> one.column().name() + " = " + value(one.value())) + where;
            case DELETE -> "delete from " + tree.table() + where;
        };
    }

    private static <T> String joined(String between, List<T> all, Function<T, String> one) {
        return all.stream().map(one).collect(Collectors.joining(between));
    }

    /** A column with its table, which a query of one table alone has no name for. */
    private String path(Tree.Column column) {
        return tree.kind() == Tree.Kind.SELECT ? schema.tableOf(tree, column) + "." + column.name() : column.name();
    }

    private String condition(Tree.Condition one) {
        return one.left() == null
                ? "(" + named(one.fragment()) + ")"
                : path(one.left()) + " " + one.comparison() + " " + value(one.right());
    }

    private static String value(Value value) {
        if (value instanceof Value.Parameter one) {
            return ":v" + one.place();
        }
        return value instanceof Value.Whole one ? String.valueOf(one.number()) : named(((Value.Fragment) value).text());
    }

    /** A text with names for parameters. */
    private static String named(String text) {
        return PARAMETER.matcher(text).replaceAll(":v$1");
    }

    /** True if Hibernate reads the text as HQL. */
    private boolean isUnderstood(SessionFactory factory, Connection connection) {
        try (Session session = factory.withOptions().connection(connection).openSession()) {
            if (tree.kind() == Tree.Kind.SELECT) {
                session.createSelectionQuery(text, Object[].class);
            } else {
                session.createMutationQuery(text);
            }
            return true;
        } catch (IllegalArgumentException | HibernateException refused) {
            return false;
        }
    }

    private List<Object[]> run(Session session, Object[] values) {
        if (tree.kind() != Tree.Kind.SELECT) {
            typed(session.createMutationQuery(text), values).executeUpdate();
            return List.of();
        }
        SelectionQuery<Object[]> query = typed(session.createSelectionQuery(text, Object[].class), values);
        if (tree.limit() != null) {
            query.setMaxResults(number(tree.limit(), values));
        }
        if (tree.offset() != null) {
            query.setFirstResult(number(tree.offset(), values));
        }
        if (tree.locks()) {
            query.setLockMode(tree.table(), LockMode.PESSIMISTIC_WRITE);
        }
        return query.getResultList();
    }

    private <Q extends CommonQueryContract> Q typed(Q query, Object[] values) {
        for (int place : places) {
            query.setParameter("v" + place, as(types.getOrDefault(place, Object.class), values[place]));
        }
        return query;
    }

    private static int number(Value value, Object[] values) {
        return ((Number) plain(value, values)).intValue();
    }

    /** The value of a parameter, or a number. */
    private static Object plain(Value value, Object[] values) {
        return value instanceof Value.Parameter one ? values[one.place()] : ((Value.Whole) value).number();
    }

    /** A value as an attribute of a type takes it. */
    private static Object as(Class<?> type, Object value) {
        if (!(value instanceof Number number)) {
            return value;
        }
        if (type == Short.class) {
            return number.shortValue();
        } else if (type == Integer.class) {
            return number.intValue();
        } else if (type == Long.class) {
            return number.longValue();
        } else if (type == Double.class) {
            return number.doubleValue();
        } else if (type == BigDecimal.class) {
            return value instanceof BigDecimal ? value : new BigDecimal(value.toString());
        }
        return value;
    }

    private static boolean hasKey(Schema schema, Tree tree) {
        return tree.set().stream()
                .map(one -> one.column().name())
                .anyMatch(schema.tables().get(tree.table()).keys()::contains);
    }

    /** An INSERT of parameters and numbers: https://docs.hibernate.org/orm/6.6/userguide/html_single/#pc-persist */
    private static Execution persisting(Schema schema, Tree tree) {
        String entity = hasKey(schema, tree) ? tree.table() : tree.table() + Mapping.GENERATED;
        return (session, values) -> {
            Map<String, Object> row = new HashMap<>();
            for (Tree.Set one : tree.set()) {
                Class<?> type = schema.find(tree, one.column()).type();
                row.put(one.column().name(), as(type, plain(one.value(), values)));
            }
            session.persist(entity, row);
            return List.of();
        };
    }

    private static Execution natively(String text, int parameters) {
        String sql = named(text);
        boolean hasRows = HAS_ROWS.matcher(text).matches();
        return (session, values) -> {
            if (hasRows) {
                return bound(session.createNativeQuery(sql, Object[].class), values, parameters).getResultList();
            }
            bound(session.createNativeMutationQuery(sql), values, parameters).executeUpdate();
            return List.of();
        };
    }

    private static <Q extends CommonQueryContract> Q bound(Q query, Object[] values, int parameters) {
        for (int place = 0; place < parameters; place++) {
            query.setParameter("v" + place, values[place]);
        }
        return query;
    }
}
