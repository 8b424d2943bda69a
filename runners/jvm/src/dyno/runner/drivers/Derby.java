package dyno.runner.drivers;

import dyno.runner.Job;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import org.apache.derby.iapi.jdbc.AutoloadedDriver;

/** Derby. https://db.apache.org/derby/docs/10.16/ref/crefproper22250.html */
final class Derby extends Embedded {
    private static final String DURABILITY = "derby.system.durability";
    private static final String WAIT = "derby.locks.waitTimeout";
    private static final String DEADLOCK = "derby.locks.deadlockTimeout";
    /** The state of the error by which a shutdown says that it is done. */
    private static final String ENDED = "08006";

    private final Path file;

    Derby(Job job) {
        super(job, driver(job), List.of(DURABILITY, WAIT, DEADLOCK));
        file = Path.of(job.directory(), "dyno");
    }

    /** Settings of the whole process are to be there before its library. */
    private static java.sql.Driver driver(Job job) {
        System.setProperty("derby.stream.error.file", "/dev/null");
        for (Job.Setting setting : job.settings()) {
            if (setting.name().equals(DURABILITY)) {
                System.setProperty(DURABILITY, setting.value());
            }
        }
        return new AutoloadedDriver();
    }

    @Override
    String url(Path file) {
        return file == null ? "jdbc:derby:memory:dyno" : "jdbc:derby:" + file;
    }

    @Override
    String property(String name, String value) {
        return "";
    }

    @Override
    String always() {
        return ";create=true";
    }

    @Override
    void begin() throws SQLException {
        super.begin();
        for (String name : List.of(WAIT, DEADLOCK)) {
            if (asked.containsKey(name)) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('" + name + "', '"
                            + asked.get(name).replace("'", "''") + "')");
                }
            }
        }
    }

    /** Derby does not report how durable it is: that is claimed. */
    @Override
    String value(String name) throws SQLException {
        return name.equals(DURABILITY)
                ? System.getProperty(DURABILITY)
                : first("VALUES SYSCS_UTIL.SYSCS_GET_DATABASE_PROPERTY('" + name.replace("'", "''") + "')");
    }

    @Override
    String version() throws SQLException {
        return connection.getMetaData().getDatabaseProductVersion().split(" ")[0];
    }

    /** Without this the next one that opens the database recovers it from the log. */
    @Override
    void shutDown(Connection last) throws SQLException {
        last.close();
        try {
            boolean isFile = asked.getOrDefault("database", "file").equals("file");
            new AutoloadedDriver().connect(url(isFile ? file : null) + ";shutdown=true", new Properties());
        } catch (SQLException error) {
            if (!ENDED.equals(error.getSQLState())) {
                throw error;
            }
        }
    }
}
