package dyno.runner;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The inputs of tests: files that dyno wrote, mapped, with every page touched before the clock starts. */
public final class Mapped {
    private Mapped() {}

    /** A flat file of cells, or of rows, of one width in bytes; numbers have the least significant byte first. */
    public static MappedByteBuffer cells(String file, long count, int width) {
        MappedByteBuffer data = file(file, "the input " + file);
        if (data.capacity() != count * width) {
            throw new Failure("the input " + file + " has " + data.capacity() + " bytes where " + count + " rows of " + width
                    + " bytes are promised: it is cut off or of another shape");
        }
        return data;
    }

    static MappedByteBuffer file(String file, String name) {
        try (FileChannel channel = FileChannel.open(Path.of(file), StandardOpenOption.READ)) {
            long size = channel.size();
            if (size > Integer.MAX_VALUE) {
                throw new Failure(name + " has " + size + " bytes, and Java maps at most 2 GiB of a file: take fewer rows");
            }
            MappedByteBuffer data = channel.map(FileChannel.MapMode.READ_ONLY, 0, size);
            data.order(ByteOrder.LITTLE_ENDIAN);
            return data.load();
        } catch (IOException error) {
            throw new Failure("cannot open " + name + ": " + Failure.oneLine(error.toString()));
        }
    }
}
