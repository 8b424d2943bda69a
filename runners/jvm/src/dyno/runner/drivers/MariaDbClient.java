package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Job;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** MariaDB Connector/J. https://mariadb.com/docs/connectors/mariadb-connector-j */
final class MariaDbClient extends MySqlJdbc {
    private static final Map<String, String> MODES = Map.of(
            "DISABLED", "disable",
            "REQUIRED", "trust",
            "VERIFY_CA", "verify-ca",
            "VERIFY_IDENTITY", "verify-full");

    MariaDbClient(Job job) {
        this(job, List.of("load-data", "batch", "insert"));
    }

    MariaDbClient(Job job, List<String> variants) {
        super(job, variants);
        if (!MODES.containsKey(mode)) {
            throw new Failure("ssl-mode=" + mode + " leaves it to the server whether the connection is encrypted, and this driver "
                    + "has no such mode: write ssl-mode=DISABLED or ssl-mode=REQUIRED");
        }
    }

    @Override
    Connection attach(String place, String database, Properties properties) throws SQLException {
        properties.setProperty("sslMode", MODES.get(mode));
        if (authority != null) {
            properties.setProperty("serverSslCert", authority);
        }
        if (isLocal()) {
            properties.setProperty("socketFactory", LocalSockets.class.getName());
        }
        properties.setProperty("connectTimeout", String.valueOf(patience * 1000));
        properties.setProperty("useServerPrepStmts", "true");
        properties.setProperty("useBulkStmts", "true");
        properties.setProperty("allowLocalInfile", String.valueOf(loadsData()));
        properties.setProperty("tinyInt1isBit", "false");
        properties.setProperty("yearIsDateType", "false");
        return new org.mariadb.jdbc.Driver().connect("jdbc:mariadb://" + place + "/" + database, properties);
    }

    @Override
    void give(Statement statement, InputStream rows) throws SQLException {
        statement.unwrap(org.mariadb.jdbc.Statement.class).setLocalInfileInputStream(rows);
    }

    @Override
    PreparedStatement simple(Connection opened, String sql) throws SQLException {
        return opened.unwrap(org.mariadb.jdbc.Connection.class)
                .prepareInternal(
                        sql, Statement.NO_GENERATED_KEYS, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY, false);
    }

    @Override
    String driverVersion() {
        return "mariadb-java-client " + org.mariadb.jdbc.util.VersionFactory.getInstance().getVersion();
    }
}
