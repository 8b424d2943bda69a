//! The order of a later file's fields: its header may name the columns of the first file in another order.

use std::collections::{HashMap, VecDeque};

use anyhow::{Result, ensure};

use crate::table::{given_name, names};

/// The places among `others` of the fields with these names: the second of its name is where the second one is there, and
/// a field without a name where it is. Fields that are not there are left out.
fn same_places(names: &[String], others: &[String]) -> Vec<usize> {
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (place, other) in others.iter().enumerate() {
        places.entry(other.as_str()).or_default().push_back(place);
    }
    let same_place = |(place, name): (usize, &String)| match name.is_empty() {
        true => others.get(place).filter(|other| other.is_empty()).map(|_| place),
        false => places.get_mut(name.as_str()).and_then(VecDeque::pop_front),
    };
    names.iter().enumerate().filter_map(same_place).collect()
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
    let own = names(Some(header), header.len())?;
    let keys: Vec<String> = keys.iter().map(|key| given_name(key.as_bytes())).collect::<Result<_>>()?;
    let exact = same_places(&keys, &given);
    if exact.len() == keys.len() && keys.len() == given.len() {
        return Ok(exact);
    }
    let pair = |own: &String, given: &String| (own.to_ascii_lowercase(), given.to_ascii_lowercase());
    let mut places = HashMap::new();
    for (place, (own, given)) in own.iter().zip(&given).enumerate() {
        places.entry(pair(own, given)).or_insert(place);
    }
    let place = |(wanted, key): (&String, &String)| places.get(&pair(wanted, key)).copied();
    let order: Vec<usize> = columns.iter().zip(&keys).filter_map(place).collect();
    ensure!(
        order.len() == columns.len() && own.len() == columns.len(),
        "{name} has the columns {}, and the first file has {}: files of one import have the same ones, in any order",
        given.join(", "),
        keys.join(", ")
    );
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(first: &str, later: &str) -> Result<Vec<usize>, String> {
        let header =
            |text: &str| -> Vec<Vec<u8>> { text.split(',').map(|field| field.as_bytes().to_vec()).collect() };
        let keys: Vec<String> = first.split(',').map(str::to_owned).collect();
        let columns = names(Some(&header(first)), keys.len()).unwrap();
        order((&columns, &keys), &header(later), "b.csv").map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_found_by_their_names_whatever_their_order() {
        assert_eq!(ordered("a,b,c", "c,a,b"), Ok(vec![1, 2, 0]));
        assert_eq!(ordered("a,a,b", "b,a,a"), Ok(vec![1, 2, 0]));
        assert_eq!(ordered("a,B", "b,A"), Ok(vec![1, 0]));
        assert!(ordered("a,b", "a,c").is_err() && ordered("a,b", "a,b,c").is_err());
    }

    #[test]
    fn a_field_without_a_name_is_where_it_is_in_the_first_file() {
        assert_eq!(ordered("a,,b", "b,,a"), Ok(vec![2, 1, 0]));
        for (first, later) in [("a,,b", "a,b,"), ("a,b,", ",a,b"), (",a,", "a,,"), ("a,", "a,c2")] {
            let said = ordered(first, later).unwrap_err();
            assert!(said.contains("files of one import have the same ones"), "{first} {later}: {said}");
        }
    }
}
