package dyno.runner.mix;

import dyno.runner.Failure;
import dyno.runner.drivers.Session;
import java.sql.SQLException;
import java.util.Set;
import java.util.function.IntSupplier;

/** The loop of one client. */
class Client {
    final Work work;
    final Steps steps;
    /** Returns the place of the next step, or of the next session of a client that comes and goes. */
    final IntSupplier take;
    final Recorder recorder;
    /** Set when the client is to end. */
    volatile boolean stop = false;
    /** By class; null where the session does no operation of the class. */
    private Operation[] operations;
    private Session session;

    Client(Work work, Steps steps, IntSupplier take, Recorder recorder) {
        this.work = work;
        this.steps = steps;
        this.take = take;
        this.recorder = recorder;
    }

    /** Uses a session from now on, which prepares the statements of these classes, or of all if it is null. */
    final void enter(Session entered, Set<Integer> classes) throws SQLException {
        session = entered;
        session.waitForLocks(work.shortestPatience());
        operations = new Operation[work.classes().size()];
        for (int place = 0; place < operations.length; place++) {
            if (classes == null || classes.contains(place)) {
                operations[place] = work.reports() == null
                        ? new Operation(session, work, place, steps, recorder)
                        : new ReportingOperation(session, work, place, steps, recorder);
            }
        }
    }

    /** Does steps until the time is up, or until all are done. `began` is the moment at which the clients began. */
    void run(long began) {
        long end = work.window().end(began);
        // Steps with times are done once; others are repeated where the end is a time.
        boolean once = work.window().stop() == null || steps.areDue();
        int think = work.think() == null ? -1 : work.fields().get(work.think()).at();
        long free = System.nanoTime();
        while (free < end && !stop) {
            int place = take.getAsInt();
            if (place >= steps.count()) {
                if (once) {
                    return;
                }
                place %= steps.count();
                recorder.anew = Math.min(recorder.anew, free);
            }
            int at = steps.at(place);
            long due = steps.due(at) == 0 ? 0 : began + steps.due(at);
            long until = due == 0 && think >= 0 ? free + steps.integer(at + think) : due;
            long sent = free;
            if (until > free) {
                if (until >= end) {
                    return;
                }
                sent = Moment.waitUntil(until);
            }
            free = perform(at, due, free, sent);
        }
        if (!stop) {
            leave(began, 1, -1);
        }
    }

    /** Does a step, and records it. Returns the moment at which it ended. */
    final long perform(int at, long due, long free, long sent) {
        int of = steps.classOf(at);
        long since = due == 0 ? sent : due;
        int how;
        try {
            how = operations[of].attempt(at);
        } catch (SQLException error) {
            how = again(at, of, since, sent, error);
        }
        long ended = System.nanoTime();
        if (how == Operation.DONE || isDone(of, since, ended, how)) {
            recorder.done(of, due, free, sent, ended);
        }
        return ended;
    }

    /** Once the time is up, records all steps that were due before its end and were never begun: the first of every `each`
     *  steps, as of the class `as`, or if that is -1 each as of its own. */
    final void leave(long began, int each, int as) {
        if (work.window().stop() == null || !steps.areDue()) {
            return;
        }
        for (long place = (long) take.getAsInt() * each; place < steps.count(); place = (long) take.getAsInt() * each) {
            int at = steps.at((int) place);
            if (steps.due(at) >= work.window().stop()) {
                return;
            }
            long due = began + steps.due(at);
            recorder.left.add(new Recorder.Event(as < 0 ? steps.classOf(at) : as, due, due));
        }
    }

    /** Records an operation that did not end with its last statement. Returns true if it counts as done. */
    private boolean isDone(int place, long since, long ended, int how) {
        if (how == Operation.LATE) {
            return false;
        }
        if (how == Operation.UNDONE || how == Operation.IGNORED) {
            Recorder.Event event = new Recorder.Event(place, since, ended);
            recorder.undone.add(event);
            if (how == Operation.IGNORED) {
                recorder.ignored.add(event);
            }
            return true;
        }
        String text = work.classes().get(place).statements().get(how).whole();
        recorder.failed(place, since, ended, 0, "no row came of " + Failure.quote(text));
        return false;
    }

    /** Retries an operation that was due at `since`, for as long as that may help. Returns how it ended. */
    private int again(int at, int place, long since, long sent, SQLException first) {
        Work.OneClass one = work.classes().get(place);
        SQLException error = first;
        for (int retried = 0;; retried++) {
            if (session.codes(error).stream().anyMatch(one.ignores()::contains)) {
                recorder.retried(place, System.nanoTime(), retried);
                return Operation.IGNORED;
            }
            if (!session.mayPass(error)) {
                StringBuilder words = new StringBuilder("class " + one.name() + ": " + session.words(error));
                for (Throwable note : error.getSuppressed()) {
                    words.append(note instanceof Failure ? " (" + note.getMessage() + ")" : "");
                }
                throw new Failure(words.toString());
            }
            long ended = System.nanoTime();
            if (ended - sent > work.patienceOf(place)) {
                recorder.failed(place, since, ended, retried, null);
                return Operation.LATE;
            }
            try {
                int how = operations[place].attempt(at);
                recorder.retried(place, System.nanoTime(), retried + 1);
                return how;
            } catch (SQLException next) {
                error = next;
            }
        }
    }
}
