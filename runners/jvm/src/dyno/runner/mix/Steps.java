package dyno.runner.mix;

import dyno.runner.Failure;
import dyno.runner.Mapped;
import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;

/** The steps of one client, or those that all share, at positions in bytes of a mapped file. Bytes become text when the
 *  step's turn comes, as for every input of a driver. */
final class Steps {
    private final MappedByteBuffer data;
    private final int width;
    private final int count;

    Steps(Work.StepFile file, Work work) {
        count = file.count();
        width = work.stepBytes();
        data = Mapped.cells(file.file(), count, width);
        for (int place = 0; place < count; place++) {
            if (Integer.compareUnsigned(classOf(at(place)), work.classes().size()) >= 0) {
                throw new Failure("step " + place + " names a class that is not there");
            }
        }
    }

    int count() {
        return count;
    }

    /** The position of a step, by its place. */
    int at(int place) {
        return place * width;
    }

    /** When the step at a position is due, in nanoseconds since the clients began; 0: at once. */
    long due(int at) {
        return data.getLong(at);
    }

    int classOf(int at) {
        return data.getInt(at + 8);
    }

    /** True if the steps are due at times. */
    boolean areDue() {
        return due(0) > 0;
    }

    long integer(int at) {
        return data.getLong(at);
    }

    double real(int at) {
        return data.getDouble(at);
    }

    String text(int at, int bytes) {
        byte[] text = new byte[bytes];
        data.get(at, text);
        return new String(text, StandardCharsets.UTF_8);
    }

    String varyingText(int at) {
        return text(at + 8, (int) data.getLong(at));
    }
}
