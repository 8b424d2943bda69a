package dyno.runner.drivers.layers;

import java.util.List;

/**
 * A statement of a mix in the parts for which layers have calls. An expression within them, such as `balance + 5`, stays a
 * fragment of SQL, in which `$0$` stands for the first parameter.
 *
 * @param set columns with their values, of an INSERT and of an UPDATE
 * @param where conditions that all must hold
 * @param limit null if there is none, as `offset`
 */
public record Tree(
        Kind kind, String table, List<Item> items, List<Join> joins, List<Set> set, List<Condition> where,
        List<Order> order, Value limit, Value offset, boolean locks) {

    /** The kinds of statements that have trees. */
    public enum Kind { SELECT, INSERT, UPDATE, DELETE }

    /** `table` is null where the statement does not name it. */
    public record Column(String table, String name) {}

    public sealed interface Value {
        /** A parameter, counted from zero. */
        record Parameter(int place) implements Value {}

        record Whole(long number) implements Value {}

        record Fragment(String text) implements Value {}
    }

    /** Something that is selected: a column, or if that is null a fragment. */
    public record Item(Column column, String fragment) {}

    public record Join(String table, Column left, Column right) {}

    public record Set(Column column, Value value) {}

    /** A comparison, or if `left` is null a fragment. */
    public record Condition(Column left, String comparison, Value right, String fragment) {}

    public record Order(Column column, boolean isDown) {}
}
