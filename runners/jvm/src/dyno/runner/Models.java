package dyno.runner;

import dyno.runner.drivers.Driver;
import dyno.runner.measure.Clock;
import dyno.runner.mix.Mix;
import dyno.runner.mix.Work;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** The models: each loads its input, does the timed work, and returns the sample and the answer. */
final class Models {
    /** The answer of a test, which is asked for after the sample was sent. */
    interface Rows {
        List<Object[]> rows() throws Exception;
    }

    record Outcome(Map<String, Object> sample, Rows answer) {}

    private Models() {}

    /** Does the work of a test. */
    static Outcome perform(Job.Test test, Driver driver, Clock clock) throws Exception {
        return switch (test.model()) {
            case "statements" -> statements(test, driver, clock);
            case "insert-rows" -> load(test, clock, driver, driver::insertRows);
            case "bulk-load" -> load(test, clock, driver, driver::bulkLoad);
            case "scan" -> scan(test, driver, clock);
            case "mix" -> new Outcome(new Mix(Work.parse(test.input()), driver, clock).perform(), List::of);
            default -> throw unknown(test.model());
        };
    }

    /** The answer of a test that another job has done: what it left in the database. */
    static List<Object[]> leftBy(Job.Test test, Driver driver) throws Exception {
        return switch (test.model()) {
            case "insert-rows", "bulk-load" ->
                    digest(new RowFile(test.input().object("rows")), test.input().text("table"), driver);
            default -> throw unknown(test.model());
        };
    }

    /** Executes a statement outside the clock; a failure of it says what it was for. */
    static List<Object[]> asked(Driver driver, String sql, String what) throws Exception {
        try {
            return driver.query(sql);
        } catch (SQLException error) {
            throw driver.failure(error, Failure.NOWHERE).within(what + " (" + Failure.quote(sql) + ")");
        }
    }

    private static Failure unknown(String model) {
        return new Failure("this runner does not implement the model " + model);
    }

    private static Outcome statements(Job.Test test, Driver driver, Clock clock) throws Exception {
        Statements file = new Statements(test.input().text("file"), test.input().small("count"));
        Answer answer = new Answer(test.check() == null);
        long before = driver.changes();
        IntFunction<String> name = place ->
                "statement " + (place + 1) + " of " + file.count() + " (" + Failure.quote(file.get(place)) + ")";
        var section = naming(name, () -> clock.time(() -> driver.statements(file, answer)));
        long rows = answer.count() + driver.changes() - before;
        return new Outcome(sample(section, file.count(), rows, file.bytes()), answer::rows);
    }

    /** A way to load rows. */
    private interface Way {
        void load(Load rows) throws Exception;
    }

    private static Outcome load(Job.Test test, Clock clock, Driver driver, Way way) throws Exception {
        String table = test.input().text("table");
        RowFile file = new RowFile(test.input().object("rows"));
        int timed = Math.min(test.input().small("timed", file.count()), file.count());
        Load rows = new Load(table, file, 0, timed, test.input().small("per_commit", 0));
        driver.ready(rows);
        IntFunction<String> name = place -> "row " + (place + 1) + " of " + file.count();
        var section = naming(name, () -> clock.time(() -> way.load(rows)));
        if (timed < file.count()) {
            naming(place -> "after the clock, " + name.apply(place), () -> {
                way.load(new Load(table, file, timed, file.count(), 0));
                return null;
            });
        }
        return new Outcome(sample(section, timed, timed, file.bytesOf(timed)), () -> digest(file, table, driver));
    }

    private static Outcome scan(Job.Test test, Driver driver, Clock clock) throws Exception {
        String sql = test.input().text("sql");
        Answer answer = new Answer(true);
        try {
            var section = clock.time(() -> driver.scan(sql, answer));
            return new Outcome(sample(section, 1, answer.count(), 0), answer::rows);
        } catch (SQLException error) {
            throw driver.failure(error, Failure.NOWHERE).within("the scan");
        }
    }

    private static Map<String, Object> sample(Map<String, Object> section, long operations, long rows, long bytes) {
        Map<String, Object> sample = new LinkedHashMap<>();
        sample.put("section", section);
        sample.put("operations", operations);
        sample.put("rows", rows);
        sample.put("bytes", bytes);
        return sample;
    }

    private interface Timed {
        Map<String, Object> run() throws Exception;
    }

    /** Does the work; a failure of it names the operation. */
    private static Map<String, Object> naming(IntFunction<String> name, Timed work) throws Exception {
        try {
            return work.run();
        } catch (Failure failure) {
            throw failure.place() == Failure.NOWHERE ? failure : failure.within(name.apply(failure.place()));
        }
    }

    /** The table's digest, with some of its rows, selected by their first cell. */
    private static List<Object[]> digest(RowFile file, String table, Driver driver) throws Exception {
        TableDigest found = new TableDigest(file.columns(), file.shown());
        try {
            driver.table(table, file.columns(), found::add);
            return found.answer();
        } catch (Failure failure) {
            throw failure.within("reading back what is stored");
        } catch (SQLException error) {
            throw driver.failure(error, Failure.NOWHERE).within("reading back what is stored");
        }
    }
}
