package dyno.runner;

import dyno.runner.drivers.Driver;
import dyno.runner.drivers.Drivers;
import dyno.runner.measure.Clock;
import dyno.runner.measure.Native;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One trial: the tests of a job in order, each between two readings of the clock. */
final class Trial {
    private static final String ARCHIVE = "-XX:SharedArchiveFile=";
    private final Job job;
    private String current = null;

    Trial(Job job) {
        this.job = job;
    }

    /** The test at work, also where something throws; null between tests. */
    String current() {
        return current;
    }

    /** Goes through the job, from `hello` to `bye`. */
    void run() throws Exception {
        Driver driver = Drivers.find(job);
        try {
            Events.send("hello", hello(driver.open()));
            Clock clock = new Clock(job.server(), job.slowdown());
            for (Job.Test test : job.tests()) {
                current = test.id();
                // The process that reads this may be busy for a moment, perhaps on the same processor: so it is sent
                // before the input is loaded and not just before the clock starts.
                Events.send("progress", Map.of("test", test.id()));
                if (job.answersOnly()) {
                    Events.answer(test.id(), test.check() == null ? Models.leftBy(test, driver) : checked(driver, test));
                } else {
                    perform(test, driver, clock);
                }
            }
            current = null;
        } catch (Exception error) {
            driver.abandon();
            throw error instanceof SQLException sql ? driver.failure(sql, Failure.NOWHERE) : error;
        }
        try {
            driver.close();
        } catch (SQLException error) {
            throw driver.failure(error, Failure.NOWHERE).within("closing the database");
        }
        Events.send("bye", Map.of());
    }

    /** The machine's version and flags are part of what identifies a build. */
    private static Map<String, Object> hello(Driver.Identity identity) throws IOException {
        Map<String, Object> fields = Events.fields();
        fields.put("protocol", Job.PROTOCOL);
        String java = System.getProperty("java.vm.name") + " " + Runtime.version();
        fields.put("runner", "jvm " + Job.VERSION + " on " + java);
        fields.put("engine_version", identity.engineVersion());
        fields.put("driver_version", identity.driverVersion());
        Map<String, Object> build = Events.fields();
        build.putAll(identity.build());
        build.put("java_flags", flags());
        fields.put("build", build);
        fields.put("settings", identity.settings());
        fields.put("read_back", identity.readBack());
        return fields;
    }

    /** The flags in force: an archive of classes is one where the machine could use it, without the path of this machine. */
    private static List<String> flags() throws IOException {
        String mapped = Files.readString(Path.of("/proc/self/maps"));
        List<String> flags = new ArrayList<>();
        for (String word : Files.readString(Path.of("/proc/self/cmdline")).split("\0")) {
            if (!word.startsWith(ARCHIVE)) {
                if (word.startsWith("-X")) {
                    flags.add(word);
                }
                continue;
            }
            String name = Path.of(word.substring(ARCHIVE.length())).getFileName().toString();
            if (mapped.contains("/" + name + "\n")) {
                flags.add(ARCHIVE + name);
            }
        }
        return flags;
    }

    private void perform(Job.Test test, Driver driver, Clock clock) throws Exception {
        for (String sql : test.setup()) {
            Models.asked(driver, sql, "the setup");
        }
        Models.Outcome outcome = Models.perform(test, driver, clock);
        Map<String, Object> sample = Events.fields();
        sample.put("test", test.id());
        sample.putAll(outcome.sample());
        Long size = driver.databaseBytes();
        sample.put("database_bytes", size == null ? folderBytes(Path.of(job.directory())) : size);
        Events.send("sample", sample);
        Events.answer(test.id(), test.check() == null ? outcome.answer().rows() : checked(driver, test));
    }

    /** The rows of a check. If it fails and consists of several invariants, the failure names the first whose own query
     *  fails. */
    private static List<Object[]> checked(Driver driver, Job.Test test) throws Exception {
        try {
            return Models.asked(driver, test.check(), "the check query");
        } catch (Failure failure) {
            for (Record one : test.input().objectsIfAny("queries", each -> each)) {
                Models.asked(driver, one.text("query"), "the invariant " + one.text("says"));
            }
            throw failure;
        }
    }

    /** The sizes of all files in a folder and below, without holes: engines make files longer than their content. A file
     *  that disappears meanwhile counts as zero. */
    private static long folderBytes(Path folder) throws IOException {
        long total = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
                    total += folderBytes(entry);
                } else {
                    total += Native.bytesOf(entry);
                }
            }
        }
        return total;
    }
}
