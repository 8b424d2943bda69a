//! The order of a later file's fields: its header may name the columns of the first file in another order.

use anyhow::{Result, ensure};

use crate::table::{given_name, names};

/// The place among `others` of the name at a place among `names`: the second of its name is where the second one is there.
fn same_place(names: &[String], place: usize, others: &[String]) -> Option<usize> {
    let before = names[..place].iter().filter(|name| **name == names[place]).count();
    let same = others.iter().enumerate().filter(|(_, other)| **other == names[place]);
    same.map(|(other, _)| other).nth(before)
}

/// The positions of the first file's fields in a file with a header: by their names, also where a name comes several times,
/// else by names that differ in case. A field to which dyno gave a name, because the header has none or has it twice,
/// corresponds to the field of the other file that got its name for the same reason. `columns` are the first file's columns,
/// and `keys` their names as it spells them.
///
/// # Errors
/// It does not name the same columns.
pub fn order((columns, keys): (&[String], &[String]), header: &[Vec<u8>], name: &str) -> Result<Vec<usize>> {
    let given: Vec<String> = header.iter().map(|field| given_name(field)).collect::<Result<_>>()?;
    let own: Vec<(String, &String)> = names(Some(header), header.len())?.into_iter().zip(&given).collect();
    let keys: Vec<String> = keys.iter().map(|key| given_name(key.as_bytes())).collect::<Result<_>>()?;
    let exact: Vec<usize> = (0..keys.len()).filter_map(|key| same_place(&keys, key, &given)).collect();
    if exact.len() == keys.len() && keys.len() == given.len() {
        return Ok(exact);
    }
    let place = |(wanted, key): (&String, &String)| {
        let is_same = |(own, given): &(String, &String)| {
            own.eq_ignore_ascii_case(wanted) && given.eq_ignore_ascii_case(key)
        };
        own.iter().position(is_same)
    };
    let order: Vec<usize> = columns.iter().zip(&keys).filter_map(place).collect();
    ensure!(
        order.len() == columns.len() && own.len() == columns.len(),
        "{name} has the columns {}, and the first file has {}: files of one import have the same ones, in any order",
        given.join(", "),
        keys.join(", ")
    );
    Ok(order)
}
