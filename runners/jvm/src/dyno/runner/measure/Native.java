package dyno.runner.measure;

import com.sun.jna.NativeLibrary;
import dyno.runner.Failure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * Functions in C that Java has none of its own for: the library with which all runners measure, next to dyno's own program
 * (crates/gauge/include/dyno_gauge.h describes it), and two of the C library. JNA calls them: a stub of dyno's own would
 * need a C compiler wherever dyno is installed.
 */
public final class Native {
    private static final String FILE = "libdyno_gauge.so";
    /** The version of the library's interface that this code is written for. */
    private static final int VERSION = 4;
    /** Of prctl(2): how much the kernel may delay the end of a sleep of this thread. */
    private static final int PR_SET_TIMERSLACK = 29;
    /** Of statx(2), whose record is laid out the same on every machine: mode at 28, size at 40, blocks at 48. */
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;

    private Native() {}

    /** Loads the library in dyno's own folder: once, before all else. */
    public static void open(String programs) {
        Path file = Path.of(programs, FILE);
        try {
            com.sun.jna.Native.register(Native.class, NativeLibrary.getInstance(file.toString()));
        } catch (LinkageError error) {
            throw new Failure("cannot load " + file + ", with which runners measure (`cargo build --release -p dyno-gauge`): "
                    + Failure.oneLine(error.getMessage()));
        }
        if (dyno_gauge_version() != VERSION) {
            throw new Failure(file + " has version " + dyno_gauge_version() + " of its interface, and this runner is for "
                    + VERSION + ": take both from the same source");
        }
    }

    static native int dyno_gauge_version();

    static native long dyno_gauge_open(int server);

    static native void dyno_gauge_add_node(long gauge, int server);

    static native void dyno_gauge_prepare(long gauge);

    static native void dyno_gauge_before(long gauge);

    static native int dyno_gauge_after(long gauge, long[] process, long[] server);

    static native long dyno_gauge_histogram_new();

    static native void dyno_gauge_histogram_record(long histogram, long nanoseconds);

    static native long dyno_gauge_histogram_text(long histogram, byte[] text, long room);

    static native void dyno_gauge_histogram_free(long histogram);

    private static final class Kernel {
        static {
            com.sun.jna.Native.register(Kernel.class, NativeLibrary.getProcess());
        }

        static native int prctl(int option, long first, long second, long third, long fourth);

        static native int statx(int folder, String path, int flags, int mask, byte[] found);
    }

    /** Lets the sleeps of this thread end on time. Where the kernel refuses, steps are sent somewhat later than due, which
     *  their record shows. */
    public static void wakeInTime() {
        Kernel.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    }

    /** The bytes that a regular file takes: the lesser of its length and its space on disk, because engines make files that
     *  are longer than their contents. 0 for what is no file, or has gone. Java's own attributes lack the space. */
    public static long bytesOf(Path file) {
        ByteBuffer found = ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());
        if (Kernel.statx(AT_FDCWD, file.toString(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, found.array()) != 0
                || (found.getShort(28) & S_IFMT) != S_IFREG) {
            return 0;
        }
        return Math.min(found.getLong(40), found.getLong(48) * 512);
    }
}
