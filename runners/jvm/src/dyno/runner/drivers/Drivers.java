package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The drivers, by the two names in a job: an engine or the protocol that it speaks, and a driver. */
public final class Drivers {
    private static final Map<String, Function<Job, Driver>> ALL = new TreeMap<>(Map.of(
            "null/jvm", NullDriver::new,
            "sqlite/sqlite-jdbc", SqliteJdbc::new,
            "h2/jdbc", H2::new,
            "hsqldb/jdbc", Hsqldb::new,
            "derby/jdbc", Derby::new,
            "postgres/pgjdbc", PgJdbc::new,
            "postgres/hikaricp", Hikari::new,
            "mysql/mariadb-java-client", MariaDbClient::new,
            "mysql/mysql-connector-j", ConnectorJ::new));

    private Drivers() {}

    /** The driver that a job names. */
    public static Driver find(Job job) {
        String wanted = (job.speaks().isEmpty() ? job.engine() : job.speaks()) + "/" + job.driver();
        Function<Job, Driver> found = ALL.get(wanted);
        if (found == null) {
            throw new Failure(
                    "this runner serves " + String.join(", ", ALL.keySet()) + " and the job asks for " + wanted);
        }
        return found.apply(job);
    }
}
