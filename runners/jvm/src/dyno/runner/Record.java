package dyno.runner;

import com.grack.nanojson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** An object of the job, whose fields are taken by the kind that they must have. */
public final class Record {
    private final Map<String, Object> fields;

    private Record(Map<String, Object> fields) {
        this.fields = fields;
    }

    static Record of(Object value, String where) {
        if (value instanceof JsonObject object) {
            return new Record(object);
        }
        throw unreadable("a value of another kind in `" + where + "`");
    }

    static Failure unreadable(String what) {
        return new Failure("the job on standard input cannot be read: " + what);
    }

    /** True if the field is there, with a value other than null and false. */
    public boolean has(String name) {
        Object value = fields.get(name);
        return value != null && !Boolean.FALSE.equals(value);
    }

    /** A field that may be absent: then null. */
    private <T> T find(String name, Class<T> kind) {
        Object value = fields.get(name);
        if (value != null && !kind.isInstance(value)) {
            throw unreadable("a value of another kind in `" + name + "`");
        }
        return kind.cast(value);
    }

    private <T> T need(String name, Class<T> kind) {
        T value = find(name, kind);
        if (value == null) {
            throw unreadable("missing field `" + name + "`");
        }
        return value;
    }

    private <T> T either(String name, Class<T> kind, T otherwise) {
        T value = find(name, kind);
        return value == null ? otherwise : value;
    }

    public String text(String name) {
        return need(name, String.class);
    }

    public String text(String name, String otherwise) {
        return either(name, String.class, otherwise);
    }

    public long number(String name) {
        return need(name, Number.class).longValue();
    }

    public Long number(String name, Long otherwise) {
        Number value = find(name, Number.class);
        return value == null ? otherwise : Long.valueOf(value.longValue());
    }

    /** A number that is a position or a count of what fits into memory. */
    public int small(String name) {
        long value = number(name);
        if (value != (int) value) {
            throw unreadable("`" + name + "` is larger than this runner can take");
        }
        return (int) value;
    }

    public Integer small(String name, Integer otherwise) {
        return has(name) ? Integer.valueOf(small(name)) : otherwise;
    }

    public double share(String name) {
        return either(name, Number.class, 0).doubleValue();
    }

    public boolean flag(String name) {
        return either(name, Boolean.class, false);
    }

    public Record object(String name) {
        return of(need(name, Object.class), name);
    }

    /** An object that may be absent: then null. */
    public Record objectOrNull(String name) {
        return fields.get(name) == null ? null : object(name);
    }

    /** The fields of an object of texts. */
    Map<String, Object> all() {
        return fields;
    }

    private <T> List<T> list(List<?> values, Function<Object, T> make) {
        List<T> made = new ArrayList<>();
        values.forEach(value -> made.add(make.apply(value)));
        return made;
    }

    /** A list that must be there. */
    public <T> List<T> objects(String name, Function<Record, T> make) {
        return list(need(name, List.class), value -> make.apply(of(value, name)));
    }

    public <T> List<T> objectsIfAny(String name, Function<Record, T> make) {
        return fields.get(name) == null ? List.of() : objects(name, make);
    }

    public List<String> texts(String name) {
        return list(either(name, List.class, List.of()), value -> {
            if (value instanceof String text) {
                return text;
            }
            throw unreadable("a value of another kind in `" + name + "`");
        });
    }

    /** A list of whole numbers, which may be absent: then it is empty. */
    public List<Integer> numbers(String name) {
        return list(either(name, List.class, List.of()), value -> {
            if (value instanceof Number found) {
                return found.intValue();
            }
            throw unreadable("a value of another kind in `" + name + "`");
        });
    }

    /** A list whose items are whole numbers or objects. */
    public <T> List<T> mixed(String name, Function<Integer, T> number, Function<Record, T> object) {
        return list(need(name, List.class), value ->
                value instanceof Number found ? number.apply(found.intValue()) : object.apply(of(value, name)));
    }

    /** The value of a field whatever its kind. */
    Object any(String name) {
        return fields.get(name);
    }
}
