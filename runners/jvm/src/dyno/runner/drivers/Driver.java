package dyno.runner.drivers;

import dyno.runner.Answer;
import dyno.runner.Failure;
import dyno.runner.Load;
import dyno.runner.RowFile;
import dyno.runner.Statements;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A driver that is measured. Its calls throw what the library throws, or a `Failure` that has the operation's position. */
public interface Driver {
    /** The contents of `hello`. */
    record Identity(
            String engineVersion, String driverVersion, Map<String, Object> build, List<Object> settings,
            List<Object> readBack) {}

    /** Opens the database, which it makes if it is not there, with the settings asked for. */
    Identity open() throws SQLException;

    /** Timed. */
    void statements(Statements file, Answer answer) throws SQLException;

    /** Prepares for rows that are to be loaded. */
    default void ready(Load load) throws SQLException {}

    /** Inserts rows by a prepared statement, one call a row. Timed. */
    void insertRows(Load load) throws Exception;

    /** Loads rows by the way that the contender names. Timed. */
    void bulkLoad(Load load) throws Exception;

    /** Timed. */
    void scan(String sql, Answer answer) throws SQLException;

    /** Rows of a query or statement outside the clock. */
    List<Object[]> query(String sql) throws SQLException;

    /** Reads columns of a whole table back, in any order. */
    void table(String table, List<RowFile.Column> columns, Consumer<Object[]> add) throws SQLException;

    /** The number of rows inserted, updated or deleted so far. */
    long changes() throws SQLException;

    /** The size of the database as reported by a server; null for files in the job's folder. */
    Long databaseBytes() throws SQLException;

    /** The session of a client of a mix, by its position. */
    Session session(int place) throws SQLException;

    /** The session of a client that comes: several threads call it at once. */
    Session visit() throws SQLException;

    /** Does what is to be done before clients come and go, and after. */
    void aside() throws SQLException;

    void back() throws SQLException;

    /** The engine's message of an error. */
    String words(SQLException error);

    /** An error as a failure of the operation at a position, or NOWHERE. */
    default Failure failure(SQLException error, int place) {
        return new Failure(words(error), place);
    }

    void close() throws SQLException;

    /** Closes what is open, as far as possible, after a failure that is reported elsewhere. */
    void abandon();
}
