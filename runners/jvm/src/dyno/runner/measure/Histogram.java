package dyno.runner.measure;

import java.nio.charset.StandardCharsets;

/** A histogram of durations, by the library that all runners measure with. It is made after the clock has stopped. */
public final class Histogram {
    private final long handle = Native.dyno_gauge_histogram_new();
    private long count = 0;

    public void add(long nanoseconds) {
        count++;
        Native.dyno_gauge_histogram_record(handle, Math.max(0, nanoseconds));
    }

    public long count() {
        return count;
    }

    /** HdrHistogram's compressed encoding; empty where there are no durations. The histogram is of no use afterwards. */
    public String text() {
        int length = (int) Native.dyno_gauge_histogram_text(handle, null, 0);
        byte[] text = new byte[length + 1];
        Native.dyno_gauge_histogram_text(handle, text, text.length);
        Native.dyno_gauge_histogram_free(handle);
        return new String(text, 0, length, StandardCharsets.ISO_8859_1);
    }
}
