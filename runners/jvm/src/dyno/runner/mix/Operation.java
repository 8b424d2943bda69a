package dyno.runner.mix;

import dyno.runner.Failure;
import dyno.runner.drivers.Call;
import dyno.runner.drivers.Session;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;

/** One try of an operation of a class: the order of its statements, and the values of their parameters. */
class Operation {
    /** It is done. */
    static final int DONE = -1;
    /** It was rolled back as planned. */
    static final int UNDONE = -2;
    /** It met an error which the suite ignores. */
    static final int IGNORED = -3;
    /** It did not succeed in time. */
    static final int LATE = -4;

    /** A statement with where its parameters' values lie. `needs` are the statements whose rows it uses. */
    private record Execution(Work.Statement statement, Binding[] bindings, int[] needs, Call call) {}

    /** The value of a parameter: a field at an offset from the step, in a loop `stride` bytes further each turn; or a
     *  column of a row that a statement keeps, in a loop over these the current one. */
    private record Binding(Work.Kind kind, int at, int bytes, int stride, int statement, int column, boolean isCurrent) {}

    private final Session session;
    private final Work work;
    private final Work.OneClass one;
    final Steps steps;
    private final Timing timing;
    private final Execution[] executions;
    private final List<Object[]>[] rows;

    /** Prepares the statements of a class. */
    @SuppressWarnings("unchecked")
    Operation(Session session, Work work, int place, Steps steps, Recorder recorder) throws SQLException {
        this.session = session;
        this.work = work;
        this.one = work.classes().get(place);
        this.steps = steps;
        this.timing = work.timesStatements() ? new Timing(recorder, place) : null;
        this.executions = new Execution[one.statements().size()];
        this.rows = new List[executions.length];
        for (int number = 0; number < executions.length; number++) {
            executions[number] = execution(number);
        }
    }

    private Execution execution(int number) throws SQLException {
        Work.Statement statement = one.statements().get(number);
        Call call = one.isSimple() ? session.simple(statement.text()) : session.prepare(statement.text());
        int first = one.transaction() == null ? 0 : 1;
        Work.Loop loop = one.loops().stream()
                .filter(each -> each.first() <= number && number < each.end())
                .findFirst()
                .orElse(null);
        Binding[] bindings =
                statement.parameters().stream().map(value -> binding(value, loop)).toArray(Binding[]::new);
        int[] needs = Arrays.stream(bindings)
                .filter(each -> each.kind() == null)
                .mapToInt(Binding::statement)
                .distinct()
                .toArray();
        return new Execution(statement, bindings, needs, timing == null ? call : timing.timed(number + first, call));
    }

    private Binding binding(Work.Value value, Work.Loop loop) {
        if (value instanceof Work.Value.OfRow row) {
            boolean isCurrent = loop != null && loop.rows() != null && loop.rows() == row.statement();
            return new Binding(null, 0, 0, 0, row.statement(), row.column(), isCurrent);
        }
        int stride = 0;
        int place;
        if (value instanceof Work.Value.OfItem item) {
            Work.Items list = work.lists().get(loop.list());
            place = list.first() + item.column();
            stride = work.fields().subList(list.first(), list.first() + list.columns()).stream()
                    .mapToInt(Work.Field::bytes)
                    .sum();
        } else {
            place = ((Work.Value.OfField) value).field();
        }
        Work.Field field = work.fields().get(place);
        return new Binding(field.kind(), field.at(), field.bytes(), stride, 0, 0, false);
    }

    /** Tries the operation of the step at a position. Returns how it ended: if no row came of a statement where there must
     *  be one, the position of that statement. */
    int attempt(int at) throws SQLException {
        if (timing == null) {
            return one.transaction() == null ? alone(at) : within(at);
        }
        timing.restart();
        int how = one.transaction() == null ? alone(at) : within(at);
        if (how == DONE || how == UNDONE) {
            timing.record();
        }
        return how;
    }

    private int alone(int at) throws SQLException {
        session.separate();
        return body(at);
    }

    private int within(int at) throws SQLException {
        boolean writes = one.transaction().equals("write");
        timed(0, () -> session.begin(writes));
        int how;
        try {
            how = body(at);
            timed(executions.length + 1, how == DONE ? session::commit : session::rollback);
        } catch (SQLException error) {
            try {
                session.rollback();
            } catch (SQLException second) {
                // The first error is the cause.
                error.addSuppressed(new Failure("and the rollback failed: " + session.words(second)));
            }
            throw error;
        }
        return how;
    }

    private void timed(int statement, Timing.Execution call) throws SQLException {
        if (timing == null) {
            call.run();
        } else {
            timing.time(statement, call);
        }
    }

    /** The statements with the rows that they keep, some of them repeated, and the pauses between them. */
    private int body(int at) throws SQLException {
        int how = DONE;
        int place = 0;
        for (Work.Loop loop : one.loops()) {
            how = plain(at, place, loop.first());
            if (how == DONE) {
                how = repeat(at, loop);
            }
            if (how != DONE) {
                return how;
            }
            place = loop.end();
        }
        how = plain(at, place, executions.length);
        if (how == DONE && one.rollbackIf() != null && isSet(at, one.rollbackIf())) {
            return UNDONE;
        }
        return how;
    }

    private boolean isSet(int at, int field) {
        return steps.integer(at + work.fields().get(field).at()) != 0;
    }

    private int plain(int at, int from, int to) throws SQLException {
        for (int place = from; place < to; place++) {
            pause(place);
            int how = execute(at, place, 0);
            if (how != DONE) {
                return how;
            }
        }
        pause(to);
        return DONE;
    }

    private void pause(int before) {
        for (Work.Pause pause : one.pauses()) {
            if (pause.before() == before) {
                Moment.waitUntil(System.nanoTime() + pause.nanoseconds());
            }
        }
    }

    private int repeat(int at, Work.Loop loop) throws SQLException {
        long turns = loop.list() == null
                ? rows[loop.rows()].size()
                : steps.integer(at + work.fields().get(work.lists().get(loop.list()).count()).at());
        for (int turn = 0; turn < turns; turn++) {
            for (int place = loop.first(); place < loop.end(); place++) {
                int how = execute(at, place, turn);
                if (how != DONE) {
                    return how;
                }
            }
        }
        return DONE;
    }

    /** One execution of a statement. If a row that it needs may be missing, and is, the statement is left out. */
    private int execute(int at, int place, int turn) throws SQLException {
        Execution execution = executions[place];
        Work.Keeps keeps = execution.statement.keeps();
        if (session.keeps()) {
            for (int need : execution.needs) {
                if (rows[need].isEmpty()) {
                    rows[place] = List.of();
                    return DONE;
                }
            }
        }
        Binding[] bindings = execution.bindings;
        for (int number = 0; number < bindings.length; number++) {
            bind(execution.call, number + 1, bindings[number], at, turn);
        }
        List<Object[]> found = execution.call.run();
        rows[place] = found;
        return keeps != null && !keeps.mayMiss() && session.keeps() && found.isEmpty() ? place : DONE;
    }

    private void bind(Call call, int parameter, Binding value, int step, int turn) throws SQLException {
        if (value.kind == null) {
            List<Object[]> kept = rows[value.statement];
            int row = value.isCurrent ? turn : 0;
            // Only the null driver returns no rows.
            call.object(parameter, row < kept.size() ? kept.get(row)[value.column] : null);
            return;
        }
        int at = step + value.at + turn * value.stride;
        switch (value.kind) {
            case INTEGER -> call.integer(parameter, steps.integer(at));
            case REAL -> call.real(parameter, steps.real(at));
            case TEXT -> call.object(parameter, steps.text(at, value.bytes));
            case VARYING_TEXT -> call.object(parameter, steps.varyingText(at));
        }
    }
}
