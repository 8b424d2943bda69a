package dyno.runner.mix;

import dyno.runner.Failure;
import dyno.runner.drivers.Driver;
import dyno.runner.drivers.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;

/** The loop of a client that comes and goes: it connects when a session is due, does the session's steps and leaves. */
final class Visitor extends Client {
    private final Driver driver;
    private final List<Set<Integer>> visits;

    Visitor(Work work, Steps steps, IntSupplier take, Recorder recorder, List<Set<Integer>> visits, Driver driver) {
        super(work, steps, take, recorder);
        this.visits = visits;
        this.driver = driver;
    }

    /** By session, the classes of its steps: each prepares only the statements that it executes, like a program that
     *  connects for a short time. */
    static List<Set<Integer>> visits(Work work, Steps steps) {
        int each = work.session();
        if (each < 1 || steps.count() % each != 0) {
            throw new Failure("there are " + steps.count() + " steps in sessions of " + each + ": this is an error in dyno");
        }
        List<Set<Integer>> visits = new ArrayList<>();
        for (int start = 0; start < steps.count(); start += each) {
            if (steps.due(steps.at(start)) == 0) {
                throw new Failure("session " + visits.size() + " is due at no time: this is an error in dyno");
            }
            Set<Integer> classes = new HashSet<>();
            for (int step = start; step < start + each; step++) {
                classes.add(steps.classOf(steps.at(step)));
            }
            visits.add(classes);
        }
        return visits;
    }

    @Override
    void run(long began) {
        int each = work.session();
        int connect = work.classes().size();
        long end = work.window().end(began);
        long free = System.nanoTime();
        while (free < end && !stop) {
            int place = take.getAsInt();
            if (place >= visits.size()) {
                return;
            }
            int start = place * each;
            long due = began + steps.due(steps.at(start));
            if (Math.max(due, free) >= end) {
                return;
            }
            long sent = due > free ? Moment.waitUntil(due) : free;
            Session session = connect(visits.get(place));
            try (session) {
                long done = System.nanoTime();
                recorder.done(connect, due, free, sent, done);
                for (int step = start; step < start + each && done < end && !stop; step++) {
                    done = perform(steps.at(step), 0, done, done);
                }
            } catch (SQLException error) {
                throw new Failure("leaving: " + driver.words(error));
            }
            free = System.nanoTime();
        }
        if (!stop) {
            leave(began, each, connect);
        }
    }

    private Session connect(Set<Integer> classes) {
        Session session = null;
        try {
            session = driver.visit();
            enter(session, classes);
            return session;
        } catch (SQLException | Failure error) {
            if (session != null) {
                try {
                    session.close();
                } catch (SQLException second) {
                    // The first failure is the one to report.
                }
            }
            String words = error instanceof SQLException sql ? driver.words(sql) : error.getMessage();
            throw new Failure(Work.CONNECT + ": " + words);
        }
    }
}
