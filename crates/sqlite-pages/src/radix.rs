//! Sorts numbers by some of their bits.

/// The most bits distributed at once: a processor writes to this many buckets at nearly the cost of one.
const DIGIT: u32 = 11;

/// The most times that all numbers are dealt out; comparing them takes less than more.
const TIMES: u32 = 4;

/// The fewest numbers for which that pays.
const MANY: usize = 1 << 12;

/// Sorts keys by the `width` bits above the `low` ones. There is nothing above those, and keys that are equal in them
/// ascend already. `room` becomes as long as the keys at most.
pub fn sort(keys: &mut [u64], room: &mut Vec<u64>, low: u32, width: u32) {
    let times = width.div_ceil(DIGIT);
    if keys.len() < MANY || times > TIMES {
        keys.sort_unstable();
        return;
    }
    let digit = width.div_ceil(times);
    room.resize(room.len().max(keys.len()), 0);
    let room = &mut room[..keys.len()];
    for time in 0..times {
        let (from, to) = if time % 2 == 0 { (&*keys, &mut *room) } else { (&*room, &mut *keys) };
        deal(from, to, low + time * digit, digit);
    }
    if times % 2 == 1 {
        keys.copy_from_slice(room);
    }
}

/// Moves keys to the order of the `digit` bits above the `low` ones; equal ones stay in theirs.
fn deal(from: &[u64], to: &mut [u64], low: u32, digit: u32) {
    let heap = |key: u64| (key >> low) as usize & ((1 << digit) - 1);
    let mut places = [0; 1 << DIGIT];
    from.iter().for_each(|&key| places[heap(key)] += 1);
    let mut before = 0;
    for place in &mut places[..1 << digit] {
        before += std::mem::replace(place, before);
    }
    for &key in from {
        let place = &mut places[heap(key)];
        to[*place] = key;
        *place += 1;
    }
}

/// The bits by which pairs are dealt out beyond those that count them: few are then equal in all of them.
const BEYOND: u32 = 4;

/// Sorts pairs by the first of both; equal ones stay in their order. `room` becomes as long as the pairs at most.
pub fn sort_pairs(pairs: &mut [(u64, u64)], room: &mut Vec<(u64, u64)>) {
    room.resize(room.len().max(pairs.len()), (0, 0));
    sort_within(pairs, room);
}

/// The same with room that is long enough.
fn sort_within(pairs: &mut [(u64, u64)], room: &mut [(u64, u64)]) {
    if pairs.len() < MANY {
        return pairs.sort_by_key(|pair| pair.0);
    }
    let keys = || pairs.iter().map(|pair| pair.0);
    let (least, most) = (keys().min().unwrap_or_default(), keys().max().unwrap_or_default());
    let width = u64::BITS - (most - least).leading_zeros();
    if width == 0 {
        return;
    }
    // The highest bits separate most keys; keys that share them are sorted afterwards.
    let enough = pairs.len().ilog2() + BEYOND;
    let times = width.min(enough).div_ceil(DIGIT);
    let digit = width.min(enough).div_ceil(times);
    let low = width.saturating_sub(times * digit);
    let room = &mut room[..pairs.len()];
    for time in 0..times {
        let (from, to) = if time % 2 == 0 { (&*pairs, &mut *room) } else { (&*room, &mut *pairs) };
        deal_pairs(from, to, least, low + time * digit, digit);
    }
    if times % 2 == 1 {
        pairs.copy_from_slice(room);
    }
    if low > 0 {
        let heap = |pair: &(u64, u64)| (pair.0 - least) >> low;
        for equal in pairs.chunk_by_mut(|one, next| heap(one) == heap(next)).filter(|equal| equal.len() > 1) {
            sort_within(equal, room);
        }
    }
}

/// As [`deal`], by what the first of a pair is above `least`.
fn deal_pairs(from: &[(u64, u64)], to: &mut [(u64, u64)], least: u64, low: u32, digit: u32) {
    let heap = |key: u64| ((key - least) >> low) as usize & ((1 << digit) - 1) & ((1 << DIGIT) - 1);
    let mut places = [0; 1 << DIGIT];
    from.iter().for_each(|pair| places[heap(pair.0)] += 1);
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for &pair in from {
        let place = &mut places[heap(pair.0)];
        to[*place] = pair;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn pairs_are_sorted_by_the_first_and_equal_ones_stay(
            seed in any::<u64>(), count in 0..3 * MANY as u64, shift in 0..64u32, above in any::<u64>(),
            // Of some keys the highest bits are the same.
            clusters in 1..4u64, far in prop_oneof![Just(0), 1..u64::MAX],
        ) {
            let mut random = seed;
            let mut pairs: Vec<(u64, u64)> = (0..count).map(|place| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let cluster = ((random >> 7) % clusters).wrapping_mul(far);
                ((random >> shift).saturating_add(above).wrapping_add(cluster), place)
            }).collect();
            let mut expected = pairs.clone();
            expected.sort();
            sort_pairs(&mut pairs, &mut Vec::new());
            prop_assert_eq!(pairs, expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn it_sorts_as_the_standard_library_does(
            seed in any::<u64>(), count in 0..2 * MANY as u64, low in 13..20u32, width in 1..45u32,
        ) {
            // A generator of Knuth's.
            let mut random = seed;
            let mut keys: Vec<u64> = (0..count).map(|place| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                random >> (64 - width) << low | place
            }).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys, &mut Vec::new(), low, width);
            prop_assert_eq!(keys, expected);
        }
    }
}
