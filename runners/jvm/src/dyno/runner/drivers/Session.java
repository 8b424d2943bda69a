package dyno.runner.drivers;

import java.sql.SQLException;
import java.util.List;

/** A client's session with the engine. All of its calls but `prepare`, `simple`, `waitForLocks` and `close` are timed. */
public interface Session extends AutoCloseable {
    /** A statement, of which these are the pieces of the text around its parameters. */
    Call prepare(List<String> pieces) throws SQLException;

    /** A statement which is never prepared beforehand. */
    Call simple(List<String> pieces) throws SQLException;

    /** Sets the engine's limit of waiting for a lock, in nanoseconds, where the client can set it. */
    void waitForLocks(long patience) throws SQLException;

    /** Begins statements outside of transactions: each commits. */
    void separate() throws SQLException;

    void begin(boolean writes) throws SQLException;

    void commit() throws SQLException;

    /** The engine may have rolled back already. */
    void rollback() throws SQLException;

    /** True if stored rows can be read back. The null driver cannot, and reports no missing row. */
    boolean keeps();

    /** True if an operation that failed with this error may succeed if it is tried again. */
    boolean mayPass(SQLException error);

    /** The codes of an error, as a suite names errors. */
    List<String> codes(SQLException error);

    /** The engine's message. */
    String words(SQLException error);

    /** Closes the connection if it was opened for this client. */
    @Override
    void close() throws SQLException;
}
