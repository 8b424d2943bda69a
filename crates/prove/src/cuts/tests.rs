//! The states of cuts, held against what a device may do, for histories at random.

use proptest::prelude::*;

use super::*;
use crate::disk::log::Entry;
use crate::history::Line;
use crate::image::Image;
use crate::tree::{Kind, NodeKind, Op, ROOT, Rights, Tree};

/// The disk of these tests, in sectors.
const SECTORS: u64 = 12;
const SECTOR: usize = 512;

fn read(line: &str) -> Line {
    line.strip_prefix("ack ").map_or(Line::Other, |number| Line::Acknowledged(number.parse().unwrap()))
}

/// Every write fills its bytes with a different value, so that the content of the disk shows which write put it there.
fn history(kinds: &[(u8, u64, u64)]) -> History {
    let mut acknowledged = 0;
    let entry = |(number, &(kind, sector, count)): (usize, &(u8, u64, u64))| match kind {
        0 => Entry::Flush,
        1 => {
            acknowledged += 1;
            Entry::Text(format!("ack {acknowledged}\n").into_bytes())
        }
        _ => Entry::Write {
            offset: sector * SECTOR as u64,
            bytes: vec![number as u8 + 1; count.min(SECTORS - sector) as usize * SECTOR],
        },
    };
    History::new(kinds.iter().enumerate().map(entry).collect(), read)
}

/// The content of each sector: the number of the write that filled it, from 1, and 0 where there was none.
fn sectors(content: &Content) -> Vec<u8> {
    let Content::Disk(image) = content else { panic!("it is no disk") };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    image.write(&std::fs::File::create(&path).unwrap()).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes.resize(SECTORS as usize * SECTOR, 0);
    let whole = |sector: &[u8]| {
        assert!(sector.iter().all(|&byte| byte == sector[0]), "a sector is torn");
        sector[0]
    };
    bytes.chunks(SECTOR).map(whole).collect()
}

fn kinds() -> impl Strategy<Value = Vec<(u8, u64, u64)>> {
    prop::collection::vec((0..6u8, 0..SECTORS, 1..SECTORS), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn what_was_flushed_is_there_and_nothing_is_that_was_not_written(kinds in kinds(), seed: u64) {
        let history = history(&kinds);
        let base = Content::Disk(Image::default());
        let cuts = choose(&history, &base, false, Count { all: 20, flushes: 20, garbage: 0, seed });
        let mut roll = Replay::new(history.entries(), base.clone());
        for cut in &cuts {
            let found = sectors(&roll.content(cut));
            for (sector, &found) in (0..).zip(&found) {
                let reaches = |index: &usize| {
                    let (kind, start, count) = kinds[*index];
                    kind > 1 && (start..start + count).contains(&sector)
                };
                let flush = (0..cut.place).rev().find(|&index| kinds[index].0 == 0).unwrap_or(0);
                let durable = (0..flush).rev().find(reaches).map_or(0, |index| index as u8 + 1);
                let later = (flush..cut.place).filter(reaches).any(|index| index as u8 + 1 == found);
                prop_assert!(found == durable || later && cut.kept != KeptWrites::None, "{:?}: {} in {}", cut, found, sector);
                if cut.kept == KeptWrites::All {
                    let last = (0..cut.place).rev().find(reaches).map_or(0, |index| index as u8 + 1);
                    prop_assert_eq!(found, last);
                }
            }
        }
    }

    #[test]
    fn no_disk_is_tried_twice_and_a_seed_is_a_choice(kinds in kinds(), seed: u64) {
        let history = history(&kinds);
        let base = Content::Disk(Image::default());
        let cuts = choose(&history, &base, false, Count { all: 20, flushes: 20, garbage: 0, seed });
        prop_assert!(cuts.len() <= 31);
        prop_assert_eq!(&cuts, &choose(&history, &base, false, Count { all: 20, flushes: 20, garbage: 0, seed }));
        let mut roll = Replay::new(history.entries(), base.clone());
        let disks: HashSet<_> = cuts.iter().map(|cut| (history.promised(cut.place).len(), roll.content(cut).digest())).collect();
        prop_assert_eq!(disks.len(), cuts.len());
        prop_assert!(cuts.iter().all(|cut| !history.promised(cut.place).is_empty()));
    }
}

#[test]
fn every_kind_of_state_is_tried() {
    let kinds: Vec<(u8, u64, u64)> =
        (0..40).map(|n| (if n % 10 == 9 { 1 } else { 2 }, n % SECTORS, 9)).collect();
    let history = history(&kinds);
    let cuts = choose(
        &history,
        &Content::Disk(Image::default()),
        false,
        Count { all: 200, flushes: 0, garbage: 0, seed: 1 },
    );
    let kinds: [fn(&KeptWrites) -> bool; 6] = [
        |kept| *kept == KeptWrites::None,
        |kept| *kept == KeptWrites::All,
        |kept| matches!(kept, KeptWrites::First(_)),
        |kept| matches!(kept, KeptWrites::Without(_)),
        |kept| matches!(kept, KeptWrites::Some(_)),
        |kept| matches!(kept, KeptWrites::Torn { .. }),
    ];
    for (number, is_kind) in kinds.iter().enumerate() {
        assert!(cuts.iter().any(|cut| is_kind(&cut.kept)), "none of the kind {number}");
    }
}

/// A file is written under another name and renamed over the one that it replaces.
fn replaced(syncs: [bool; 2]) -> (Vec<Entry>, Content) {
    let rights = Rights { mode: 0o600, uid: 0, gid: 0 };
    let (old, new) = (20, 21);
    let name = |name: &str, node| Op::Name { folder: ROOT, name: name.into(), node: Some(node) };
    let write = |node, byte| Op::Write { node, offset: 0, bytes: vec![byte; 1024] };
    let mut base = Tree::new(rights);
    for op in [Op::Make(old, Kind::File, rights), name("data", old), write(old, 1)] {
        base.apply(&op);
    }
    let move_it = Op::Move { from: (ROOT, "new".into()), to: (ROOT, "data".into()), node: new };
    let mut ops = vec![Op::Make(new, Kind::File, rights), name("new", new), write(new, 2)];
    ops.extend(syncs[0].then_some(Op::Sync(new)));
    ops.push(move_it);
    ops.extend(syncs[1].then_some(Op::Sync(ROOT)));
    (ops.into_iter().map(Entry::File).collect(), Content::Files(base))
}

/// The content of the file of a name, if there is one: its length, and its first and last bytes.
fn held(content: &Content, name: &str) -> Option<(u64, Vec<u8>)> {
    let Content::Files(tree) = content else { panic!("it is no tree") };
    match &tree.node(tree.named(ROOT, name.as_ref())?)?.what {
        NodeKind::File(image) => {
            let ends = [image.bytes(0, 1), image.bytes(image.length().saturating_sub(1), 1)].concat();
            Some((image.length(), ends))
        }
        _ => None,
    }
}

#[test]
fn of_files_nothing_is_kept_that_was_not_synced_in_its_own_place() {
    let state = |syncs, kept| {
        let (entries, base) = replaced(syncs);
        let cut = Cut { place: entries.len(), kept, why: Why::Acknowledged };
        Replay::new(&entries, base).content(&cut)
    };
    let [old, new] = [1, 2].map(|byte| Some((1024, vec![byte; 2])));
    assert_eq!(held(&state([true, true], KeptWrites::None), "data"), new);
    assert_eq!(held(&state([true, false], KeptWrites::None), "data"), old, "the folder was not synced");
    assert_eq!(held(&state([true, false], KeptWrites::None), "new"), None);
    assert_eq!(
        held(&state([false, true], KeptWrites::None), "data"),
        Some((0, vec![])),
        "the file was not synced"
    );
    assert_eq!(held(&state([false, false], KeptWrites::All), "data"), new);
    // The name was given and the file not written.
    assert_eq!(held(&state([false, false], KeptWrites::Without(1)), "data"), Some((0, vec![])));
    // Only the rename is lost.
    assert_eq!(held(&state([false, false], KeptWrites::First(2)), "new"), new);
    // A length may be kept without its bytes.
    let torn = (0..32).map(|seed| state([false, true], KeptWrites::Torn { write: 0, sector: 512, seed }));
    let torn: HashSet<_> = torn.map(|content| held(&content, "data")).collect();
    assert_eq!(torn.len(), 4, "each sector is there or not: {torn:?}");
    assert!(torn.iter().all(|held| held.as_ref().is_some_and(|(length, _)| *length == 1024)), "{torn:?}");
}

#[test]
fn writes_over_what_was_there_are_torn_most_often() {
    let write =
        |sector: u64, byte| Entry::Write { offset: sector * SECTOR as u64, bytes: vec![byte; 2 * SECTOR] };
    let fresh = (1..6).map(|pair| write(2 * pair, 3));
    // The page that is there is written anew among pages that are not, and then all are flushed.
    let mut entries = vec![write(0, 1), Entry::Flush, Entry::Text(b"ack 1\n".to_vec())];
    entries.extend(fresh);
    entries.extend([write(0, 2), Entry::Flush]);
    let history = History::new(entries, read);
    let base = Content::Disk(Image::default());
    let torn = torn_in_upkeep(&history, &base, false, 40, &mut ChaCha8Rng::seed_from_u64(1));
    let number = |cut: &Cut| match cut.kept {
        KeptWrites::Torn { write, .. } => write,
        _ => panic!("{cut:?}"),
    };
    assert_eq!(torn.iter().filter(|cut| number(cut) == 5).count(), 30);
    assert!(torn.iter().all(|cut| cut.place == 9));
    assert!(torn.iter().any(|cut| number(cut) < 5), "the others are torn too");
    let journal =
        Entry::Write { offset: 0, bytes: [&[0xC0, 0x3B, 0x39, 0x98], &[7; 2 * SECTOR][..]].concat() };
    let mut before = Image::default();
    before.put(0, &[1; 2 * SECTOR]);
    assert!(states::is_rewritten(&Content::Disk(before.clone()), &write(0, 2)));
    assert!(!states::is_rewritten(&Content::Disk(before), &journal));
}

#[test]
fn the_end_is_tried_where_a_drawn_cut_leaves_the_same_disk() {
    let write = |byte| Entry::Write { offset: 0, bytes: vec![byte; 4 * SECTOR] };
    let mut entries = vec![write(1), Entry::Flush, Entry::Text(b"ack 1\n".to_vec()), write(2), Entry::Flush];
    entries.extend((3..30).map(write));
    let history = History::new(entries, read);
    let base = Content::Disk(Image::default());
    for seed in 0..50 {
        let cuts = choose(&history, &base, false, Count { all: 1, flushes: 1, garbage: 0, seed });
        let mut roll = Replay::new(history.entries(), base.clone());
        assert!(cuts.iter().any(|cut| sectors(&roll.content(cut))[..4] == [2; 4]), "{cuts:?}");
    }
}

#[test]
fn garbage_is_left_in_one_sector_between_the_new_and_the_old() {
    let count = 8;
    let write = |byte| Entry::Write { offset: 0, bytes: vec![byte; count * SECTOR] };
    let end = Entry::Text(b"\n".to_vec());
    let entries = [write(1), Entry::Flush, Entry::Text(b"ack 1\n".to_vec()), write(2), end];
    let history = History::new(entries.to_vec(), read);
    let base = Content::Disk(Image::default());
    let mut stops = HashSet::new();
    for seed in 0..40 {
        let cuts = choose(&history, &base, false, Count { all: 8, flushes: 1, garbage: 2, seed });
        for cut in cuts.iter().filter(|cut| cut.why == Why::Garbage) {
            assert!(!cut.is_drawn());
            let KeptWrites::Garbage { sector: 512, .. } = cut.kept else { continue };
            let Content::Disk(image) = Replay::new(history.entries(), base.clone()).content(cut) else {
                panic!()
            };
            let disk = image.bytes(0, count * SECTOR);
            let is_of = |byte| move |sector: &[u8]| sector.iter().all(|&found| found == byte);
            let sectors: Vec<&[u8]> = disk.chunks(SECTOR).collect();
            let stop = sectors.iter().take_while(|sector| is_of(2)(sector)).count();
            assert!(!is_of(1)(sectors[stop]), "the sector at the tear is neither old nor new");
            assert!(sectors[stop + 1..].iter().all(|sector| is_of(1)(sector)), "the others are old");
            stops.insert(stop);
        }
    }
    assert!(stops.len() > 4, "any sector may be the last: {stops:?}");
}
