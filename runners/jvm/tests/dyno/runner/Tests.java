package dyno.runner;

import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonWriter;
import dyno.runner.drivers.Drivers;
import dyno.runner.drivers.DriversTests;
import dyno.runner.drivers.layers.Mapping;
import dyno.runner.drivers.layers.Parser;
import dyno.runner.drivers.layers.Schema;
import dyno.runner.drivers.layers.Tree;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tests that need no engine and no dyno: each method whose name ends with `Test` is one. */
public final class Tests {
    private Tests() {}

    public static void main(String[] arguments) throws Exception {
        int passed = 0;
        for (Class<?> tests : List.of(Tests.class, DriversTests.class)) {
            for (var method : tests.getDeclaredMethods()) {
                if (method.getName().endsWith("Test")) {
                    method.invoke(null);
                    passed++;
                }
            }
        }
        System.out.println(passed + " passed, 0 failed");
    }

    /** Fails if a value is not the one expected. */
    public static void equal(Object found, Object expected) {
        if (!found.equals(expected)) {
            throw new AssertionError("found " + found + ", expected " + expected);
        }
    }

    private static String refusal(Runnable work) {
        try {
            work.run();
        } catch (Failure failure) {
            return failure.getMessage();
        }
        throw new AssertionError("it was not refused");
    }

    static void valuesAreThoseOfTheContractTest() {
        Object[] row = {
            null, 1L << 60, 0.1, Double.NaN, Double.NEGATIVE_INFINITY, true, "é", new byte[] {0, -1},
            new BigDecimal("2.50"), new BigDecimal("100")
        };
        equal(
                JsonWriter.string(Values.plain(row)),
                "[null,1152921504606846976,0.1,\"NaN\",\"-inf\",1,\"é\",{\"blob\":\"00ff\"},2.50,100]");
    }

    static void aJobThatCannotBeReadIsRefusedWithoutItsPasswordTest() {
        String job = "{\"protocol\":3,\"engine\":\"e\",\"driver\":\"d\",\"build\":\"system\",\"settings\":[],"
                + "\"directory\":\"/\",\"tests\":[],\"server\":{\"host\":\"h\",\"password\":\"Sesame\"}";
        for (String text : List.of(job, job + "x}", job + "}", "{\"protocol\":\"Sesame\"}")) {
            String words = refusal(() -> Job.parse(text));
            equal(words.contains("Sesame"), false);
            equal(words.startsWith("the job on standard input cannot be read: "), true);
        }
        equal(refusal(() -> Job.parse(job + "}")).endsWith("missing field `user`"), true);
        equal(refusal(() -> Job.parse("{\"protocol\":2}")).startsWith("the job is in version 2 "), true);
        equal(refusal(() -> Job.parse(" ")).startsWith("standard input is empty"), true);
    }

    static void aModeThatLeavesEncryptionToTheServerIsKeptOrRefusedTest() {
        String job = "{\"protocol\":3,\"engine\":\"mariadb\",\"speaks\":\"mysql\",\"driver\":\"DRIVER\",\"build\":\"system\","
                + "\"settings\":[],\"directory\":\"/\",\"tests\":[],\"server\":{\"host\":\"h\",\"user\":\"u\",\"scratch\":\"d\","
                + "\"options\":{\"ssl-mode\":\"PREFERRED\"}}}";
        for (String driver : List.of("mariadb-java-client", "jooq", "hibernate")) {
            String words = refusal(() -> Drivers.find(Job.parse(job.replace("DRIVER", driver))));
            equal(words.endsWith("write ssl-mode=DISABLED or ssl-mode=REQUIRED"), true);
        }
        Drivers.find(Job.parse(job.replace("DRIVER", "mysql-connector-j")));
    }

    /** Rows of two columns, of two bytes and of one. */
    public static RowFile rows(String text, int count) throws Exception {
        Path file = Files.createTempFile("dyno-test-", ".rows");
        try {
            Files.writeString(file, text, StandardCharsets.US_ASCII);
            Object job = JsonParser.any().from("{\"file\":\"" + file + "\",\"count\":" + count
                    + ",\"columns\":[{\"name\":\"a\",\"bytes\":2},{\"name\":\"b\",\"bytes\":1}]}");
            return new RowFile(Record.of(job, "rows"));
        } finally {
            Files.delete(file);
        }
    }

    static void rowsAreCellsAndLinesTest() throws Exception {
        RowFile file = rows("aa1bb2cc3", 3);
        String[] cells = new String[2];
        file.read(1, cells);
        equal(Arrays.asList(cells), List.of("bb", "2"));
        byte[] lines = new byte[2 * file.lineBytes()];
        int length = file.lines(1, 3, lines);
        equal(new String(lines, 0, length, StandardCharsets.US_ASCII), "bb\t2\ncc\t3\n");
        equal(file.shown(), List.of("aa", "bb", "cc"));
    }

    static void aFileThatIsCutOffIsRefusedTest() {
        String words = refusal(() -> {
            try {
                rows("aa1bb", 2);
            } catch (Failure failure) {
                throw failure;
            } catch (Exception error) {
                throw new AssertionError(error);
            }
        });
        equal(words.contains("has 5 bytes where 2 rows of 3 bytes are promised"), true);
    }

    /** The sums are those of Python's zlib.crc32. */
    static void aTableHasItsDigestTest() throws Exception {
        RowFile file = rows("aa1bb2cc3", 3);
        TableDigest digest = new TableDigest(file.columns(), file.shown());
        for (String[] row : new String[][] {{"cc", "3"}, {"aa", "1"}}) {
            digest.add(row);
        }
        List<Object> found = new ArrayList<>();
        digest.answer().forEach(row -> found.add(Values.plain(row)));
        equal(JsonWriter.string(found), "[[2,3812373584,4054810194,3762100210],[\"aa\",\"1\"],[null],[\"cc\",\"3\"]]");
        String words = refusal(() -> digest.add(new Object[] {"dd", 4}));
        equal(words, "a cell of the column b is stored as Integer and not as text");
    }

    static void rangesAreCutIntoPartsTest() {
        Load.Range whole = new Load.Range(5, 12);
        equal(Load.parts(whole, 3), List.of(new Load.Range(5, 8), new Load.Range(8, 11), new Load.Range(11, 12)));
        equal(Load.parts(new Load.Range(5, 5), 3), List.of());
    }

    static void transactionsFollowOneAnotherTest() {
        Load load = new Load("t", null, 1, 6, 3);
        equal(load.transaction(1), new Load.Range(1, 4));
        equal(load.transaction(4), new Load.Range(4, 6));
        equal(load.transaction(6), new Load.Range(6, 6));
        equal(new Load("t", null, 0, 4, 0).transaction(0), new Load.Range(0, 4));
        equal(load.isSingle(2), false);
        equal(load.isSingle(3), true);
        equal(new Load("t", null, 0, 4, 0).isSingle(3), false);
        equal(new Load("t", null, 0, 4, 9).isSingle(4), true);
    }

    static void anEventIsOneLineTest() {
        Map<String, Object> fields = Events.fields();
        fields.put("message", "a\nb");
        equal(JsonWriter.string(fields), "{\"message\":\"a\\nb\"}");
    }

    private static Tree tree(String... pieces) {
        return Parser.parse(List.of(pieces), table -> List.of("id", "name"));
    }

    static void aStatementHasTheCallsOfALayerTest() {
        Tree read = tree(
                "SELECT posts.id, count(*) FROM posts JOIN users ON users.id = posts.user_id WHERE posts.id > ",
                " AND name = 'a, b' ORDER BY posts.id DESC LIMIT 20 FOR UPDATE;");
        Tree.Column id = new Tree.Column("posts", "id");
        equal(read.items(), List.of(new Tree.Item(id, null), new Tree.Item(null, "count(*)")));
        equal(read.joins(), List.of(new Tree.Join(
                "users", new Tree.Column("users", "id"), new Tree.Column("posts", "user_id"))));
        equal(read.where(), List.of(
                new Tree.Condition(id, ">", new Tree.Value.Parameter(0), null),
                new Tree.Condition(new Tree.Column(null, "name"), "=", new Tree.Value.Fragment("'a, b'"), null)));
        equal(read.order(), List.of(new Tree.Order(id, true)));
        equal(read.limit(), new Tree.Value.Whole(20));
        equal(read.locks(), true);
        equal(tree("UPDATE posts SET n = coalesce(n, ' FROM (x, ') + ", " WHERE id = 7").set(), List.of(new Tree.Set(
                new Tree.Column(null, "n"), new Tree.Value.Fragment("coalesce(n, ' FROM (x, ') + $0$"))));
        equal(tree("INSERT INTO users VALUES(", ", ", ")").set(), List.of(
                new Tree.Set(new Tree.Column(null, "id"), new Tree.Value.Parameter(0)),
                new Tree.Set(new Tree.Column(null, "name"), new Tree.Value.Parameter(1))));
        equal(tree("DELETE FROM users WHERE id = 1 OR id = ", "").where(), List.of(
                new Tree.Condition(null, null, null, "id = 1 OR id = $0$")));
    }

    static void aStatementOfAnotherFormHasNoTreeTest() {
        for (String text : List.of(
                "SELECT x FROM t GROUP BY x", "SELECT x FROM t LEFT JOIN u ON t.a = u.a", "SELECT x FROM t y",
                "SELECT count(*) n FROM t", "SELECT count(*) AS n FROM t", "SELECT DISTINCT x FROM t", "SELECT * FROM t",
                "SELECT t.* FROM t", "SELECT x FROM T", "SELECT x FROM t FOR SHARE", "SELECT x FROM t, u",
                "INSERT INTO t(a) VALUES(1) ON CONFLICT(a) DO NOTHING", "INSERT INTO t(a, b) VALUES(1)",
                "INSERT INTO t(a) VALUES(1), (2)", "UPDATE t SET A = 1", "VACUUM")) {
            equal(String.valueOf(tree(text)) + text, "null" + text);
        }
    }

    static void tablesWithAKeyAreEntitiesTest() {
        Schema.Column id = new Schema.Column("id", Integer.class, true);
        Schema.Column name = new Schema.Column("name", String.class, false);
        Map<String, Schema.Column> columns = new LinkedHashMap<>(Map.of("id", id));
        columns.put("name", name);
        Schema.Table posts = new Schema.Table("posts", columns, List.of("id"));
        Schema.Table log = new Schema.Table("log", columns, List.of());
        String mapping = Mapping.of(new Schema(Map.of("posts", posts, "log", log)));
        equal(mapping.contains("entity-name=\"posts\"") && mapping.contains("entity-name=\"posts.generated\""), true);
        equal(mapping.contains("log"), false);
    }
}
