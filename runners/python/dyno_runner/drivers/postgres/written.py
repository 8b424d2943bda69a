"""Types of which no value of Python holds all values, such as a month, infinity or the bounds of an array. They
come as the server writes them."""

# By their numbers (`pg_type.dat`), which are the same in every PostgreSQL.
AS_WRITTEN = {
    1082: "date",
    1083: "time",
    1266: "timetz",
    1114: "timestamp",
    1184: "timestamptz",
    1186: "interval",
    114: "json",
    3802: "jsonb",
    1000: "_bool",
    1001: "_bytea",
    1005: "_int2",
    1007: "_int4",
    1016: "_int8",
    1021: "_float4",
    1022: "_float8",
    1231: "_numeric",
    1009: "_text",
    1014: "_bpchar",
    1015: "_varchar",
    1182: "_date",
    1183: "_time",
    1115: "_timestamp",
    1185: "_timestamptz",
    1187: "_interval",
    199: "_json",
    3807: "_jsonb",
    2951: "_uuid",
}
