//! The classes of a mix as runners get them: names become positions.

use anyhow::{Context, Result, ensure};
use dyno_protocol::{LoopSource, MixClass, MixLoop, MixStatement, MixValue, MixWork, StepKind, StoreDoes};
use dyno_suite::{Parameter, RenderedClass, RenderedStatement, Repeat, Repeated};

/// A class in one dialect, of a mix that has its fields and lists, and of each class what is the same in all dialects.
pub fn class(class: RenderedClass, mix: &MixWork) -> Result<MixClass> {
    let statements = class.statements.into_iter().map(|one| statement(one, mix));
    let repeated = |Repeated { first, count, over }: Repeated| {
        let over = match over {
            Repeat::List(name) => LoopSource::List(list(&name, mix)?),
            Repeat::Rows(statement) => LoopSource::Rows(statement),
        };
        Ok(MixLoop { first, count, over })
    };
    let name = class.name;
    Ok(MixClass {
        transaction: class.transaction,
        statements: statements.collect::<Result<_>>().with_context(|| format!("class {name}"))?,
        loops: class.loops.into_iter().map(repeated).collect::<Result<_>>()?,
        rollback_if: class.rollback.map(|name| field(&name, mix)).transpose()?,
        pauses: class.pauses,
        ignores: class.ignores,
        protocol: class.protocol,
        patience_ns: mix.classes.iter().find(|known| known.name == name).and_then(|known| known.patience_ns),
        name,
    })
}

fn statement(one: RenderedStatement, mix: &MixWork) -> Result<MixStatement> {
    let source = |parameter: Parameter| {
        Ok(match parameter {
            Parameter::Value(name) => MixValue::Field(field(&name, mix)?),
            Parameter::Count(name) => MixValue::Field(mix.lists[list(&name, mix)?].count),
            Parameter::Row(statement, column) => MixValue::Row { statement, column },
            Parameter::Item(name, column) => {
                let first = mix.lists[list(&name, mix)?].first;
                let wanted = format!("{name}.{column}, 1");
                let found = mix.fields[first..].iter().position(|field| field.name == wanted);
                MixValue::Item { item: found.context("a column of a list without a field")? }
            }
        })
    };
    let mut parameters = one.parameters.into_iter().map(source).collect::<Result<Vec<_>>>()?;
    if let Some(does) = one.does {
        check_store(does, &parameters, &one.text, mix)?;
    }
    let mut text = one.text;
    if let Some(rows) = one.rows {
        let of = &mix.lists[list(&rows.list, mix)?];
        let sources = rows.parameters.into_iter().map(source).collect::<Result<Vec<_>>>()?;
        for item in 0..of.most {
            let (first, others) = rows.text.split_first().context("a row without a text")?;
            let last = text.last_mut().context("a statement without a text")?;
            last.push_str(if item == 0 { "" } else { ", " });
            last.push_str(first);
            text.extend(others.iter().cloned());
            parameters.extend(sources.iter().map(|source| match *source {
                MixValue::Item { item: column } => MixValue::Field(of.first + item * of.columns + column),
                other => other,
            }));
        }
        text.last_mut().context("a statement without a text")?.push_str(&rows.tail);
    }
    Ok(MixStatement { text, parameters, keeps: one.keeps, does: one.does })
}

/// A store's keys are whole numbers, and so is the length of a range.
fn check_store(does: StoreDoes, parameters: &[MixValue], text: &[String], mix: &MixWork) -> Result<()> {
    let is_number = |source: &MixValue| match *source {
        MixValue::Field(field) => mix.fields[field].kind == StepKind::Integer,
        MixValue::Item { item } => {
            mix.lists.iter().any(|list| mix.fields[list.first + item].kind == StepKind::Integer)
        }
        MixValue::Row { .. } => false,
    };
    let numbers = if does == StoreDoes::Range { 2 } else { 1 };
    ensure!(
        parameters[..numbers].iter().all(is_number),
        "`{}`: keys and lengths are whole numbers of the step",
        text.join("?").trim()
    );
    Ok(())
}

fn field(name: &str, mix: &MixWork) -> Result<usize> {
    mix.fields.iter().position(|field| field.name == name).context("a parameter without a field")
}

fn list(name: &str, mix: &MixWork) -> Result<usize> {
    mix.lists.iter().position(|list| list.name == name).context("a list that the steps do not have")
}
