//! Cells of an interior page of an index, before they have their place in it.

/// Some cells, in order: for each the page below it, which comes before its record, and the rest of its body.
#[derive(Debug, Default)]
pub struct Cells {
    bodies: Vec<u8>,
    /// The page below each, and where its body ends.
    ends: Vec<(u32, usize)>,
}

impl Cells {
    /// Adds one.
    pub fn push(&mut self, child: u32, body: &[u8]) {
        self.bodies.extend_from_slice(body);
        self.ends.push((child, self.bodies.len()));
    }

    /// Takes the last one away.
    pub fn pop(&mut self) -> Option<(u32, Vec<u8>)> {
        let (child, _) = self.ends.pop()?;
        let start = self.ends.last().map_or(0, |(_, end)| *end);
        Some((child, self.bodies.split_off(start)))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&(child, end)| (child, &self.bodies[std::mem::replace(&mut start, end)..end]))
    }

    /// The pages below the last ones.
    pub fn last_children(&mut self, count: usize) -> impl Iterator<Item = &mut u32> {
        let start = self.ends.len() - count;
        self.ends[start..].iter_mut().map(|(child, _)| child)
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.ends.clear();
    }
}
