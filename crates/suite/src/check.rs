//! The rules for a suite beyond the types of its keys; every complaint names file and line.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use dyno_nearest as nearest;

use super::names::{ID, is_id, is_name};
use super::{Model, Shape, Suite, Test, digest, include, model, rung, statements};

impl Suite {
    /// Refuses a suite that cannot be run. `dialects` are those that the engines speak.
    pub(super) fn check(&self, dialects: &BTreeSet<String>) -> Result<()> {
        for (name, data) in &self.data {
            let line = self.line_of(data.place());
            let place = || format!("{}:{line}: data {name}", self.path.display());
            data.check().with_context(place)?;
            ensure!(is_name(name), "{}: a name is letters and digits, and begins with a letter", place());
        }
        for (name, parameter) in &self.parameters {
            let led = parameter.follows.as_ref().map(|led| self.parameters.get(led));
            // One that leads must not follow, or the order would decide.
            ensure!(
                led.is_none_or(|led| led.is_some_and(|led| led.follows.is_none())),
                "{}: the parameter {name} follows one that is not there, or that follows another itself",
                self.path.display()
            );
        }
        let line = include::name_place(&self.text).map_or(1, |byte| self.line_of(byte));
        // It becomes a part of the names of files.
        ensure!(
            is_id(&self.name),
            "{}:{line}: the suite's name \"{}\" is not {ID}",
            self.path.display(),
            self.name.escape_debug()
        );
        rung::check(&self.rungs).with_context(|| self.path.display().to_string())?;
        self.check_tests()?;
        self.check_dialects(dialects)?;
        self.check_published()
    }

    fn check_tests(&self) -> Result<()> {
        if self.tests.is_empty() {
            bail!("{}: a suite needs at least one [[test]]", self.path.display());
        }
        if self.contenders().is_empty() {
            bail!("{}: `contenders` is empty; name at least one", self.path.display());
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            bail!("{}: the tolerance {} is not between 0 and 1", self.path.display(), self.tolerance);
        }
        let mut seen = BTreeSet::new();
        for test in &self.tests {
            let line = self.line_of(test.title.span().start);
            ensure!(
                is_id(&test.id),
                "{}:{line}: the test's id \"{}\" is not {ID}",
                self.path.display(),
                test.id.escape_debug()
            );
            if let Some(complaint) = model::complaint(test) {
                bail!("{}:{line}: test {}: {complaint}", self.path.display(), test.id);
            }
            if let Some(complaint) = digest::complaint(test) {
                bail!("{}:{line}: test {}: {complaint}", self.path.display(), test.id);
            }
            self.check_data_of(test, line)?;
            self.check_mix(test)?;
            for need in &test.needs {
                if !seen.contains(need.as_str()) {
                    bail!(
                        "{}:{line}: test {} needs test {need}, which is not among the tests before it",
                        self.path.display(),
                        test.id
                    );
                }
            }
            if !seen.insert(test.id.as_str()) {
                bail!("{}:{line}: there are two tests with the id {}", self.path.display(), test.id);
            }
        }
        Ok(())
    }

    fn check_dialects(&self, known: &BTreeSet<String>) -> Result<()> {
        for test in &self.tests {
            let own = [&test.setup, &test.index, &test.statements, &test.check].into_iter().flatten();
            for template in own.chain(test.classes.iter().map(|class| &class.statements)) {
                for (line, dialect) in statements::dialects(template.get_ref()) {
                    if !known.contains(dialect) {
                        let names = known.iter().map(String::as_str);
                        bail!(
                            "{}:{}: {}",
                            self.path.display(),
                            self.template_line(template, line),
                            nearest::unknown("no engine speaks the dialect", dialect, "there are", names)
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// The data of a test must be there and of the kind that its model takes.
    fn check_data_of(&self, test: &Test, line: usize) -> Result<()> {
        let Some(name) = &test.data else { return Ok(()) };
        let place = || format!("{}:{line}: test {}", self.path.display(), test.id);
        let Some(data) = self.data.get(name) else {
            bail!("{}: there are no [data.{name}]", place());
        };
        let is_file = test.model == Model::ImportFile;
        match (&data.shape, test.model.is_key_value()) {
            (Shape::Rows { .. }, false) if !is_file => {}
            (Shape::File { .. }, _) if is_file => {}
            (Shape::Pairs { .. }, true) => {}
            _ => bail!("{}: the model {} takes other data than {name}", place(), test.model.name()),
        }
        ensure!(
            test.table.as_ref().is_none_or(|table| is_name(table)),
            "{}: the name of a table is letters, digits and '_', and begins with a letter",
            place()
        );
        let columns = data.columns();
        for name in test.differ.iter().flatten() {
            ensure!(
                columns.iter().any(|column| column.name == *name),
                "{}: there is no column {name}; there are {}",
                place(),
                columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
            );
        }
        ensure!(test.length != Some(0), "{}: a range has one pair at least", place());
        ensure!(test.one_by_one != Some(0), "{}: one operation at least must be timed", place());
        Ok(())
    }

    fn check_published(&self) -> Result<()> {
        for published in &self.published {
            let place = || format!("{}: {}", self.path.display(), published.source);
            for (system, seconds) in &published.seconds {
                let tests = self.tests.len() - published.begins(&self.tests);
                ensure!(
                    seconds.len() == tests,
                    "{} gives {} figures for {system}, but the suite has {tests} tests from the first of them",
                    place(),
                    seconds.len(),
                );
            }
            for test in published.rates.values().flat_map(|rates| rates.keys()) {
                let known = self.tests.iter().any(|known| known.id == *test);
                ensure!(known, "{} gives figures for a test {test}, which is not there", place());
            }
            for parameter in published.parameters.keys() {
                let known = self.parameters.contains_key(parameter);
                ensure!(known, "{} names a parameter {parameter}, which is not there", place());
            }
        }
        Ok(())
    }
}
