//! The function that differs the most, as columns.

use dyno_verdict::{FunctionChange, Verdict};

use crate::csv_column::Column;

/// The columns of a contender in a test, by their places.
pub fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    let id = &verdict.tests[test].id;
    let comparison = verdict.views.functions.iter().find(|comparison| comparison.contender == contender);
    let compared = comparison.and_then(|comparison| {
        Some((comparison.over, comparison.tests.iter().find(|compared| compared.test.as_ref() == Some(id))?))
    });
    let largest = compared.and_then(|(_, compared)| compared.largest().next());
    vec![
        ("functions_over", compared.map(|(over, _)| verdict.label(over)).into()),
        ("functions_difference", compared.map(|(_, compared)| compared.difference()).into()),
        ("function", largest.map(|change| change.function.as_str()).into()),
        ("function_file", largest.map(|change| change.file.as_str()).into()),
        ("function_difference", largest.map(FunctionChange::difference).into()),
    ]
}
