package dyno.runner;

import com.grack.nanojson.JsonWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sends events: one JSON object a line, each written before the next thing happens. */
public final class Events {
    /** Most rows that one `answer` event holds. */
    private static final int ROWS = 1000;
    /** An `answer` event ends after the row with which its values reach this many characters, so that a reader's memory
     *  depends on the largest row and not on how many there are. */
    private static final int CHARACTERS = 1 << 18;

    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

    private Events() {}

    /** The reader of the events has gone. */
    public static final class Closed extends IOException {
        Closed(IOException cause) {
            super(cause.getMessage());
        }
    }

    /** Fields of an event, in the order in which they are added. */
    static Map<String, Object> fields() {
        return new LinkedHashMap<>();
    }

    /** Sends one event. */
    public static void send(String event, Map<String, Object> fields) throws Closed {
        Map<String, Object> all = fields();
        all.put("event", event);
        all.putAll(fields);
        write(JsonWriter.string(all));
    }

    /** Sends the rows of an answer in as many events as they need; sends nothing where there is no row. */
    static void answer(String test, Iterable<Object[]> rows) throws Closed {
        List<String> part = new ArrayList<>();
        int size = 0;
        for (Object[] row : rows) {
            String text = JsonWriter.string(Values.plain(row));
            part.add(text);
            size += text.length();
            if (part.size() == ROWS || size >= CHARACTERS) {
                answerPart(test, part);
                size = 0;
            }
        }
        if (!part.isEmpty()) {
            answerPart(test, part);
        }
    }

    private static void answerPart(String test, List<String> rows) throws Closed {
        write("{\"event\":\"answer\",\"test\":" + JsonWriter.string(test) + ",\"rows\":[" + String.join(",", rows) + "]}");
        rows.clear();
    }

    private static void write(String line) throws Closed {
        try {
            OUT.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            throw new Closed(error);
        }
    }
}
