package dyno.runner.drivers;

import dyno.runner.Job;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** HSQLDB. https://hsqldb.org/doc/2.0/guide/dbproperties-chapt.html */
final class Hsqldb extends Embedded {
    Hsqldb(Job job) {
        super(job, new org.hsqldb.jdbc.JDBCDriver(), List.of(
                "hsqldb.write_delay", "hsqldb.write_delay_millis", "hsqldb.default_table_type", "hsqldb.tx", "hsqldb.cache_rows",
                "hsqldb.cache_size", "hsqldb.log_size"));
    }

    @Override
    String url(Path file) {
        return file == null ? "jdbc:hsqldb:mem:dyno" : "jdbc:hsqldb:file:" + file;
    }

    @Override
    String value(String name) throws SQLException {
        return first("SELECT property_value FROM information_schema.system_properties WHERE property_name = '"
                + name.replace("'", "''") + "'");
    }

    @Override
    String version() throws SQLException {
        return first("VALUES DATABASE_VERSION()");
    }

    /** Without this the next one that opens the database recovers it from the log. */
    @Override
    void shutDown(Connection last) throws SQLException {
        try (Statement statement = last.createStatement()) {
            statement.execute("SHUTDOWN");
        }
    }
}
