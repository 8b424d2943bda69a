package dyno.runner.drivers;

import dyno.runner.Answer;
import dyno.runner.Failure;
import dyno.runner.Job;
import dyno.runner.Load;
import dyno.runner.RowFile;
import dyno.runner.Statements;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The null driver: it does nothing, and so measures the cost of dyno itself in Java. It makes of the input what drivers take,
 * strings, because that is the part of every other figure that is neither driver nor engine.
 */
final class NullDriver implements Driver {
    private final Job job;

    NullDriver(Job job) {
        this.job = job;
        if (!job.build().equals("bundled")) {
            throw new Failure("the null engine has no build other than its own");
        }
        for (Job.Setting setting : job.settings()) {
            throw new Failure("the null engine has no setting '" + setting.name() + "': it has none");
        }
    }

    @Override
    public Identity open() {
        List<Object> readBack = new ArrayList<>();
        job.readBack().forEach(query -> readBack.add(Map.of("name", query.name(), "rows", List.of())));
        return new Identity(Job.VERSION, Job.VERSION, Map.of(), List.of(), readBack);
    }

    @Override
    public void statements(Statements file, Answer answer) {
        for (int place = 0; place < file.count(); place++) {
            file.get(place);
        }
    }

    @Override
    public void insertRows(Load load) {
        String[] cells = new String[load.file().columns().size()];
        for (int place = load.start(); place < load.stop(); place++) {
            load.file().read(place, cells);
        }
    }

    @Override
    public void bulkLoad(Load load) {
        insertRows(load);
    }

    @Override
    public void scan(String sql, Answer answer) {}

    @Override
    public List<Object[]> query(String sql) {
        return List.of();
    }

    @Override
    public void table(String table, List<RowFile.Column> columns, Consumer<Object[]> add) {}

    @Override
    public long changes() {
        return 0;
    }

    @Override
    public Long databaseBytes() {
        return null;
    }

    @Override
    public Session session(int place) {
        return new NullSession();
    }

    @Override
    public Session visit() {
        return new NullSession();
    }

    @Override
    public void aside() {}

    @Override
    public void back() {}

    @Override
    public String words(SQLException error) {
        return Failure.oneLine(error.getMessage());
    }

    @Override
    public void close() {}

    @Override
    public void abandon() {}

    private static final class NullSession implements Session, Call {
        @Override
        public Call prepare(List<String> pieces) {
            return this;
        }

        @Override
        public Call simple(List<String> pieces) {
            return this;
        }

        @Override
        public void integer(int parameter, long value) {}

        @Override
        public void real(int parameter, double value) {}

        @Override
        public void object(int parameter, Object value) {}

        @Override
        public List<Object[]> run() {
            return List.of();
        }

        @Override
        public void waitForLocks(long patience) {}

        @Override
        public void separate() {}

        @Override
        public void begin(boolean writes) {}

        @Override
        public void commit() {}

        @Override
        public void rollback() {}

        @Override
        public boolean keeps() {
            return false;
        }

        @Override
        public boolean mayPass(SQLException error) {
            return false;
        }

        @Override
        public List<String> codes(SQLException error) {
            return List.of();
        }

        @Override
        public String words(SQLException error) {
            return Failure.oneLine(error.getMessage());
        }

        @Override
        public void close() {}
    }
}
