package dyno.runner.drivers.layers;

import dyno.runner.drivers.layers.Tree.Column;
import dyno.runner.drivers.layers.Tree.Condition;
import dyno.runner.drivers.layers.Tree.Item;
import dyno.runner.drivers.layers.Tree.Join;
import dyno.runner.drivers.layers.Tree.Kind;
import dyno.runner.drivers.layers.Tree.Order;
import dyno.runner.drivers.layers.Tree.Set;
import dyno.runner.drivers.layers.Tree.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Reads statements as trees. Literals and parentheses are hidden meanwhile, so that commas and words are those of the
 *  statement itself. */
public final class Parser {
    private static final String NAME = "[a-z_][a-z0-9_]*";
    private static final String COLUMN = "(?:" + NAME + "\\.)?" + NAME;
    private static final String VALUE = "\\$\\d+\\$|\\d{1,15}";
    /** Stands for a literal, or for parentheses with their content. */
    private static final String HIDDEN = "\\x01\\d+\\x01";
    private static final Pattern LITERAL = Pattern.compile("'(?:[^']|'')*'");
    private static final Pattern PARENTHESES = Pattern.compile("\\([^()]*\\)");
    private static final Pattern A_NAME = Pattern.compile("(?:(" + NAME + ")\\.)?(" + NAME + ")");
    private static final Pattern A_VALUE = Pattern.compile("\\$(\\d+)\\$|(\\d{1,15})");
    private static final Pattern JOIN =
            pattern(" (?:inner )?join (" + NAME + ") on (" + COLUMN + ") = (" + COLUMN + ")");
    private static final Pattern COMPARISON = Pattern.compile("(\\S+?) ?(=|<>|<=|>=|<|>) ?([^=<>]+)");
    private static final Pattern CHANGE = Pattern.compile("([^=]+?) ?= ?(.+)");
    private static final Pattern ORDER = pattern("(\\S+?)(?: (asc|desc))?");
    /** Conditions that are not joined by AND alone. */
    private static final Pattern TANGLED = pattern("\\b(or|between|case)\\b");
    /** Words that no part of a tree has. */
    private static final Pattern OTHER = pattern(
            "\\b(as|distinct|for|from|group|having|join|limit|offset|order|returning|union|where|window)\\b");
    /** Something that is selected, with a name after it. */
    private static final Pattern NAMED = pattern("[\\w\\x01] (?!end$)\\w+$");

    private static final Map<Kind, Pattern> KINDS = new EnumMap<>(Map.of(
            Kind.SELECT,
            pattern("select (?<items>.+?) from (?<table>" + NAME + ")(?<joins>(?:" + JOIN.pattern() + ")*)"
                    + "(?: where (?<where>.+?))?(?: order by (?<order>.+?))?(?: limit (?<limit>" + VALUE
                    + "))?(?: offset (?<offset>" + VALUE + "))?(?<locks> for update)?"),
            Kind.INSERT,
            pattern("insert into (?<table>" + NAME + ") ?(?<names>" + HIDDEN + ")? ?values ?(?<values>" + HIDDEN + ")"),
            Kind.UPDATE,
            pattern("update (?<table>" + NAME + ") set (?<set>.+?)(?: where (?<where>.+))?"),
            Kind.DELETE,
            pattern("delete from (?<table>" + NAME + ")(?: where (?<where>.+))?")));

    /** A part that has no call. */
    private static final class Other extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private final List<String> hidden = new ArrayList<>();
    private final String plain;

    private Parser(String text) {
        String open = hide(LITERAL, text).replaceAll("\\s+", " ").replaceAll("^ | ?;? ?$", "");
        while (PARENTHESES.matcher(open).find()) {
            open = hide(PARENTHESES, open);
        }
        plain = open;
    }

    private static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    }

    /** The text of a statement, in which `$0$` stands for its first parameter. `pieces` are the texts around these. */
    public static String textOf(List<String> pieces) {
        StringBuilder text = new StringBuilder(pieces.get(0));
        IntStream.range(1, pieces.size()).forEach(place ->
                text.append('$').append(place - 1).append('$').append(pieces.get(place)));
        return text.toString();
    }

    /** The tree of a statement; null where it has none. `columns` returns the names of a table's columns. */
    public static Tree parse(List<String> pieces, Function<String, List<String>> columns) {
        Parser parser = new Parser(textOf(pieces));
        try {
            for (var kind : KINDS.entrySet()) {
                Matcher parts = kind.getValue().matcher(parser.plain);
                if (parts.matches()) {
                    return parser.tree(kind.getKey(), parts, columns);
                }
            }
        } catch (Other part) {
            return null;
        }
        return null;
    }

    private Tree tree(Kind kind, Matcher parts, Function<String, List<String>> columns) {
        String table = column(parts.group("table")).name();
        List<Condition> where = kind == Kind.INSERT ? List.of() : where(plain(parts.group("where")));
        return switch (kind) {
            case SELECT -> new Tree(
                    kind, table, each(plain(parts.group("items")), this::item), joins(parts.group("joins")), List.of(), where,
                    each(plain(parts.group("order")), Parser::order), optional(parts.group("limit")),
                    optional(parts.group("offset")), parts.group("locks") != null);
            case INSERT -> changes(kind, table, insert(parts, columns.apply(table)), where);
            case UPDATE -> changes(kind, table, each(plain(parts.group("set")), this::change), where);
            case DELETE -> changes(kind, table, List.of(), where);
        };
    }

    private static Tree changes(Kind kind, String table, List<Set> set, List<Condition> where) {
        return new Tree(kind, table, List.of(), List.of(), set, where, List.of(), null, null, false);
    }

    private List<Set> insert(Matcher parts, List<String> known) {
        List<Value> values = each(inner(parts.group("values")), this::value);
        List<Column> columns = parts.group("names") == null
                ? known.stream().map(Parser::column).toList()
                : each(inner(parts.group("names")), Parser::column);
        if (columns.size() != values.size()) {
            throw new Other();
        }
        return IntStream.range(0, values.size()).mapToObj(place -> new Set(columns.get(place), values.get(place))).toList();
    }

    private Set change(String text) {
        Matcher found = matched(CHANGE, text);
        return new Set(column(found.group(1)), value(found.group(2)));
    }

    private static List<Join> joins(String text) {
        return JOIN.matcher(text).results()
                .map(found -> new Join(column(found.group(1)).name(), column(found.group(2)), column(found.group(3))))
                .toList();
    }

    private List<Condition> where(String text) {
        if (text == null || TANGLED.matcher(text).find()) {
            return text == null ? List.of() : List.of(new Condition(null, null, null, shown(text)));
        }
        return Arrays.stream(text.split("(?i) and ")).map(one -> {
            Matcher found = COMPARISON.matcher(one);
            return found.matches() && A_NAME.matcher(found.group(1)).matches()
                    ? new Condition(column(found.group(1)), found.group(2), value(found.group(3)), null)
                    : new Condition(null, null, null, shown(one));
        }).toList();
    }

    /** A fragment with a name after it would be given a second one. */
    private Item item(String text) {
        if (A_NAME.matcher(text).matches()) {
            return new Item(column(text), null);
        }
        if (NAMED.matcher(text).find() || text.endsWith("*")) {
            throw new Other();
        }
        return new Item(null, shown(text));
    }

    private static Order order(String text) {
        Matcher found = matched(ORDER, text);
        return new Order(column(found.group(1)), "desc".equalsIgnoreCase(found.group(2)));
    }

    private Value optional(String text) {
        return text == null ? null : value(text);
    }

    private Value value(String text) {
        Matcher found = A_VALUE.matcher(text);
        if (!found.matches()) {
            return new Value.Fragment(shown(text));
        }
        return found.group(1) == null
                ? new Value.Whole(Long.parseLong(found.group(2)))
                : new Value.Parameter(Integer.parseInt(found.group(1)));
    }

    private static Column column(String text) {
        Matcher found = matched(A_NAME, text);
        if (found.group(2).equals("null")) {
            throw new Other();
        }
        return new Column(found.group(1), found.group(2));
    }

    /** A part without words that only a statement with other parts has. */
    private static String plain(String part) {
        if (part != null && OTHER.matcher(part).find()) {
            throw new Other();
        }
        return part;
    }

    private static Matcher matched(Pattern pattern, String text) {
        Matcher found = pattern.matcher(text);
        if (!found.matches()) {
            throw new Other();
        }
        return found;
    }

    /** What is between commas. */
    private static <T> List<T> each(String list, Function<String, T> read) {
        return list == null ? List.of() : Arrays.stream(list.split(",")).map(String::strip).map(read).toList();
    }

    private String hide(Pattern what, String text) {
        return what.matcher(text).replaceAll(found -> {
            hidden.add(found.group());
            return "\u0001" + (hidden.size() - 1) + "\u0001";
        });
    }

    /** What is between hidden parentheses. */
    private String inner(String part) {
        String open = opened(part);
        return open.substring(1, open.length() - 1);
    }

    private String opened(String part) {
        return Pattern.compile(HIDDEN).matcher(part).replaceAll(found -> Matcher.quoteReplacement(
                hidden.get(Integer.parseInt(found.group().substring(1, found.group().length() - 1)))));
    }

    /** A part with all that is hidden in it. */
    private String shown(String part) {
        return part.indexOf('\u0001') < 0 ? part : shown(opened(part));
    }
}
