use std::thread;

use dyno_protocol::{Build, KeyKind};

use super::*;
use crate::LIBRARY;
use crate::api::Api;
use crate::settings::Settings;

/// Opens a store in a fresh folder of this name and hands it over.
fn with_store(name: &str, test: impl FnOnce(&Environment, Dbi)) {
    let folder = std::env::temp_dir().join(format!("dyno-lmdb-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let api = LIBRARY.load(&Build::System, Api::resolve).unwrap();
    let environment = Environment::open(api, &folder, &Settings::parse(&[]).unwrap(), 1).unwrap();
    let store = dyno_protocol::Store { name: "s".into(), key: KeyKind::Blob };
    test(&environment, environment.store(&store).unwrap());
    environment.close();
    std::fs::remove_dir_all(&folder).unwrap();
}

fn put(store: &mut Store, value: &[u8]) {
    let mut writer = store.begin().unwrap();
    Write::put(&mut writer, b"k", value).unwrap();
    writer.commit().unwrap();
}

/// Puts a value as another client does, who has another thread.
fn put_by_another(environment: &Environment, dbi: Dbi, value: &[u8]) {
    thread::scope(|scope| {
        scope.spawn(|| put(&mut Store::new(environment, dbi, Keys::Blob), value));
    });
}

/// The value of the key.
fn value(reader: &mut Reader) -> Option<Vec<u8>> {
    Lookup::get(reader, b"k", <[u8]>::to_vec).unwrap()
}

/// The value of the key, by a lookup in a separate transaction.
fn lookup(store: &mut Store) -> Option<Vec<u8>> {
    value(&mut store.reader(Lookups::Get, Reads::Each).unwrap())
}

/// The value of the first pair from the key on, by a range in a separate transaction.
fn range(store: &mut Store) -> Vec<Vec<u8>> {
    let mut reader = store.reader(Lookups::Range(1), Reads::Each).unwrap();
    let mut found = Vec::new();
    reader.range(b"k", |value| found.push(value.to_vec())).unwrap();
    found
}

#[test]
fn each_lookup_sees_what_was_committed_before_it() {
    with_store("each", |environment, dbi| {
        let mut store = Store::new(environment, dbi, Keys::Blob);
        assert_eq!((lookup(&mut store), range(&mut store)), (None, Vec::new()));
        put(&mut store, b"own");
        assert_eq!(lookup(&mut store), Some(b"own".to_vec()));
        assert_eq!(range(&mut store), [b"own"]);
        put_by_another(environment, dbi, b"other");
        assert_eq!(lookup(&mut store), Some(b"other".to_vec()));
        assert_eq!(range(&mut store), [b"other"]);
        // Two lookups of one reader are separate transactions too.
        let mut reader = store.reader(Lookups::Get, Reads::Each).unwrap();
        assert_eq!(value(&mut reader), Some(b"other".to_vec()));
        put_by_another(environment, dbi, b"newest");
        assert_eq!(value(&mut reader), Some(b"newest".to_vec()));
    });
}

#[test]
fn lookups_in_one_transaction_share_a_snapshot_that_ends_with_them() {
    with_store("one", |environment, dbi| {
        let mut store = Store::new(environment, dbi, Keys::Blob);
        for [before, after] in [[b"1", b"2"], [b"3", b"4"]] {
            put(&mut store, before);
            let mut reader = store.reader(Lookups::Get, Reads::One).unwrap();
            assert_eq!(value(&mut reader), Some(before.to_vec()));
            put_by_another(environment, dbi, after);
            assert_eq!(value(&mut reader), Some(before.to_vec()));
            drop(reader);
            let mut reader = store.reader(Lookups::Get, Reads::One).unwrap();
            assert_eq!(value(&mut reader), Some(after.to_vec()));
        }
    });
}

#[test]
fn the_handles_of_a_lookup_are_those_of_the_next() {
    with_store("handles", |environment, dbi| {
        let mut store = Store::new(environment, dbi, Keys::Blob);
        range(&mut store);
        let Handles { transaction, cursor } = store.idle.get();
        assert!(!transaction.is_null() && !cursor.is_null());
        for reads in [Reads::Each, Reads::One] {
            let mut reader = store.reader(Lookups::Get, reads).unwrap();
            value(&mut reader);
            assert_eq!(reader.is_open, reads == Reads::One);
            drop(reader);
            range(&mut store);
            let now = store.idle.get();
            assert_eq!((now.transaction, now.cursor), (transaction, cursor));
        }
    });
}
