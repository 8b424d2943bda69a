package dyno.runner.mix;

import dyno.runner.measure.Histogram;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The records of all clients, counted after the clock, as the protocol has them. */
final class Sum {
    /** The length of a tick, in nanoseconds. */
    private static final long TICK = 1_000_000_000;

    /** A second of the section: its histograms of each class, and the hundredths in which an operation succeeded. */
    private static final class Tick {
        final long ended;
        final List<Map<String, Object>> classes = new ArrayList<>();
        Histogram histogram;
        BigInteger hundredths = BigInteger.ZERO;

        Tick(long ended) {
            this.ended = ended;
        }

        Map<String, Object> fields() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("ended_ns", ended);
            fields.put("classes", classes);
            if (hundredths.signum() != 0) {
                fields.put("succeeded", hundredths.toString(16));
            }
            return fields;
        }
    }

    private final Work work;
    private final List<Recorder> recorders;
    private final long start;
    private final long stop;
    private final List<Tick> ticks = new ArrayList<>();

    Sum(Work work, long began, List<Recorder> recorders) {
        this.work = work;
        this.recorders = recorders;
        start = began + work.window().start();
        stop = work.window().end(began);
        long duration = work.window().duration();
        for (long at = 0; at < duration; at += TICK) {
            ticks.add(new Tick(Math.min(at + TICK, duration)));
        }
    }

    /** The operations, the classes and the ticks. */
    Map<String, Object> sample() {
        List<Map<String, Object>> classes = new ArrayList<>();
        long operations = 0;
        for (int place = 0; place < work.classes().size(); place++) {
            Work.OneClass one = work.classes().get(place);
            Map<String, Object> counted = count(one.name(), place);
            operations += (Long) counted.get("done");
            if (work.timesStatements()) {
                counted.put("statements", statements(one, place));
            }
            classes.add(counted);
        }
        if (work.session() != null) {
            // Connecting is no operation of the suite.
            classes.add(count(Work.CONNECT, work.classes().size()));
        }
        Map<String, Object> sample = new LinkedHashMap<>();
        sample.put("operations", operations);
        sample.put("classes", classes);
        sample.put("ticks", ticks.stream().map(Tick::fields).toList());
        return sample;
    }

    /** The reason for which an operation failed, after a colon; empty if there is none but time. */
    String why() {
        return recorders.stream()
                .flatMap(recorder -> recorder.failures.values().stream())
                .findFirst()
                .map(why -> ": " + why)
                .orElse("");
    }

    private boolean counts(long ended) {
        return ended >= start && ended < stop;
    }

    /** One class; adds what it has to each tick. */
    private Map<String, Object> count(String name, int place) {
        Histogram response = new Histogram();
        Histogram service = new Histogram();
        Histogram wait = new Histogram();
        Histogram late = new Histogram();
        Histogram unfinished = new Histogram();
        long[] acknowledged = {0};
        ticks.forEach(tick -> tick.histogram = new Histogram());
        for (Recorder recorder : recorders) {
            recorder.each(place, (due, free, sent, ended) -> {
                acknowledged[0] += ended <= recorder.anew ? 1 : 0;
                if (counts(ended)) {
                    response.add(ended - due);
                    addToTick(ended - start, ended - due);
                    if (recorder.isDue(place)) {
                        service.add(ended - sent);
                        // A client that was free only after the operation was due kept it waiting until then.
                        wait.add(Math.max(0, free - due));
                        late.add(sent - Math.max(free, due));
                    }
                }
                addUnfinished(unfinished, due, ended);
            });
            own(recorder.givenUp, place).forEach(one -> addUnfinished(unfinished, one.since(), one.ended()));
            own(recorder.left, place).forEach(one -> addUnfinished(unfinished, one.since(), stop));
            acknowledged[0] -= own(recorder.undone, place).stream().filter(one -> one.ended() <= recorder.anew).count();
        }
        List<Recorder.Tried> tried = recorders.stream()
                .flatMap(recorder -> recorder.tried.stream())
                .filter(one -> one.place() == place && counts(one.ended()))
                .toList();
        for (int number = 0; number < ticks.size(); number++) {
            int within = number;
            Tick tick = ticks.get(number);
            tick.classes.add(counted(name, tick.histogram, tried.stream()
                    .filter(one -> (one.ended() - start) / TICK == within)
                    .toList()));
        }
        Map<String, Object> counted = counted(name, response, tried);
        String failure = recorders.stream()
                .map(recorder -> recorder.failures.getOrDefault(place, ""))
                .filter(words -> !words.isEmpty())
                .findFirst()
                .orElse("");
        counted.put("failure", failure);
        counted.put("undone", within(place, Outcome.UNDONE));
        counted.put("ignored", within(place, Outcome.IGNORED));
        counted.put("unfinished", unfinished.text());
        counted.put("acknowledged", acknowledged[0]);
        counted.put("service", service.text());
        counted.put("wait", wait.text());
        counted.put("late", late.text());
        return counted;
    }

    private enum Outcome {
        UNDONE, IGNORED
    }

    private long within(int place, Outcome outcome) {
        return recorders.stream()
                .flatMap(recorder -> (outcome == Outcome.UNDONE ? recorder.undone : recorder.ignored).stream())
                .filter(one -> one.place() == place && counts(one.ended()))
                .count();
    }

    private static List<Recorder.Event> own(List<Recorder.Event> events, int place) {
        return events.stream().filter(one -> one.place() == place).toList();
    }

    private void addToTick(long since, long response) {
        int tick = (int) (since / TICK);
        if (tick < ticks.size()) {
            ticks.get(tick).histogram.add(response);
            int hundredth = (int) ((since - tick * TICK) * 100 / TICK);
            ticks.get(tick).hundredths = ticks.get(tick).hundredths.setBit(hundredth);
        }
    }

    /** Adds an operation that was due or under way at the end, and not done. */
    private void addUnfinished(Histogram unfinished, long since, long ended) {
        if (stop != Long.MAX_VALUE && since < stop && stop <= ended) {
            unfinished.add(stop - since);
        }
    }

    private static Map<String, Object> counted(String name, Histogram response, List<Recorder.Tried> tried) {
        Map<String, Object> counted = new LinkedHashMap<>();
        counted.put("class", name);
        counted.put("done", response.count());
        counted.put("failed", tried.stream().filter(Recorder.Tried::failed).count());
        counted.put("retried", tried.stream().mapToLong(Recorder.Tried::retried).sum());
        counted.put("response", response.text());
        return counted;
    }

    /** The executions of each statement of a class. */
    private List<Map<String, Object>> statements(Work.OneClass one, int place) {
        List<Map<String, Object>> counted = new ArrayList<>();
        List<String> texts = Timing.texts(one);
        for (int statement = 0; statement < texts.size(); statement++) {
            Histogram response = new Histogram();
            for (Recorder recorder : recorders) {
                recorder.eachExecution(place, statement, (ended, took) -> {
                    if (counts(ended)) {
                        response.add(took);
                    }
                });
            }
            counted.add(Map.of("text", texts.get(statement), "response", response.text()));
        }
        return counted;
    }
}
