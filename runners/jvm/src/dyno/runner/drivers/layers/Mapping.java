package dyno.runner.drivers.layers;

import java.util.List;
import java.util.stream.Collectors;

/** The tables of a schema as entities of Hibernate without classes, whose values are maps: a document of mappings.
 *  https://docs.hibernate.org/orm/6.6/userguide/html_single/#entity-mapping-dynamic */
public final class Mapping {
    /** Follows the name of the entity whose key the database generates. */
    public static final String GENERATED = ".generated";

    private Mapping() {}

    /** True if a table has the key that an entity must have. */
    public static boolean isEntity(Schema.Table table) {
        return !table.keys().isEmpty();
    }

    /** True if the database gives new rows of a table their key. */
    public static boolean isGenerated(Schema.Table table) {
        return table.keys().size() == 1 && table.columns().get(table.keys().get(0)).isGenerated();
    }

    /** The document. */
    public static String of(Schema schema) {
        StringBuilder text = new StringBuilder("<?xml version=\"1.0\"?>\n"
                + "<hibernate-mapping xmlns=\"http://www.hibernate.org/xsd/orm/hbm\">\n");
        for (Schema.Table table : schema.tables().values()) {
            if (isEntity(table)) {
                text.append(entity(table, table.name(), "assigned"));
            }
            if (isGenerated(table)) {
                text.append(entity(table, table.name() + GENERATED, "identity"));
            }
        }
        return text.append("</hibernate-mapping>\n").toString();
    }

    private static String entity(Schema.Table table, String name, String generator) {
        List<String> keys = table.keys();
        String key = keys.size() == 1
                ? "<id " + attributes(table.columns().get(keys.get(0))) + "><generator class=\"" + generator + "\"/></id>\n"
                : "<composite-id>" + elements(table, "key-property", true) + "</composite-id>\n";
        return "<class entity-name=\"" + name + "\" table=\"" + table.name() + "\">\n" + key
                + elements(table, "property", false) + "</class>\n";
    }

    private static String elements(Schema.Table table, String element, boolean areKeys) {
        return table.columns().values().stream()
                .filter(column -> table.keys().contains(column.name()) == areKeys)
                .map(column -> "<" + element + " " + attributes(column) + "/>\n")
                .collect(Collectors.joining());
    }

    private static String attributes(Schema.Column column) {
        return "name=\"" + column.name() + "\" column=\"" + column.name() + "\" type=\"" + column.type().getName() + "\"";
    }
}
