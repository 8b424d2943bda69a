package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jooq.SQLDialect;

/** The drivers, by the two names in a job: an engine or the protocol that it speaks, and a driver. */
public final class Drivers {
    private static final Map<String, Function<Job, Driver>> ALL = new TreeMap<>(Map.ofEntries(
            Map.entry("null/jvm", NullDriver::new),
            Map.entry("sqlite/sqlite-jdbc", SqliteJdbc::new),
            Map.entry("sqlite/jooq", job -> new Jooq(new SqliteJdbc(job), SQLDialect.SQLITE)),
            Map.entry("h2/jdbc", H2::new),
            Map.entry("hsqldb/jdbc", Hsqldb::new),
            Map.entry("derby/jdbc", Derby::new),
            Map.entry("postgres/pgjdbc", PgJdbc::new),
            Map.entry("postgres/hikaricp", Hikari::new),
            Map.entry("postgres/jooq", job -> new Jooq(new PgJdbc(job, Layered.VARIANTS), SQLDialect.POSTGRES)),
            Map.entry("postgres/hibernate", job -> new Hibernate(new PgJdbc(job, Layered.VARIANTS))),
            Map.entry("mysql/hibernate", job -> new Hibernate(new MariaDbClient(job, Layered.VARIANTS))),
            Map.entry("mysql/mariadb-java-client", MariaDbClient::new),
            Map.entry("mysql/jooq", job -> new Jooq(new MariaDbClient(job, Layered.VARIANTS), Jooq.mysql(job))),
            Map.entry("mysql/mysql-connector-j", ConnectorJ::new)));

    private Drivers() {}

    /** All names, as `postgres/pgjdbc`. */
    public static Set<String> names() {
        return ALL.keySet();
    }

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
