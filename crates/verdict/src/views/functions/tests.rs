use super::sides::{CountedTest, compare, nameless, settled, sum};
use super::*;

fn side(functions: &[(&str, &str, f64)], instructions: f64) -> CountedTest {
    let functions =
        functions.iter().map(|(file, name, count)| (((*file).to_owned(), (*name).to_owned()), *count));
    CountedTest { functions: functions.collect(), instructions, scatters: false, left_out_at_most: 0.0 }
}

#[test]
fn functions_with_the_largest_differences_come_first_and_all_add_up() {
    let before =
        side(&[("library", "step", 900.0), ("library", "gone", 50.0), ("libc.so.6", "step", 20.0)], 1000.0);
    let now =
        side(&[("runner", "step", 910.0), ("library", "planted", 70.0), ("libc.so.6", "step", 20.0)], 1040.0);
    let compared = compare(Some("1".into()), &before, &now);
    let largest: Vec<(&str, f64)> =
        compared.largest().map(|change| (change.function.as_str(), change.difference())).collect();
    // A function that moved from the library to the runner is one; equal names in other files are two.
    assert_eq!(largest, [("planted", 70.0), ("gone", -50.0), ("step", 10.0)]);
    let (rest_before, rest_now) = compared.besides(compared.largest());
    assert_eq!((rest_before, rest_now), (50.0, 60.0));
    let listed: f64 = compared.largest().map(FunctionChange::difference).sum();
    assert_eq!(listed + (rest_now - rest_before), compared.difference());
}

#[test]
fn tests_are_summed_by_function() {
    let one = side(&[("library", "a", 1.0), ("library", "b", 2.0)], 3.0);
    let other = side(&[("library", "a", 10.0)], 12.0);
    let both = sum([&one, &other].into_iter());
    assert_eq!((both.functions[&("library".into(), "a".into())], both.instructions), (11.0, 15.0));
}

#[test]
fn a_build_without_symbols_is_found() {
    let stripped =
        side(&[("library", "", 90.0), ("library", "exported", 10.0), ("libc.so.6", "", 900.0)], 1000.0);
    assert_eq!(nameless([&stripped].into_iter()), 0.9);
    let whole = side(&[("library", "exported", 10.0), ("libc.so.6", "", 900.0)], 910.0);
    assert_eq!(nameless([&whole].into_iter()), 0.0);
}

#[test]
fn what_the_run_file_leaves_out_is_no_difference() {
    let mut before = side(&[("library", "step", 900.0), ("library", "tied", 30.0)], 1000.0);
    let now = side(&[("library", "step", 900.0), ("library", "planted", 40.0)], 1040.0);
    let now = CountedTest { left_out_at_most: 30.0, ..now };
    before.left_out_at_most = 30.0;
    let (before, now) = settled(before, now);
    let compared = compare(None, &before, &now);
    let largest: Vec<&str> = compared.largest().map(|change| change.function.as_str()).collect();
    assert_eq!((largest, compared.besides(compared.largest())), (vec!["planted"], (1000.0, 1000.0)));
}
