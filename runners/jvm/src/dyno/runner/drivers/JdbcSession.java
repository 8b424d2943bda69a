package dyno.runner.drivers;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** A client on a JDBC connection, with transactions as JDBC has them: automatic commits are off, and `commit`. */
abstract class JdbcSession implements Session {
    final Jdbc driver;
    final Connection connection;
    private final boolean isOwn;
    /** True if each statement commits when it ends, as far as this client has asked for. MySQL Connector/J sends a statement
     *  whenever it is asked, also where nothing changes. */
    private boolean isSeparate = true;

    JdbcSession(Jdbc driver, Connection connection, boolean isOwn) {
        this.driver = driver;
        this.connection = connection;
        this.isOwn = isOwn;
    }

    @Override
    public Call prepare(List<String> pieces) throws SQLException {
        String sql = String.join("?", pieces);
        return new JdbcCall(connection.prepareStatement(sql), sql);
    }

    @Override
    public void waitForLocks(long patience) throws SQLException {}

    @Override
    public void separate() throws SQLException {
        automatic(true);
    }

    @Override
    public void begin(boolean writes) throws SQLException {
        automatic(false);
    }

    private void automatic(boolean isWanted) throws SQLException {
        if (isWanted != isSeparate) {
            connection.setAutoCommit(isWanted);
            isSeparate = isWanted;
        }
    }

    @Override
    public void commit() throws SQLException {
        connection.commit();
    }

    @Override
    public void rollback() throws SQLException {
        connection.rollback();
    }

    @Override
    public boolean keeps() {
        return true;
    }

    @Override
    public List<String> codes(SQLException error) {
        return driver.codes(error);
    }

    @Override
    public String words(SQLException error) {
        return driver.words(error);
    }

    @Override
    public void close() throws SQLException {
        if (isOwn) {
            connection.close();
        } else {
            connection.setAutoCommit(true);
        }
    }
}
