package dyno.runner.mix;

import dyno.runner.Failure;
import dyno.runner.drivers.Driver;
import dyno.runner.drivers.Session;
import dyno.runner.measure.Clock;
import dyno.runner.measure.Native;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/** Runs a mix: prepares all of its clients, each a thread, starts them at one instant, and adds up what they did. */
public final class Mix {
    /** The time before the start at which clients are given the moment, so that all of them have it in time. */
    private static final long NOTICE = 5_000_000;

    private final Work work;
    private final Driver driver;
    private final Clock clock;
    private final List<Session> sessions = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    /** To all clients: that they may begin, at `began` or, if that is 0, not at all; and that their threads may end. */
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch leave = new CountDownLatch(1);
    private final LinkedBlockingQueue<End> ends = new LinkedBlockingQueue<>();
    private volatile long began = 0;
    private long last = 0;

    /** The end of a client's work. `error` is null if it ended as planned. */
    private record End(long at, RuntimeException error) {}

    public Mix(Work work, Driver driver, Clock clock) {
        this.work = work;
        this.driver = driver;
        this.clock = clock;
    }

    /** Does the work. Returns its sample. */
    public Map<String, Object> perform() throws Exception {
        // Only clients that come and go are connected.
        if (work.session() != null) {
            driver.aside();
        }
        Map<String, Object> section;
        try {
            enter();
            section = together();
        } finally {
            go.countDown();
            leave.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            for (Session session : sessions) {
                session.close();
            }
        }
        if (work.session() != null) {
            driver.back();
        }
        Sum sum = new Sum(work, began, clients.stream().map(client -> client.recorder).toList());
        Map<String, Object> sample = sum.sample();
        if ((Long) sample.get("operations") == 0) {
            throw new Failure("no operation succeeded within the time" + sum.why());
        }
        // Operations that ended later do not count.
        section.put("nanoseconds", work.window().stop() == null ? last - began : work.window().duration());
        sample.put("section", section);
        return sample;
    }

    /** Connects all clients, prepares their statements, and starts their threads. */
    private void enter() {
        List<Steps> files = work.steps().stream().map(file -> new Steps(file, work)).toList();
        IntSupplier next = new AtomicInteger()::getAndIncrement;
        List<Set<Integer>> visits = work.session() == null ? null : Visitor.visits(work, files.get(0));
        boolean areDue = visits == null && files.get(0).areDue();
        for (int place = 0; place < work.clients(); place++) {
            Steps steps = files.get(work.shares() ? 0 : place);
            IntSupplier take = work.shares() ? next : counter();
            Recorder recorder = new Recorder(work.classes().size(), areDue, visits != null);
            if (visits != null) {
                clients.add(new Visitor(work, steps, take, recorder, visits, driver));
                continue;
            }
            Client client = new Client(work, steps, take, recorder);
            try {
                Session session = driver.session(place);
                sessions.add(session);
                client.enter(session, null);
            } catch (SQLException error) {
                throw driver.failure(error, Failure.NOWHERE).within(nameOf(place) + " of " + work.clients());
            } catch (Failure failure) {
                throw failure.within(nameOf(place) + " of " + work.clients());
            }
            clients.add(client);
        }
        for (int place = 0; place < clients.size(); place++) {
            int number = place;
            threads.add(new Thread(() -> live(number), nameOf(place)));
        }
        threads.forEach(Thread::start);
    }

    private static String nameOf(int place) {
        return "client " + (place + 1);
    }

    /** Counts from zero, for one client. */
    private static IntSupplier counter() {
        int[] count = {0};
        return () -> count[0]++;
    }

    /** The life of a client's thread. */
    private void live(int place) {
        RuntimeException error = null;
        try {
            Native.wakeInTime();
            go.await();
            if (began != 0) {
                Moment.waitUntil(began);
                clients.get(place).run(began);
            }
        } catch (Failure failure) {
            error = failure.within(nameOf(place));
        } catch (RuntimeException fault) {
            error = fault;
        } catch (InterruptedException | Error fault) {
            error = new Failure(nameOf(place) + ": " + fault);
        }
        ends.add(new End(System.nanoTime(), error));
        try {
            // The counters of a thread that ends are lost with it.
            leave.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets all clients go, and times them. When it returns, all have stopped. */
    private Map<String, Object> together() throws InterruptedException {
        Work.Window window = work.window();
        Clock.collect();
        clock.prepare();
        // The counters of clients that do not warm up are read before they begin.
        if (window.start() == 0) {
            clock.count();
        }
        began = System.nanoTime() + NOTICE;
        go.countDown();
        List<End> ended = new ArrayList<>();
        if (window.start() > 0) {
            wait(ended, began + window.start());
            clock.count();
        }
        clock.startAt(began + window.start());
        wait(ended, window.end(began));
        Map<String, Object> section = clock.stop();
        boolean failed = ended.stream().anyMatch(end -> end.error() != null);
        clients.forEach(client -> client.stop = failed || client.stop);
        while (ended.size() < clients.size()) {
            ended.add(ends.take());
        }
        for (End end : ended) {
            if (end.error() != null) {
                throw end.error();
            }
            last = Math.max(last, end.at());
        }
        return section;
    }

    /** Waits until a moment, or if there is none until all clients are done; not longer once one has failed. Clients whose
     *  steps ran out early are idle for the rest of the time. */
    private void wait(List<End> ended, long moment) throws InterruptedException {
        while (ended.stream().allMatch(end -> end.error() == null)) {
            if (moment == Long.MAX_VALUE) {
                if (ended.size() == clients.size()) {
                    return;
                }
                ended.add(ends.take());
                continue;
            }
            long left = moment - System.nanoTime();
            if (left <= 0) {
                return;
            }
            End end = ends.poll(left, TimeUnit.NANOSECONDS);
            if (end != null) {
                ended.add(end);
            }
        }
    }
}
