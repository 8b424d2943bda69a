use super::*;

fn spelling(is_postgres: bool) -> Spelling {
    Spelling { is_postgres, integer: "BIGINT", real: "DOUBLE", text: "TEXT" }
}

#[test]
fn types_take_what_they_keep() {
    let kind = |declared: &str| spelling(false).kind(declared);
    assert_eq!(kind("bigint(20)"), Kind::INTEGER);
    assert_eq!(kind("int(10) unsigned"), Kind::Integer { min: 0, max: u32::MAX.into() });
    assert_eq!(kind("smallint"), Kind::Integer { min: -32768, max: 32767 });
    assert_eq!(kind("numeric(8,2)"), Kind::Decimal { precision: 8, scale: 2 });
    assert_eq!(kind("decimal(8,2) unsigned zerofill"), Kind::Decimal { precision: 8, scale: 2 });
    assert_eq!(kind("double"), Kind::Real);
    assert_eq!(kind("float(8,2)"), Kind::Form(Form::Rounded { precision: 8, scale: 2, is_short: true }));
    assert_eq!(kind("datetime"), Kind::Form(Form::Timestamp { digits: 0, has_zone: false }));
    assert_eq!(kind("time(3)"), Kind::Form(Form::Time { digits: 3, has_zone: false }));
    assert_eq!(kind("char(5)"), Kind::Form(Form::Padded { length: 5, fills: false }));
    assert_eq!((kind("bit(8)"), kind("json")), (Kind::Form(Form::Unknown), Kind::AsIs));
    let known = |declared: &str| spelling(false).known(declared);
    for declared in ["JSON", "json not null", "json default (1)", "blob(9)", "varbinary(3)", "inet6", "point"]
    {
        assert_eq!(known(declared), Some(Kind::AsIs), "{declared}");
    }
    assert_eq!(known("BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY"), Some(Kind::INTEGER));
    assert_eq!(known("int(10) unsigned zerofill"), Some(kind("int unsigned")));
    assert_eq!(known("char(5) unique"), Some(kind("char(5)")));
    for declared in ["char(5) byte", "char(5) character set binary", "char byte", "dec(8,2)", "nothing_such"]
    {
        assert_eq!(known(declared), None, "{declared}");
    }
    // As TINYINT, of which it is another name.
    assert_eq!(kind("boolean"), kind("tinyint(1)"));
    let Kind::Form(Form::OneOf(words)) = kind("enum('a','it''s',''',''','')") else { panic!() };
    assert_eq!(words, ["a", "it's", "','", ""]);
    let Kind::Form(Form::SomeOf(words)) = kind("set('X','y')") else { panic!() };
    assert_eq!(words, ["X", "y"]);
}

#[test]
fn types_of_postgres_take_what_they_keep() {
    let kind = |declared: &str| spelling(true).kind(declared);
    assert_eq!(kind("character varying(20)"), Kind::Text { longest: Some(20) });
    assert_eq!(kind("double precision"), Kind::Real);
    let timestamp = |digits, has_zone| Kind::Form(Form::Timestamp { digits, has_zone });
    assert_eq!(kind("timestamp without time zone"), timestamp(6, false));
    assert_eq!(kind("timestamp(0) with time zone"), timestamp(0, true));
    assert_eq!(kind("TIMESTAMPTZ"), timestamp(6, true));
    assert_eq!(kind("interval(0)"), Kind::Form(Form::Interval { digits: 0 }));
    assert_eq!((kind("numeric"), kind("uuid")), (Kind::DECIMAL, Kind::AsIs));
    assert_eq!(kind("geometry(Point,4326)"), Kind::AsIs);
    let known = |declared: &str| spelling(true).known(declared);
    assert_eq!((known("UUID"), known("date NOT NULL")), (Some(Kind::AsIs), Some(kind("date"))));
    assert_eq!(known("timestamp with time zone"), Some(timestamp(6, true)));
    for declared in ["float", "year", "numeric(8,2)", "serial", "nothing_such"] {
        assert_eq!(known(declared), None, "{declared}");
    }
    for declared in ["money", "numeric(3,-2)", "interval day to second(3)"] {
        assert_eq!(kind(declared), Kind::Form(Form::Unknown), "{declared}");
    }
    assert_eq!(kind("character(5)"), Kind::Form(Form::Padded { length: 5, fills: true }));
    assert_eq!((kind("text[]"), kind("bit(3)")), (Kind::AsIs, Kind::AsIs));
    assert_eq!(
        (kind("integer[]"), kind("oid")),
        (Kind::AsIs, Kind::Integer { min: 0, max: u32::MAX.into() })
    );
    assert!(matches!(kind("real[]"), Kind::Form(Form::Several(Kind::Real32))));
    assert!(matches!(
        kind("character varying(3)[]"),
        Kind::Form(Form::Several(Kind::Text { longest: Some(3) }))
    ));
    assert_eq!(together(&[Kind::TEXT, Kind::INTEGER]), Kind::AsIs);
    assert_eq!(together(&[Kind::TEXT, Kind::Real]), Kind::Form(Form::Unknown));
}
