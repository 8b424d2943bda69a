//! The classes of a mix as runners get them: names become positions.

use anyhow::{Context, Result};
use dyno_protocol::{MixClass, MixLoop, MixStatement, MixValue, MixWork, Over};
use dyno_suite::{Parameter, RenderedClass, RenderedStatement, Repeat, Repeated};

/// A class in one dialect, of a mix that has its fields and lists.
pub fn class(class: RenderedClass, mix: &MixWork) -> Result<MixClass> {
    let statements = class.statements.into_iter().map(|one| statement(one, mix));
    let repeated = |Repeated { first, count, over }: Repeated| {
        let over = match over {
            Repeat::List(name) => Over::List(list(&name, mix)?),
            Repeat::Rows(statement) => Over::Rows(statement),
        };
        Ok(MixLoop { first, count, over })
    };
    Ok(MixClass {
        name: class.name,
        transaction: class.transaction,
        statements: statements.collect::<Result<_>>()?,
        loops: class.loops.into_iter().map(repeated).collect::<Result<_>>()?,
        rollback_if: class.rollback.map(|name| field(&name, mix)).transpose()?,
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
    let parameters = one.parameters.into_iter().map(source).collect::<Result<_>>()?;
    Ok(MixStatement { text: one.text, parameters, keeps: one.keeps })
}

fn field(name: &str, mix: &MixWork) -> Result<usize> {
    mix.fields.iter().position(|field| field.name == name).context("a parameter without a field")
}

fn list(name: &str, mix: &MixWork) -> Result<usize> {
    mix.lists.iter().position(|list| list.name == name).context("a list that the steps do not have")
}
