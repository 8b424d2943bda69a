package dyno.runner.mix;

import dyno.runner.Events;
import dyno.runner.drivers.Session;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.Map;

/** An operation of which its client says when a try begins and when it is done: for proofs, which time nothing. */
final class ReportingOperation extends Operation {
    /** Where a step has the number that identifies it in reports. */
    private final int number;

    ReportingOperation(Session session, Work work, int place, Steps steps, Recorder recorder) throws SQLException {
        super(session, work, place, steps, recorder);
        this.number = work.fields().get(work.reports()).at();
    }

    @Override
    int attempt(int at) throws SQLException {
        say(at, false);
        int how = super.attempt(at);
        if (how == DONE) {
            say(at, true);
        }
        return how;
    }

    private void say(int at, boolean done) {
        try {
            Events.send("operation", Map.of("number", steps.integer(at + number), "done", done));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
