//! The order in which a class's statements are executed, and what their parameters are meanwhile.

use std::ops::Range;
use std::time::Duration;

use anyhow::{Result, ensure};
use dyno_protocol::{LoopSource, MixClass, MixRows, MixValue, MixWork};

use super::kept::KeptRows;
use super::suspension::sleep;
use super::{Step, Value};

/// The source of the current values of a statement's parameters.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    step: &'a Step<'a>,
    /// The rows that earlier statements of the operation keep, by their positions.
    kept: &'a [KeptRows],
    /// The turn of the loop in which the statement is repeated.
    turn: LoopItem,
}

/// The item or the row for which statements are repeated now.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoopItem {
    /// The position of the item's first field.
    field: usize,
    /// Of which statement there is a current row, and which.
    row: Option<(usize, usize)>,
}

impl<'a> Values<'a> {
    /// Those of a statement that has only fields of the step.
    #[inline]
    pub(super) fn of(step: &'a Step<'a>) -> Values<'a> {
        Values { step, kept: &[], turn: LoopItem::default() }
    }

    /// The value of a parameter.
    #[inline]
    pub fn get(&self, source: MixValue) -> Value<'a> {
        match source {
            MixValue::Field(field) => self.step.value(field),
            MixValue::Item { item } => self.step.value(self.turn.field + item),
            MixValue::Row { statement, column } => {
                let row = self.turn.row.filter(|(of, _)| *of == statement).map_or(0, |(_, row)| row);
                self.kept[statement].value(row, column)
            }
        }
    }
}

/// The statements of a class, in parts.
#[derive(Debug)]
pub struct Program {
    parts: Vec<ProgramPart>,
    /// For each statement those earlier ones without whose rows it is left out.
    needs: Vec<Vec<usize>>,
    /// For each statement what it keeps.
    keeps: Vec<Option<MixRows>>,
}

/// One statement, or some that are repeated together.
#[derive(Debug)]
enum ProgramPart {
    One(usize),
    /// The client waits, as a program does that computes within a transaction.
    Pause(Duration),
    Loop {
        first: usize,
        end: usize,
        over: Items,
    },
}

/// The rows or numbers for which statements are repeated.
#[derive(Debug)]
enum Items {
    /// Items of a step: the fields of how many, of the first, and of how many each has.
    List {
        count: usize,
        first: usize,
        columns: usize,
    },
    Rows(usize),
}

/// The outcome of an operation's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executed {
    /// All are done.
    All,
    /// A statement, by its position, returned no row where one must be.
    Missing(usize),
}

impl Program {
    /// The statements of a class; none where each is executed once and keeps nothing, which needs no program.
    ///
    /// # Errors
    /// The class names what is not there.
    pub fn new(mix: &MixWork, class: &MixClass) -> Result<Option<Program>> {
        let keeps: Vec<Option<MixRows>> = class.statements.iter().map(|one| one.keeps).collect();
        check(mix, class)?;
        if class.loops.is_empty() && class.pauses.is_empty() && keeps.iter().all(Option::is_none) {
            return Ok(None);
        }
        let rows = |source: &MixValue| match source {
            MixValue::Row { statement, .. } => Some(*statement),
            _ => None,
        };
        let mut needs: Vec<Vec<usize>> =
            class.statements.iter().map(|one| one.parameters.iter().filter_map(rows).collect()).collect();
        for list in &mut needs {
            list.sort_unstable();
            list.dedup();
        }
        let (mut parts, mut place) = (Vec::new(), 0);
        for one in &class.loops {
            parts.extend(with_pauses(class, place..one.first));
            parts.extend(pauses_before(class, one.first));
            let over = match one.over {
                LoopSource::Rows(statement) => Items::Rows(statement),
                LoopSource::List(list) => {
                    let list = &mix.lists[list];
                    Items::List { count: list.count, first: list.first, columns: list.columns }
                }
            };
            place = one.first + one.count;
            parts.push(ProgramPart::Loop { first: one.first, end: place, over });
        }
        parts.extend(with_pauses(class, place..class.statements.len()));
        parts.extend(pauses_before(class, class.statements.len()));
        Ok(Some(Program { parts, needs, keeps }))
    }

    /// Room for what the statements keep.
    pub fn room(&self) -> Vec<KeptRows> {
        self.keeps.iter().map(|shape| KeptRows::new(shape.unwrap_or_default())).collect()
    }

    /// Executes all statements by `run`, which gets a statement's position in the class, its values, and where its rows
    /// go where they are kept. `keeps` says whether the engine returns rows at all.
    ///
    /// # Errors
    /// The error that `run` returned.
    #[inline]
    pub fn execute(
        &self,
        step: &Step,
        kept: &mut [KeptRows],
        keeps: bool,
        mut run: impl FnMut(usize, &Values, Option<&mut KeptRows>) -> Result<()>,
    ) -> Result<Executed> {
        kept.iter_mut().for_each(KeptRows::clear);
        let mut one = |statement: usize, turn: LoopItem, kept: &mut [KeptRows]| {
            let (earlier, own) = kept.split_at_mut(statement);
            let own = own.first_mut().filter(|_| self.keeps[statement].is_some());
            if keeps && self.needs[statement].iter().any(|&need| earlier[need].len() == 0) {
                // Its row may be missing, and so may those that come of it.
                own.into_iter().for_each(KeptRows::clear);
                return Ok(Executed::All);
            }
            let values = Values { step, kept: earlier, turn };
            let Some(own) = own else { return run(statement, &values, None).map(|()| Executed::All) };
            own.clear();
            run(statement, &values, Some(&mut *own))?;
            let is_missing = own.len() == 0 && !own.may_miss() && keeps;
            Ok(if is_missing { Executed::Missing(statement) } else { Executed::All })
        };
        for part in &self.parts {
            let (first, end, turns) = match part {
                ProgramPart::One(statement) => match one(*statement, LoopItem::default(), kept)? {
                    Executed::All => continue,
                    missing => return Ok(missing),
                },
                ProgramPart::Pause(time) => {
                    sleep(*time);
                    continue;
                }
                ProgramPart::Loop { first, end, over } => (*first, *end, over),
            };
            for turn in 0..turns.count(step, kept) {
                let turn = turns.turn(turn);
                for statement in first..end {
                    let executed = one(statement, turn, kept)?;
                    if executed != Executed::All {
                        return Ok(executed);
                    }
                }
            }
        }
        Ok(Executed::All)
    }
}

impl Items {
    #[inline]
    fn count(&self, step: &Step, kept: &[KeptRows]) -> usize {
        match self {
            Items::List { count, .. } => match step.value(*count) {
                Value::Integer(count) => usize::try_from(count).unwrap_or_default(),
                _ => 0,
            },
            Items::Rows(statement) => kept[*statement].len(),
        }
    }

    #[inline]
    fn turn(&self, turn: usize) -> LoopItem {
        match self {
            Items::List { first, columns, .. } => LoopItem { field: first + turn * columns, row: None },
            Items::Rows(statement) => LoopItem { field: 0, row: Some((*statement, turn)) },
        }
    }
}

/// The pauses before a statement; behind the last one, those before the commit.
fn pauses_before(class: &MixClass, statement: usize) -> impl Iterator<Item = ProgramPart> {
    let own = class.pauses.iter().filter(move |pause| pause.before == statement);
    own.map(|pause| ProgramPart::Pause(Duration::from_nanos(pause.nanoseconds)))
}

/// Statements that are done once, each after the pauses before it.
fn with_pauses(class: &MixClass, statements: Range<usize>) -> impl Iterator<Item = ProgramPart> {
    statements.flat_map(|statement| pauses_before(class, statement).chain([ProgramPart::One(statement)]))
}

/// Refuses a class that names what is not there.
fn check(mix: &MixWork, class: &MixClass) -> Result<()> {
    let fields = mix.fields.len();
    let list_fits = |list: usize| {
        let found = mix.lists.get(list);
        found.is_some_and(|list| list.count < fields && list.first + list.columns * list.most <= fields)
    };
    let mut place = 0;
    for one in &class.loops {
        let fits = match one.over {
            LoopSource::List(list) => list_fits(list),
            LoopSource::Rows(statement) => statement < one.first,
        };
        ensure!(
            fits && one.first >= place && one.first + one.count <= class.statements.len(),
            "class {} repeats what is not there: this is an error in dyno",
            class.name
        );
        place = one.first + one.count;
    }
    for (place, one) in class.statements.iter().enumerate() {
        let of = class.loops.iter().find(|of| (of.first..of.first + of.count).contains(&place));
        let columns = of.and_then(|of| match of.over {
            LoopSource::List(list) => Some(mix.lists[list].columns),
            LoopSource::Rows(_) => None,
        });
        let is_there = |source: &MixValue| match *source {
            MixValue::Field(field) => field < fields,
            MixValue::Item { item } => columns.is_some_and(|columns| item < columns),
            MixValue::Row { statement, column } => {
                let kept = class.statements.get(statement).and_then(|kept| kept.keeps);
                statement < place && kept.is_some_and(|kept| column < kept.columns)
            }
        };
        ensure!(
            one.text.len() == one.parameters.len() + 1 && one.parameters.iter().all(is_there),
            "a parameter of class {} names what is not there: this is an error in dyno",
            class.name
        );
    }
    ensure!(
        mix.think.is_none_or(|field| field < fields),
        "clients think by a field that is not there: this is an error in dyno"
    );
    ensure!(
        mix.reports.is_none_or(|field| field < fields),
        "steps are reported by a field that is not there: this is an error in dyno"
    );
    ensure!(
        class.rollback_if.is_none_or(|field| field < fields),
        "class {} is undone by a field that is not there: this is an error in dyno",
        class.name
    );
    Ok(())
}
