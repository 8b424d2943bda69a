package dyno.runner.drivers;

import com.mysql.cj.conf.PropertySet;
import com.mysql.cj.protocol.ServerSession;
import com.mysql.cj.protocol.SocketConnection;
import com.mysql.cj.protocol.StandardSocketFactory;
import dyno.runner.Job;
import dyno.runner.Load;
import java.io.Closeable;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;

/** MySQL Connector/J, without LOAD DATA: where it may send rows from memory, a server may ask it for any file.
 *  https://dev.mysql.com/doc/connector-j/en/ */
final class ConnectorJ extends MySqlJdbc {
    ConnectorJ(Job job) {
        super(job, List.of("rewrite", "batch", "insert"));
    }

    @Override
    Connection attach(String place, String database, Properties properties) throws SQLException {
        properties.setProperty("sslMode", mode);
        if (authority != null) {
            PemStore.register();
            properties.setProperty("trustCertificateKeyStoreUrl", java.nio.file.Path.of(authority).toUri().toString());
            properties.setProperty("trustCertificateKeyStoreType", PemStore.TYPE);
        }
        properties.setProperty("fallbackToSystemTrustStore", String.valueOf(authority == null));
        if (isLocal()) {
            properties.setProperty("socketFactory", Local.class.getName());
        }
        properties.setProperty("connectTimeout", String.valueOf(patience * 1000));
        properties.setProperty("useServerPrepStmts", "true");
        // With the default, `execute` and `executeBatch` ask MySQL before each write whether the session is read-only.
        properties.setProperty("readOnlyPropagatesToServer", "false");
        properties.setProperty("rewriteBatchedStatements", String.valueOf(variant.equals("rewrite")));
        properties.setProperty("allowPublicKeyRetrieval", String.valueOf(isLocal()));
        properties.setProperty("tinyInt1isBit", "false");
        properties.setProperty("yearIsDateType", "false");
        return new com.mysql.cj.jdbc.NonRegisteringDriver().connect("jdbc:mysql://" + place + "/" + database, properties);
    }

    /** It then gives rows as they come. */
    @Override
    int fetchSize() {
        return Integer.MIN_VALUE;
    }

    /** A batch that is rewritten goes as a text: the server would prepare it anew each time. */
    @Override
    PreparedStatement prepareBatches(Load load, String sql) throws SQLException {
        boolean isRewritten = variant.equals("rewrite") && !load.isSingle(1);
        return isRewritten ? simple(connection, sql) : super.prepareBatches(load, sql);
    }

    @Override
    PreparedStatement simple(Connection opened, String sql) throws SQLException {
        return opened.unwrap(com.mysql.cj.jdbc.JdbcConnection.class).clientPrepareStatement(sql);
    }

    @Override
    String driverVersion() {
        return "mysql-connector-j " + com.mysql.cj.Constants.CJ_VERSION;
    }

    /** The driver's sockets, through the file system. The driver makes an object of it by its name. */
    public static final class Local extends StandardSocketFactory {
        /** For the driver. */
        public Local() {}

        @Override
        @SuppressWarnings("unchecked")
        public <T extends Closeable> T connect(String host, int port, PropertySet properties, int timeout)
                throws IOException {
            rawSocket = LocalSockets.connected();
            sslSocket = rawSocket;
            return (T) rawSocket;
        }
    }
}
