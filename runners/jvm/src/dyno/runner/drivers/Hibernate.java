package dyno.runner.drivers;

import dyno.runner.Load;
import dyno.runner.drivers.layers.Mapping;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.Version;
import org.hibernate.boot.MetadataSources;
import org.hibernate.boot.registry.StandardServiceRegistry;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.engine.jdbc.connections.spi.ConnectionProvider;

/** Hibernate ORM, whose entities are the tables of the database. https://docs.hibernate.org/orm/6.6/userguide/html_single/ */
final class Hibernate extends Layered {
    static {
        // It logs through the interface that has no provider here.
        System.setProperty("org.jboss.logging.provider", "slf4j");
    }

    /** Null until the tables are known. */
    private SessionFactory factory = null;
    /** By statement, what executes it: found once, and not by each client that comes and goes within the clock. */
    private final Map<List<String>, HibernateQuery.Execution> queries = new ConcurrentHashMap<>();

    Hibernate(Jdbc under) {
        super(under);
    }

    @Override
    String library() {
        return "Hibernate ORM " + Version.getVersionString();
    }

    @Override
    void learn() {
        end();
        queries.clear();
        StandardServiceRegistry registry = new StandardServiceRegistryBuilder()
                .applySetting(JdbcSettings.CONNECTION_PROVIDER, new Connections(under))
                .build();
        byte[] mapping = Mapping.of(schema).getBytes(StandardCharsets.UTF_8);
        factory = new MetadataSources(registry)
                .addInputStream(new ByteArrayInputStream(mapping))
                .buildMetadata()
                .buildSessionFactory();
    }

    @Override
    Session client(JdbcSession own) throws SQLException {
        under.keep(own.connection, true);
        // All of its statements are in transactions: it would turn this off and on again around each, by the server.
        own.connection.setAutoCommit(false);
        return new HibernateSession(own, this);
    }

    @Override
    Loader loader(Load load, int many) {
        String[] names = schema.names(load.table()).toArray(String[]::new);
        String[] cells = new String[names.length];
        return new Loader() {
            /** As in its manual, all of its work is within transactions. */
            @Override
            public int rows() {
                return 0;
            }

            @Override
            public void load(Load.Range range) throws SQLException {
                LayerSession.unwrapped(() -> {
                    insert(load, range, many, names, cells);
                    return null;
                });
            }
        };
    }

    /** https://docs.hibernate.org/orm/6.6/userguide/html_single/#batch */
    private void insert(Load load, Load.Range range, int many, String[] names, String[] cells) {
        try (StatelessSession session = factory.openStatelessSession(under.connection)) {
            session.setJdbcBatchSize(many);
            session.beginTransaction();
            for (int place = range.start(); place < range.stop(); place++) {
                load.file().read(place, cells);
                Map<String, Object> row = new HashMap<>();
                for (int column = 0; column < cells.length; column++) {
                    row.put(names[column], cells[column]);
                }
                session.insert(load.table(), row);
            }
            session.getTransaction().commit();
        }
    }

    SessionFactory factory() {
        return factory;
    }

    /** What executes a statement, by the connection with which it is looked for. */
    HibernateQuery.Execution query(Connection connection, List<String> pieces) {
        return queries.computeIfAbsent(
                pieces, one -> HibernateQuery.of(factory, connection, schema, tree(one), one));
    }

    private void end() {
        if (factory != null) {
            factory.close();
            factory = null;
        }
    }

    @Override
    public void close() throws SQLException {
        end();
        super.close();
    }

    @Override
    public void abandon() {
        end();
        super.abandon();
    }

    /** A connection with which Hibernate learns what the server is. Its sessions have those of the clients. */
    private static final class Connections implements ConnectionProvider {
        private static final long serialVersionUID = 1;
        private final transient Jdbc under;

        Connections(Jdbc under) {
            this.under = under;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return under.another();
        }

        @Override
        public void closeConnection(Connection connection) throws SQLException {
            connection.close();
        }

        @Override
        public boolean supportsAggressiveRelease() {
            return false;
        }

        @Override
        public boolean isUnwrappableAs(Class<?> type) {
            return false;
        }

        @Override
        public <T> T unwrap(Class<T> type) {
            return null;
        }
    }
}
