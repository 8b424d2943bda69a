package dyno.runner.mix;

import dyno.runner.drivers.Call;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Times each statement of the operations of one class of one client, for mixes that ask for it. */
final class Timing {
    private final Recorder recorder;
    private final int place;
    /** Of the operation under way: the positions of statements, and how long they took. */
    private final List<long[]> executions = new ArrayList<>();

    Timing(Recorder recorder, int place) {
        this.recorder = recorder;
        this.place = place;
    }

    /** The statements of a class that are timed, with the beginning and the end of its transaction. */
    static List<String> texts(Work.OneClass one) {
        List<String> texts = new ArrayList<>();
        one.statements().forEach(statement -> texts.add(statement.whole().strip()));
        if (one.transaction() != null) {
            texts.add(0, "BEGIN");
            texts.add("COMMIT");
        }
        return texts;
    }

    /** A call to the engine. */
    interface Execution {
        void run() throws SQLException;
    }

    void time(int statement, Execution execution) throws SQLException {
        long began = System.nanoTime();
        execution.run();
        executions.add(new long[] {statement, System.nanoTime() - began});
    }

    /** A call that is timed as an execution of a statement, by its position. */
    Call timed(int statement, Call call) {
        return new Call() {
            @Override
            public void integer(int parameter, long value) throws SQLException {
                call.integer(parameter, value);
            }

            @Override
            public void real(int parameter, double value) throws SQLException {
                call.real(parameter, value);
            }

            @Override
            public void object(int parameter, Object value) throws SQLException {
                call.object(parameter, value);
            }

            @Override
            public List<Object[]> run() throws SQLException {
                long began = System.nanoTime();
                List<Object[]> rows = call.run();
                executions.add(new long[] {statement, System.nanoTime() - began});
                return rows;
            }
        };
    }

    void restart() {
        executions.clear();
    }

    /** Records the executions of an operation that is done, or ended as planned. */
    void record() {
        long ended = System.nanoTime();
        executions.forEach(one -> recorder.executed(place, (int) one[0], ended, one[1]));
    }
}
