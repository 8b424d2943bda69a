package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Shared parts of the drivers of servers: connections to a trial's database, which the job's maintenance makes and removes. */
abstract class ServerJdbc extends Jdbc {
    /** Seconds to wait for an answer to a connection, where the URL does not say. */
    static final int PATIENCE = 10;

    /** True if something is to be done at the end. */
    private boolean made = false;

    ServerJdbc(Job job, List<String> variants) {
        super(job, variants);
        if (job.server() == null) {
            throw new Failure("the job says no server, and " + job.engine()
                    + " is reached through one: this is an error in dyno");
        }
        if (job.build().equals("bundled")) {
            throw new Failure(job.engine() + " is a server and has no bundled build");
        }
    }

    /** Connects to a database, or if it is null to none, by the library. */
    abstract Connection attach(String database) throws SQLException;

    /** Advice on a connection that failed; empty if that is not known. */
    abstract String advice(SQLException error);

    /** The encryption of the connection, or `none`. */
    abstract String encryption() throws SQLException;

    abstract String driverVersion();

    /** The user and the password, for a library. */
    final Properties account() {
        Properties account = new Properties();
        account.setProperty("user", job.server().user());
        account.setProperty("password", job.server().password() == null ? "" : job.server().password());
        return account;
    }

    /** True if the server is reached through a socket of the file system. */
    final boolean isLocal() {
        return job.server().host().startsWith("/");
    }

    @Override
    Connection connect() {
        return connect(job.server().database());
    }

    private Connection connect(String database) {
        try {
            return attach(database);
        } catch (SQLException error) {
            String host = job.server().host();
            String where = database == null ? host : "the database '" + database + "' of " + host;
            throw new Failure("cannot connect to " + where + ": " + words(error) + advice(error));
        }
    }

    @Override
    public Identity open() throws SQLException {
        if (job.maintenance() != null) {
            maintain(job.maintenance().before());
            made = true;
        }
        begin();
        Map<String, Object> build = Map.of("encryption", List.of(encryption()), "library", List.of(archive()));
        return new Identity(
                "", driverVersion(), build, List.of(), listed.readBack(connection, job.readBack()));
    }

    private void maintain(List<Job.Listed> statements) throws SQLException {
        try (Connection administrative = connect(job.maintenance().database())) {
            listed.maintain(administrative, statements);
        }
    }

    /** A connection to a server does not concern others. */
    @Override
    public void aside() {}

    @Override
    public void back() {}

    @Override
    public Long databaseBytes() {
        return listed.firstNumber(connection, job.databaseBytes());
    }

    @Override
    public void close() throws SQLException {
        // By a new connection, because the old one may be lost or within a transaction, and because some servers remove
        // no database to which a client is connected. Uncommitted work is rolled back.
        super.close();
        if (made && !job.maintenance().after().isEmpty()) {
            made = false;
            maintain(job.maintenance().after());
        }
    }

    @Override
    public void abandon() {
        try {
            super.close();
        } catch (SQLException error) {
            // The first failure is the one to report.
        }
        super.abandon();
    }

    /** A whole number of seconds. */
    static int seconds(String name, String value) {
        if (!value.matches("\\d{1,6}")) {
            throw new Failure("the option " + name + " is in seconds, not '" + value + "'");
        }
        return Integer.parseInt(value);
    }

    /** The innermost reason of an error: drivers wrap what the network says. */
    static String reason(Throwable error) {
        Throwable inner = error;
        while (inner.getCause() != null && inner.getCause() != inner) {
            inner = inner.getCause();
        }
        String words = inner.getMessage() == null ? inner.getClass().getSimpleName() : inner.getMessage();
        String outer = Failure.oneLine(error.getMessage());
        return inner == error || outer.contains(words) ? outer : outer + " (" + Failure.oneLine(words) + ")";
    }
}
