package dyno.runner;

import com.grack.nanojson.JsonWriter;
import com.sun.jna.NativeLibrary;
import dyno.runner.drivers.Driver;
import dyno.runner.drivers.Drivers;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/**
 * Loads the classes that trials need, and ends: scripts/build-jvm.sh has the machine keep them in an archive, from which later
 * starts take them. Such a start takes half of the processor's time. What runs then is the same.
 */
final class Archive {
    /** A port on which nothing listens: drivers of servers load their classes until they are refused. */
    private static final int REFUSED = 1;

    private Archive() {}

    /** `arguments` has an empty folder for databases. */
    public static void main(String[] arguments) {
        NativeLibrary.getProcess();
        for (String name : Drivers.names()) {
            open(Job.parse(job(name, arguments[0])));
        }
        // Threads of drivers must not keep the process.
        System.exit(0);
    }

    private static String job(String name, String folder) {
        String[] parts = name.split("/");
        boolean isServer = List.of("postgres", "mysql").contains(parts[0]);
        Map<String, Object> job = Events.fields();
        job.put("protocol", Job.PROTOCOL);
        job.put("engine", parts[0]);
        job.put("speaks", isServer ? parts[0] : "");
        job.put("driver", parts[1]);
        job.put("build", isServer ? "system" : "bundled");
        job.put("settings", List.of());
        job.put("directory", folder);
        job.put("tests", List.of());
        if (isServer) {
            job.put("server", Map.of("host", "127.0.0.1", "port", REFUSED, "user", "dyno", "database", "dyno"));
        }
        return JsonWriter.string(job);
    }

    private static void open(Job job) {
        Driver driver = Drivers.find(job);
        try {
            driver.open();
            driver.query("SELECT 1");
            driver.close();
        } catch (SQLException | Failure refused) {
            driver.abandon();
        }
    }
}
