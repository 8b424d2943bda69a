package dyno.runner;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Values of rows in the form of the contract: JSON's own, and `{"blob": "00ff"}` for bytes. */
public final class Values {
    private Values() {}

    /** A row of values of any types that a driver fetched, as JSON has them. */
    public static List<Object> plain(Object[] row) {
        List<Object> plain = new ArrayList<>(row.length);
        for (Object value : row) {
            plain.add(plain(value));
        }
        return plain;
    }

    private static Object plain(Object value) {
        if (value == null || value instanceof String) {
            return value;
        }
        if (value instanceof Boolean flag) {
            return flag ? 1 : 0;
        }
        if (value instanceof byte[] bytes) {
            return Map.of("blob", HexFormat.of().formatHex(bytes));
        }
        if (value instanceof Float || value instanceof Double) {
            return real((Number) value);
        }
        if (value instanceof BigDecimal decimal) {
            // A decimal without a fraction is whole, as every runner reads it.
            return decimal.scale() <= 0 ? decimal.toBigInteger() : decimal;
        }
        if (value instanceof Timestamp time) {
            return SQL_TIME.format(time.toLocalDateTime());
        }
        if (value instanceof LocalDateTime time) {
            return SQL_TIME.format(time);
        }
        // Dates, and other types that JSON lacks, as they print.
        return value instanceof Number ? value : value.toString();
    }

    /** A point in time as SQL writes it: Java puts a T between date and time, and leaves out or adds zeros. */
    private static final DateTimeFormatter SQL_TIME = new DateTimeFormatterBuilder()
            .appendPattern("yyyy-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .toFormatter(Locale.ROOT);

    /** JSON has no infinities and no NaN: they are written by name. */
    private static Object real(Number value) {
        double real = value.doubleValue();
        if (Double.isNaN(real)) {
            return "NaN";
        }
        return Double.isInfinite(real) ? (real > 0 ? "inf" : "-inf") : value;
    }
}
