//! Texts and the values that they are.

use super::*;

#[test]
fn an_integer_is_what_prints_as_it_stands() {
    for (text, number) in [("0", 0), ("-7", -7), ("9223372036854775807", i64::MAX)] {
        assert_eq!(integer(text.as_bytes()), Some(number));
    }
    assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
    for text in ["", "-", "007", "-0", "+1", "1.0", " 1", "9223372036854775808", "1e3", "0x10"] {
        assert_eq!(integer(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn a_real_is_the_same_number_when_printed() {
    for text in ["0.1", "0.10", "-2.5e-3", "1e300", "12345678901234568", "9007199254740993e0", "0", "5e-324"]
    {
        let exact = text != "9007199254740993e0";
        assert_eq!(real(text.as_bytes()).is_some(), exact, "{text}");
    }
    for text in
        ["1e999", "nan", "inf", "-0", "-0.0", "00.5", "+1.5", "0.1234567890123456789", "1,5", "e5", "."]
    {
        assert_eq!(real(text.as_bytes()), None, "{text}");
    }
    // Two shortest spellings are as near; Python and PostgreSQL print the second.
    for text in ["1732464000123.0313", "1732464000123.0312", "874789728335885.2", "874789728335885.3"] {
        assert!(real(text.as_bytes()).is_some(), "{text}");
    }
    for text in ["1732464000123.0311", "1732464000123.0314", "3e-324", "5.1e-324", "9007199254740993"] {
        assert!(real(text.as_bytes()).is_none(), "{text}");
    }
    for text in ["0.1", "2.0955682e+06", "2095568.2", "2095568.3", "1e-45", "123456.78"] {
        assert!(read(Kind::Real32, text.as_bytes()).is_ok(), "{text}");
    }
    for text in ["2095568.15", "2e-45", "1e39", "999999.99"] {
        assert!(read(Kind::Real32, text.as_bytes()).is_err(), "{text}");
    }
    assert!(read(Kind::Real32, b"16777217").is_err());
}

#[test]
fn a_float_that_is_written_as_the_double_that_it_also_is_fits_four_bytes() {
    for text in ["0.10000000149011612", "-0.10000000149011612", "2147483648", "0", "1.401298464324817e-45"] {
        assert!(read(Kind::Real32, text.as_bytes()).is_ok(), "{text}");
    }
    for text in ["0.1000000014901161", "0.1000000014901161199", "0.1000000015", "2147483649", "1e-46"] {
        assert!(read(Kind::Real32, text.as_bytes()).is_err(), "{text}");
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let float = f32::from_bits(random.u32(..));
        let text = f64::from(float).to_string();
        // A zero with a sign is no number, as of a double.
        let is_number = float.is_finite() && text != "-0";
        assert_eq!(read(Kind::Real32, text.as_bytes()).is_ok(), is_number, "{text}");
    }
}

#[test]
fn exponents_at_the_limits_of_64_bits_make_no_number() {
    let decimal = Kind::Decimal { precision: 5, scale: 2 };
    for exponent in [i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1] {
        for mantissa in ["1", "-1", "12.5", "0.001"] {
            let text = format!("{mantissa}e{exponent}");
            assert_eq!(real(text.as_bytes()), None, "{text}");
            for kind in [Kind::Real, Kind::Real32, Kind::DECIMAL, decimal] {
                assert!(read(kind, text.as_bytes()).is_err(), "{text}");
            }
        }
    }
    for text in ["1e9223372036854775807", "1e9223372036854775808", "-12.5e9223372036854775806"] {
        assert!(read(Kind::Numeric, text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn decimals_are_not_rounded_to_their_scale() {
    let kind = Kind::Decimal { precision: 5, scale: 2 };
    for text in ["1.25", "999.99", "0", "1.250", "-12e1"] {
        assert_eq!(read(kind, text.as_bytes()), Ok(Value::Text), "{text}");
    }
    for text in ["0.1", "1e400", "-12345678901234567890.5"] {
        assert_eq!(read(Kind::DECIMAL, text.as_bytes()), Ok(Value::Text), "{text}");
    }
    assert!(read(Kind::DECIMAL, b"007").is_err() && read(Kind::DECIMAL, b"NaN").is_err());
    for text in ["1.255", "1000", "abc"] {
        assert!(read(kind, text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn sqlites_numeric_would_round_and_is_not_let() {
    assert_eq!(read(Kind::Numeric, b"2014-01-01"), Ok(Value::Text));
    assert_eq!(read(Kind::Numeric, b"12"), Ok(Value::Integer(12)));
    assert_eq!(read(Kind::Numeric, b"1.5"), Ok(Value::Real(1.5)));
    // As an integer 8.371630656849187e18 would print as 8371630656849186816.
    assert!(read(Kind::Numeric, b"8.371630656849187e18").is_err());
    for text in ["1e18", "9007199254740992.0", "-9.223372036854776e18", "1e19", "653949402752056.0"] {
        assert!(matches!(read(Kind::Numeric, text.as_bytes()), Ok(Value::Real(_))), "{text}");
    }
    for text in
        ["0.1234567890123456789", "1e400", "12e4567", "-9e999", "1\0", "\x0b131", " 7", "7\t", "007", "-0"]
    {
        assert!(read(Kind::Numeric, text.as_bytes()).is_err(), "{text:?}");
    }
    for text in ["inf", "-infinity", "nan", "1e", "x\0", "", " ", "12-3", "0x10", "1 2"] {
        assert_ne!(
            read(Kind::Numeric, text.as_bytes())
                .map(|value| matches!(value, Value::Real(_) | Value::Integer(_))),
            Ok(true),
            "{text:?}"
        );
    }
    assert!(read(Kind::Text { longest: Some(2) }, "äö".as_bytes()).is_ok());
    assert!(read(Kind::Text { longest: Some(2) }, b"abc").is_err());
}
