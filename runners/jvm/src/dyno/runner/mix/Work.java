package dyno.runner.mix;

import dyno.runner.Failure;
import dyno.runner.Record;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A mix, as described by a job.
 *
 * @param think the position of a field: for how many nanoseconds the client waits before it sends the step; or null
 * @param session the number of steps of a session, where clients come and go; or null
 * @param reports the position of a field: the number by which a client reports that an operation begins or is done; or null
 * @param patience how long an operation may be repeated, in nanoseconds
 * @param timesStatements true if each statement of each operation is timed
 * @param stepBytes the length of a step
 */
public record Work(
        List<OneClass> classes, List<Field> fields, List<Items> lists, int clients, List<StepFile> steps, Integer think,
        Integer session, Integer reports, long patience, boolean timesStatements, Window window, int stepBytes) {
    /** The class that reports how long clients that come and go took to connect. */
    static final String CONNECT = "connect";
    /** The bytes of a step before its fields: its due time and its class. */
    private static final int HEAD = 16;

    enum Kind {
        INTEGER, REAL, TEXT, VARYING_TEXT
    }

    /** A field of a step, and where it lies. */
    record Field(Kind kind, int bytes, int at) {}

    /** A list among the fields: those of its count and of its first item, and how many columns an item has. */
    record Items(int count, int first, int columns) {}

    /** A file of steps. */
    record StepFile(String file, int count) {}

    /** The time in which operations count: those that end within it, in nanoseconds since the clients began. Without an
     *  end all steps are done once. */
    record Window(long start, Long stop, long duration) {
        /** The moment at which the mix ends, for clients that began at a moment. */
        long end(long began) {
            return stop == null ? Long.MAX_VALUE : began + stop;
        }
    }

    /** A class. `transaction` is `read`, `write` or null; where the field `rollbackIf` is not 0, an operation is rolled
     *  back at its end, as planned; `ignores` are codes of errors with which an operation may end. */
    record OneClass(
            String name, String transaction, List<Statement> statements, List<Loop> loops, Integer rollbackIf,
            List<Pause> pauses, List<String> ignores, boolean isSimple, Long patience) {}

    /** A statement: the pieces of its text around its parameters. `keeps` may be null. */
    record Statement(List<String> text, List<Value> parameters, Keeps keeps) {
        String whole() {
            return String.join("?", text);
        }
    }

    /** That a statement keeps rows for later ones; with `mayMiss` there need be none. */
    record Keeps(boolean mayMiss) {}

    /** Where a parameter has its value from. */
    sealed interface Value permits Value.OfField, Value.OfItem, Value.OfRow {
        record OfField(int field) implements Value {}

        record OfItem(int column) implements Value {}

        record OfRow(int statement, int column) implements Value {}
    }

    /** The statements from `first` up to `end`, repeated for the items of a list or the rows of a statement. */
    record Loop(int first, int end, Integer list, Integer rows) {}

    /** A pause before a statement. */
    record Pause(int before, long nanoseconds) {}

    /** The input of a mix. */
    public static Work parse(Record input) {
        for (String refused : List.of("part", "interval_ns", "invariants")) {
            if (input.has(refused)) {
                throw new Failure("the mix has `" + refused + "`, which this runner does not do: this is an error in dyno");
            }
        }
        List<Field> fields = layOut(input.objects("fields", each -> each));
        int bytes = fields.isEmpty() ? HEAD : fields.get(fields.size() - 1).at() + fields.get(fields.size() - 1).bytes();
        Work work = new Work(
                input.objects("classes", Work::parseClass), fields,
                input.objectsIfAny("lists", each ->
                        new Items(each.small("count"), each.small("first"), each.small("columns"))),
                input.small("clients"),
                input.objects("steps", each -> new StepFile(each.text("file"), each.small("count"))),
                input.small("think", null), input.small("session", null), input.small("reports", null),
                input.number("patience_ns"), input.flag("times_statements"), parseWindow(input.objectOrNull("lasts")), bytes);
        work.check();
        return work;
    }

    /** The time for which an operation of a class, by position, may be repeated, in nanoseconds. */
    long patienceOf(int place) {
        Long own = classes.get(place).patience();
        return own == null ? patience : own;
    }

    /** The time for which any operation may wait for locks: the limit of a connection that has one limit for all. */
    long shortestPatience() {
        return IntStream.range(0, classes.size()).mapToLong(this::patienceOf).min().orElse(patience);
    }

    /** True if all clients share one file of steps. */
    boolean shares() {
        return steps.size() < clients || session != null;
    }

    private void check() {
        if (clients < 1 || steps.size() != 1 && steps.size() != clients || steps.get(0).count() == 0) {
            throw new Failure("there are " + steps.size() + " files of steps for " + clients + " clients, or no steps");
        }
        for (OneClass one : classes) {
            for (Statement statement : one.statements()) {
                if (statement.text().size() != statement.parameters().size() + 1) {
                    throw new Failure("a parameter of class " + one.name() + " names what is not there: this is an error "
                            + "in dyno");
                }
            }
        }
    }

    private static List<Field> layOut(List<Record> records) {
        int[] at = {HEAD};
        return records.stream()
                .map(each -> {
                    Field field = new Field(kindOf(each.text("kind")), each.small("bytes"), at[0]);
                    at[0] += field.bytes();
                    return field;
                })
                .toList();
    }

    private static Kind kindOf(String name) {
        return switch (name) {
            case "integer" -> Kind.INTEGER;
            case "real" -> Kind.REAL;
            case "text" -> Kind.TEXT;
            case "varying-text" -> Kind.VARYING_TEXT;
            default -> throw new Failure("a step has a field of the kind '" + name + "', which this runner does not know");
        };
    }

    private static Window parseWindow(Record lasts) {
        if (lasts == null) {
            return new Window(0, null, 0);
        }
        long start = lasts.number("warm_up_ns", 0L);
        long duration = lasts.number("duration_ns");
        return new Window(start, start + duration, duration);
    }

    private static OneClass parseClass(Record record) {
        return new OneClass(
                record.text("name"), record.text("transaction", null), record.objects("statements", Work::parseStatement),
                record.objectsIfAny("loops", Work::parseLoop), record.small("rollback_if", null),
                record.objectsIfAny("pauses", each -> new Pause(each.small("before"), each.number("nanoseconds"))),
                record.texts("ignores"), record.text("protocol", "prepared").equals("simple"),
                record.number("patience_ns", null));
    }

    private static Statement parseStatement(Record record) {
        if (record.has("store")) {
            throw new Failure("a statement is for a store, which this runner does not have: this is an error in dyno");
        }
        Record keeps = record.objectOrNull("keeps");
        List<Value> parameters = record.mixed("parameters", Value.OfField::new, Work::parseValue);
        return new Statement(record.texts("text"), parameters, keeps == null ? null : new Keeps(keeps.flag("may_miss")));
    }

    private static Value parseValue(Record record) {
        Integer item = record.number("item", null) == null ? null : record.small("item");
        return item == null
                ? new Value.OfRow(record.small("statement"), record.small("column"))
                : new Value.OfItem(item);
    }

    private static Loop parseLoop(Record record) {
        Record over = record.object("over");
        int first = record.small("first");
        Integer list = over.number("list", null) == null ? null : over.small("list");
        return new Loop(first, first + record.small("count"), list, list == null ? over.small("rows") : null);
    }
}
