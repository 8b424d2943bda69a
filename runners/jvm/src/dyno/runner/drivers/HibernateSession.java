package dyno.runner.drivers;

import java.sql.SQLException;
import java.util.List;

/** A client with a session of Hibernate for each transaction. A statement outside of one is a transaction as well: without one
 *  Hibernate writes nothing. */
final class HibernateSession extends LayerSession {
    private final Hibernate layer;
    /** Null outside of transactions. */
    private org.hibernate.Session open = null;

    HibernateSession(JdbcSession own, Hibernate layer) {
        super(own);
        this.layer = layer;
    }

    @Override
    public Call prepare(List<String> pieces) throws SQLException {
        HibernateQuery.Execution query = unwrapped(() -> layer.query(own.connection, pieces));
        return new PreparedAgain(pieces.size() - 1, values -> execute(query, values));
    }

    /** The server keeps no statement prepared in the meantime. An entity is written at the end of the transaction, and so
     *  prepared. */
    @Override
    public Call simple(List<String> pieces) throws SQLException {
        HibernateQuery.Execution query = unwrapped(() -> layer.query(own.connection, pieces));
        return new PreparedAgain(pieces.size() - 1, values -> {
            own.driver.keep(own.connection, false);
            try {
                return execute(query, values);
            } finally {
                own.driver.keep(own.connection, true);
            }
        });
    }

    private List<Object[]> execute(HibernateQuery.Execution query, Object[] values) throws SQLException {
        if (open != null) {
            return unwrapped(() -> query.run(open, values));
        }
        begin(true);
        try {
            List<Object[]> rows = unwrapped(() -> query.run(open, values));
            commit();
            return rows;
        } catch (SQLException error) {
            try {
                rollback();
            } catch (SQLException second) {
                // The first error is the cause.
                error.addSuppressed(second);
            }
            throw error;
        }
    }

    @Override
    public void separate() {}

    @Override
    public void begin(boolean writes) throws SQLException {
        unwrapped(() -> {
            open = layer.factory().withOptions().connection(own.connection).openSession();
            return open.beginTransaction();
        });
    }

    @Override
    public void commit() throws SQLException {
        unwrapped(() -> {
            open.getTransaction().commit();
            end();
            return null;
        });
    }

    @Override
    public void rollback() throws SQLException {
        if (open == null) {
            return;
        }
        unwrapped(() -> {
            try {
                open.getTransaction().rollback();
            } finally {
                end();
            }
            return null;
        });
    }

    private void end() {
        org.hibernate.Session ended = open;
        open = null;
        ended.close();
    }

    @Override
    public void close() throws SQLException {
        rollback();
        own.close();
    }
}
