package dyno.runner;

import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonParserException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The job, dyno's request on standard input. It may contain a password, so a message names the field and never its value.
 *
 * @param speaks the protocol that the engine speaks; empty for engines within the runner
 * @param variant the way of working that the contender names, or null
 * @param build `bundled`, `system`, or the path of a library or folder of the user's own
 * @param server null for engines within the runner
 * @param maintenance null if the database is there and stays
 * @param databaseBytes queries for the size of the database: the first that is not refused counts
 * @param answersOnly true if the database is there, and each test is only asked for its answer
 * @param slowdown the share by which timed sections are to be slower than they are
 */
public record Job(
        String engine, String speaks, String driver, String variant, String build, List<Setting> settings, String directory,
        List<Test> tests, Server server, Maintenance maintenance, List<Listed> onConnect, List<Query> readBack,
        List<String> databaseBytes, boolean answersOnly, double slowdown) {

    static final int PROTOCOL = 3;
    public static final String VERSION = "0.1.0";

    /** A setting that the runner takes by its own calls. */
    public record Setting(String name, String value) {}

    /** A query whose rows `hello` has as they are. */
    public record Query(String name, String query) {}

    /** A statement to execute outside the clock. `ignores` are codes of errors that do not matter; `*` is any. With `each`
     *  it is a query, and the first value of each of its rows is a statement to execute. */
    public record Listed(String name, String sql, List<String> ignores, boolean each) {}

    /** The statements that make the trial's database and remove it, and the database of the connection for them. */
    public record Maintenance(String database, List<Listed> before, List<Listed> after) {}

    /** Where a server is reached. `port`, `password` and `database` may be null; `process` is its main one, or 0, and
     *  `nodes` are those of all other nodes of a cluster. */
    public record Server(
            String host, Integer port, String user, String password, String database, Map<String, String> options,
            int process, List<Integer> nodes) {
        /** Without the password. */
        @Override
        public String toString() {
            return host;
        }
    }

    /** A test; `input` holds what its model needs. `check` may be null. */
    public record Test(String id, String model, List<String> setup, String check, Record input) {}

    /** The job in a text. */
    static Job parse(String text) {
        if (text.isBlank()) {
            throw new Failure(
                    "standard input is empty where a job is expected: a runner is started by dyno, not by hand");
        }
        Record job;
        try {
            job = Record.of(JsonParser.any().from(text), "the job");
        } catch (JsonParserException error) {
            // The parser's message may quote the text, and so a password.
            throw Record.unreadable(
                    "not JSON at line " + error.getLinePosition() + ", column " + error.getCharPosition());
        }
        if (job.number("protocol") != PROTOCOL) {
            throw new Failure("the job is in version " + job.number("protocol") + " of the contract and this runner speaks "
                    + "version " + PROTOCOL + ": take both from the same source");
        }
        return new Job(
                job.text("engine"), job.text("speaks", ""), job.text("driver"), job.text("variant", null), build(job),
                job.objects("settings", each -> new Setting(each.text("name"), each.text("value"))),
                job.text("directory"), job.objects("tests", Job::test), server(job.objectOrNull("server")),
                maintenance(job.objectOrNull("maintenance")), job.objectsIfAny("on_connect", Job::listed),
                job.objectsIfAny("read_back", each -> new Query(each.text("name"), each.text("query", ""))),
                job.texts("database_bytes"), job.flag("answers_only"), job.share("slowdown"));
    }

    private static String build(Record job) {
        return job.any("build") instanceof String name ? name : job.object("build").text("path");
    }

    private static Server server(Record found) {
        if (found == null) {
            return null;
        }
        Map<String, String> options = new LinkedHashMap<>();
        Record given = found.objectOrNull("options");
        if (given != null) {
            given.all().forEach((name, value) -> options.put(name, String.valueOf(value)));
        }
        return new Server(
                found.text("host"), found.small("port", null), found.text("user"), found.text("password", null),
                found.text("database", null), options, found.small("process", 0), found.numbers("further_processes"));
    }

    private static Maintenance maintenance(Record found) {
        return found == null
                ? null
                : new Maintenance(
                        found.text("database", null),
                        found.objectsIfAny("before", Job::listed),
                        found.objectsIfAny("after", Job::listed));
    }

    private static Listed listed(Record each) {
        return new Listed(each.text("name"), each.text("sql"), each.texts("ignores"), each.flag("each"));
    }

    private static Test test(Record each) {
        return new Test(each.text("id"), each.text("model"), each.texts("setup"), each.text("check", null), each);
    }
}
