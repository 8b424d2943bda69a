package dyno.runner.drivers;

import java.sql.SQLException;
import java.util.List;

/** A client of a layer, which has all but its statements from a client of the driver. */
abstract class LayerSession implements Session {
    final JdbcSession own;

    LayerSession(JdbcSession own) {
        this.own = own;
    }

    @Override
    public void waitForLocks(long patience) throws SQLException {
        own.waitForLocks(patience);
    }

    @Override
    public void separate() throws SQLException {
        own.separate();
    }

    @Override
    public void begin(boolean writes) throws SQLException {
        own.begin(writes);
    }

    @Override
    public void commit() throws SQLException {
        own.commit();
    }

    @Override
    public void rollback() throws SQLException {
        own.rollback();
    }

    @Override
    public boolean keeps() {
        return true;
    }

    @Override
    public boolean mayPass(SQLException error) {
        return own.mayPass(error);
    }

    @Override
    public List<String> codes(SQLException error) {
        return own.codes(error);
    }

    @Override
    public String words(SQLException error) {
        return own.words(error);
    }

    @Override
    public void close() throws SQLException {
        own.close();
    }

    /** Work of a layer, which wraps the errors of the driver. */
    interface Wrapped<T> {
        T run() throws SQLException;
    }

    /** Does it, and throws what the driver has thrown. */
    static <T> T unwrapped(Wrapped<T> work) throws SQLException {
        try {
            return work.run();
        } catch (RuntimeException error) {
            for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
                if (cause instanceof SQLException inner) {
                    throw inner;
                }
            }
            throw error;
        }
    }
}
