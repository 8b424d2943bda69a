package dyno.runner;

/** A message that says what happened, where, and what to do next: the text of a `failed` event, so never a secret. */
public class Failure extends RuntimeException {
    /** No position in an input. */
    public static final int NOWHERE = -1;

    private static final int QUOTED = 200;

    private final int place;

    public Failure(String message) {
        this(message, NOWHERE);
    }

    /** `place` is the position of the operation in its input, counted from zero. */
    public Failure(String message, int place) {
        super(message);
        this.place = place;
    }

    /** The position of the operation in its input, or NOWHERE. */
    public int place() {
        return place;
    }

    /** The same failure with a prefix that says where it happened. */
    public Failure within(String context) {
        return new Failure(context + ": " + getMessage());
    }

    /** A statement of the job that the engine refused, by its name, with the engine's code. */
    public static final class Refused extends Failure {
        private final String code;
        private final String statement;

        public Refused(String message, String code, String statement) {
            super(message);
            this.code = code;
            this.statement = statement;
        }

        String code() {
            return code;
        }

        String statement() {
            return statement;
        }
    }

    /** An engine's message on one line. */
    public static String oneLine(String text) {
        return String.valueOf(text).strip().replaceAll("\\s+", " ");
    }

    /** The beginning of a statement, for a message. */
    public static String quote(String sql) {
        return sql.length() <= QUOTED ? sql : sql.substring(0, QUOTED) + "…";
    }

    /** An unexpected exception in one line, with the line of code that threw it. */
    static String ownFault(Throwable error) {
        if (error instanceof OutOfMemoryError) {
            return "the heap of the runner is full: add -Xmx… to the command in the runner's runner.toml, or measure less data";
        }
        StackTraceElement[] trace = error.getStackTrace();
        String place = trace.length == 0 ? "" : " at " + trace[0].getFileName() + ":" + trace[0].getLineNumber();
        return "the runner itself failed, which is an error in the runner: "
                + error.getClass().getSimpleName() + ": " + oneLine(error.getMessage()) + place;
    }
}
