//! Every runner keeps the protocol; one that does not is found out.

use crate::common::Place;

#[test]
fn the_runners_pass() {
    let place = Place::new();
    let contenders = "null sqlite sqlite:wal sqlite:tuned sqlite:memory sqlite@system \
                      sqlite@sqlcipher:encrypted sqlite@mc:raw-key sqlite@mc:encrypted,cipher=ascon128 \
                      sqlite/c+multirow sqlite/c+without-rowid \
                      sqlite/c+text sqlite/c+prepared sqlite/c+typed sqlite/c+beside sqlite/c+transfer sqlite/c+pages sqlite/c+pages-parallel sqlite/c+floor bdb bdb:per-commit bdb/c+hash lmdb rocksdb redb fjall";
    let result = place.dyno(&format!("conformance {contenders}")).exits(0).without_panic();
    assert!(!result.stdout.contains("BROKEN"), "{}", result.stdout);
    // The harness is checked too, though not for answers; the others for what their models are.
    let result = result.prints("the harness has no engine").prints("ok a large answer arrives whole");
    let result = result
        .prints("ok a file that is imported is in the table")
        .prints("ok rows that are loaded are there")
        .prints("ok a scan meets the keys in order");
    assert_eq!(result.stdout.matches("0 broken").count(), contenders.split_whitespace().count());
    place.assert_clean();
}

#[test]
fn a_runner_that_answers_wrongly_does_not() {
    // It says hello and bye and does nothing of what a job asks.
    let hello = r#"{"event":"hello","protocol":2,"runner":"r","engine_version":"1","driver_version":"1","settings":[]}"#;
    let place = Place::with_runner(&format!("cat > /dev/null; echo '{hello}'; echo '{{\"event\":\"bye\"}}'"));
    let result = place.dyno("conformance fake").exits(3).without_panic();
    let result = result.prints("ok a job without tests is answered with hello and bye");
    result.prints("BROKEN samples count operations").prints("BROKEN a job that is no job is refused");
}
