//! The operations of clients and their due times: files of steps, mapped.

use anyhow::{Result, ensure};
use dyno_inputs::Cells;
use dyno_protocol::{MixWork, STEP_HEAD, StepKind};

/// The steps of one client, or those that all share.
#[derive(Debug)]
pub struct Steps {
    cells: Cells,
    fields: Vec<Field>,
}

/// The place of a field in a step.
#[derive(Debug, Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    kind: StepKind,
}

/// One step.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

/// The value of a parameter: of a field, a number or text; of a column, anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Text.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

impl Steps {
    /// Maps every file of a mix.
    pub fn load(mix: &MixWork) -> Result<Vec<Steps>> {
        let mut start = STEP_HEAD as usize;
        let mut fields = Vec::new();
        for field in &mix.fields {
            let end = start + usize::try_from(field.bytes)?;
            ensure!(
                !matches!(field.kind, StepKind::Integer | StepKind::Real) || field.bytes == 8,
                "the number {} of a step has {} bytes and not 8",
                field.name,
                field.bytes
            );
            fields.push(Field { start, end, kind: field.kind });
            start = end;
        }
        let all = mix.steps.iter().map(|steps| {
            let cells = Cells::load(&steps.file, steps.count, mix.step_bytes())?;
            ensure!(!cells.is_empty(), "there are no steps in {}", steps.file.display());
            let steps = Steps { cells, fields: fields.clone() };
            let classes = mix.classes.len() as u64;
            let strange = (0..steps.count()).find(|&place| steps.get(place).number(8) >= classes);
            ensure!(
                strange.is_none(),
                "step {} names a class that is not there",
                strange.unwrap_or_default()
            );
            for field in fields.iter().filter(|field| field.kind == StepKind::VaryingText) {
                let room = (field.end - field.start).saturating_sub(8) as u64;
                let fits = |place: &u64| steps.get(*place).number(field.start) <= room;
                let long = (0..steps.count()).find(|place| field.end - field.start < 8 || !fits(place));
                ensure!(
                    long.is_none(),
                    "a text of step {} is longer than its field",
                    long.unwrap_or_default()
                );
            }
            for list in &mix.lists {
                ensure!(list.count < mix.fields.len(), "the list {} has no field that counts it", list.name);
                let fits =
                    |count| matches!(count, Value::Integer(count) if (0..=list.most as i64).contains(&count));
                let long = (0..steps.count()).find(|&place| !fits(steps.get(place).value(list.count)));
                ensure!(
                    long.is_none(),
                    "the list {} of step {} has more than {} items",
                    list.name,
                    long.unwrap_or_default(),
                    list.most
                );
            }
            Ok(steps)
        });
        all.collect()
    }

    /// The number of steps; not 0.
    pub fn count(&self) -> u64 {
        self.cells.len()
    }

    /// A step by its place.
    ///
    /// # Panics
    /// It is beyond the end.
    #[inline]
    pub fn get(&self, place: u64) -> Step<'_> {
        Step { bytes: self.cells.all().get(place), fields: &self.fields }
    }
}

impl<'a> Step<'a> {
    /// The due time, in nanoseconds since the section began; 0: at once.
    #[inline]
    pub fn due(&self) -> u64 {
        self.number(0)
    }

    /// Its class, by position.
    #[inline]
    pub fn class(&self) -> usize {
        self.number(8) as usize
    }

    /// The value of a field.
    ///
    /// # Panics
    /// The step has fewer fields.
    #[inline]
    pub fn value(&self, field: usize) -> Value<'a> {
        let Field { start, end, kind } = self.fields[field];
        match kind {
            StepKind::Integer => Value::Integer(self.number(start) as i64),
            StepKind::Text => Value::Text(&self.bytes[start..end]),
            StepKind::Real => Value::Real(f64::from_bits(self.number(start))),
            StepKind::VaryingText => {
                let length = self.number(start) as usize;
                Value::Text(&self.bytes[start + 8..start + 8 + length])
            }
        }
    }

    #[inline]
    fn number(&self, start: usize) -> u64 {
        let mut number = [0; 8];
        number.copy_from_slice(&self.bytes[start..start + 8]);
        u64::from_le_bytes(number)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dyno_protocol::{MixClass, StepField, StepFile};

    use super::*;

    fn mix(bytes: &[u8], folder: &std::path::Path) -> MixWork {
        let file = folder.join("steps");
        fs::write(&file, bytes).unwrap();
        let field = |name: &str, kind, bytes| StepField { name: name.into(), kind, bytes };
        MixWork {
            classes: vec![MixClass { name: "one".into(), ..MixClass::default() }],
            fields: vec![field("number", StepKind::Integer, 8), field("text", StepKind::Text, 3)],
            clients: 1,
            steps: vec![StepFile { file, count: 1 }],
            ..MixWork::default()
        }
    }

    #[test]
    fn a_step_is_its_fields() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = [7_u64.to_le_bytes(), 0_u64.to_le_bytes(), (-2_i64).to_le_bytes()].concat();
        bytes.extend(b"abc");
        let steps = Steps::load(&mix(&bytes, folder.path())).unwrap();
        let step = steps[0].get(0);
        assert_eq!((step.due(), step.class()), (7, 0));
        assert_eq!((step.value(0), step.value(1)), (Value::Integer(-2), Value::Text(b"abc")));
    }

    #[test]
    fn a_class_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = [&[0; 8][..], &[1; 8], &[0; 11]].concat();
        let said = Steps::load(&mix(&bytes, folder.path())).unwrap_err().to_string();
        assert_eq!(said, "step 0 names a class that is not there");
    }
}
