package dyno.runner;

import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A file of texts, each ended by one NUL byte. The file is bytes and drivers take text: making a String of the bytes is part
 * of what the language costs, so it is timed, a statement at a time.
 */
public final class Statements {
    private final MappedByteBuffer data;
    private final int[] ends;

    Statements(String file, int count) {
        String name = "statements file " + file;
        data = Mapped.file(file, name);
        ends = new int[count];
        int number = 0;
        int start = 0;
        for (int at = 0; at < data.capacity(); at++) {
            if (data.get(at) != 0) {
                continue;
            }
            if (at == start) {
                throw new Failure(name + ": statement " + (number + 1) + " is empty");
            }
            if (number < count) {
                ends[number] = at;
            }
            number++;
            start = at + 1;
        }
        if (start < data.capacity()) {
            throw new Failure(name + ": statement " + (number + 1) + " has no NUL byte at its end: the file is cut off");
        }
        if (number != count) {
            throw new Failure(name + " holds " + number + " statements where the job says " + count);
        }
    }

    public int count() {
        return ends.length;
    }

    /** The length of all texts together in bytes, without the NUL bytes. */
    long bytes() {
        return (long) data.capacity() - ends.length;
    }

    /** The statement at a position counted from zero. */
    public String get(int place) {
        int start = place == 0 ? 0 : ends[place - 1] + 1;
        byte[] bytes = new byte[ends[place] - start];
        data.get(start, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
