package dyno.runner;

import dyno.runner.measure.Native;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The whole of the runner: from standard input to exit code, whatever fails in between. */
public final class Main {
    private Main() {}

    /**
     * Reads a job from standard input, runs it and writes events to standard output. `arguments` has the folder of dyno's own
     * programs. The exit code is 0 if `bye` was sent. Otherwise the failure, which may be a fault of the runner, has been
     * reported in a `failed` event and on standard error; only on the latter where standard output is closed.
     */
    public static void main(String[] arguments) {
        Trial trial = null;
        int code = 0;
        try {
            Native.open(arguments.length > 0 ? arguments[0] : ".");
            trial = new Trial(Job.parse(new String(System.in.readAllBytes(), StandardCharsets.UTF_8)));
            trial.run();
        } catch (Exception | LinkageError | OutOfMemoryError error) {
            report(error, trial == null ? null : trial.current());
            code = 1;
        }
        // A thread of a driver must not keep the process.
        System.exit(code);
    }

    private static void report(Throwable error, String test) {
        if (error instanceof Events.Closed) {
            System.err.println("cannot write to standard output: " + error.getMessage());
            return;
        }
        String message = error instanceof Failure ? error.getMessage() : Failure.ownFault(error);
        System.err.println(message);
        try {
            var fields = Events.fields();
            if (test != null) {
                fields.put("test", test);
            }
            fields.put("message", message);
            if (error instanceof Failure.Refused refused) {
                fields.put("code", refused.code());
                fields.put("statement", refused.statement());
            }
            Events.send("failed", fields);
        } catch (IOException gone) {
            // The reader has gone, and standard error has the message.
        }
    }
}
