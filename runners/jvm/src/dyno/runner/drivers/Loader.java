package dyno.runner.drivers;

import dyno.runner.Failure;
import dyno.runner.Load;
import java.sql.SQLException;

/** Loads the rows of one transaction after another, and has what the transactions of a load share. */
interface Loader extends AutoCloseable {
    /** Loads the rows of a transaction. */
    void load(Load.Range range) throws Exception;

    /** The number of rows that one statement loads; 0 if the library loads within transactions alone. */
    default int rows() {
        return 1;
    }

    /** The position of the row at work, or NOWHERE if several are loaded at once. */
    default int place() {
        return Failure.NOWHERE;
    }

    @Override
    default void close() throws SQLException {}
}
