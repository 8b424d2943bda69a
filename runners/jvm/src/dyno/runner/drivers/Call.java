package dyno.runner.drivers;

import java.sql.SQLException;
import java.util.List;

/** A statement of a client, prepared as far as the library can before it is executed. Parameters count from 1. */
public interface Call {
    void integer(int parameter, long value) throws SQLException;

    void real(int parameter, double value) throws SQLException;

    /** A text, a value that a driver gave, or null. */
    void object(int parameter, Object value) throws SQLException;

    /** Executes it, and fetches all values of all rows. */
    List<Object[]> run() throws SQLException;
}
