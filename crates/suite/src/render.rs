//! Renders the tests of a suite for one dialect.

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{NamedQuery, StoreInvariant};
use dyno_record::Parameters;
use toml::Spanned;

use super::{
    Bounds, Class, Invariant, Model, NO_SQL, Rendered, RenderedClass, Renderer, Suite, TableForm, Test,
    Transaction, statements,
};
use crate::mix::store::count;
use crate::progress::PlanningProgress;

impl Suite {
    /// All tests for one dialect. They are rendered in order, all of them, because they share one
    /// stream of random numbers.
    pub fn render(&self, parameters: &Parameters, dialect: &str) -> Result<Vec<Rendered>> {
        let form = TableForm::default();
        self.render_form(parameters, dialect, form, Bounds::default(), &PlanningProgress::default())
    }

    /// All tests for one dialect, with tables of a form.
    pub fn render_form(
        &self,
        parameters: &Parameters,
        dialect: &str,
        form: TableForm,
        bounds: Bounds,
        watch: &PlanningProgress,
    ) -> Result<Vec<Rendered>> {
        let renderer = Renderer::new(parameters, dialect, form, bounds, watch);
        let render = |test: &Test| {
            let text = |template: &Spanned<String>| {
                watch.begin_rendering(self.template_place(test, template, 1));
                let text = renderer.render(template.get_ref());
                watch.end_rendering();
                text.map_err(|error| self.at_template(test, template, &error))
            };
            self.render_test(test, &text, dialect)
        };
        self.tests.iter().map(render).collect()
    }

    fn render_test(
        &self,
        test: &Test,
        render: &dyn Fn(&Spanned<String>) -> Result<String>,
        dialect: &str,
    ) -> Result<Rendered> {
        let list = |template| list(template, render, dialect);
        let (setup, index) = (list(&test.setup)?, list(&test.index)?);
        let statements = self.statements(test, list(&test.statements)?, dialect)?;
        let does = dialect != NO_SQL || test.is_for_stores();
        let classes = test.classes.iter().filter(|_| does);
        let classes = classes.map(|class| self.render_class(test, class, render, dialect));
        let classes: Vec<RenderedClass> = classes.collect::<Result<_>>()?;
        let check = test.check.as_ref().filter(|_| dialect != NO_SQL);
        let check = check.map(|check| self.one_query(test, check, &render(check)?, dialect)).transpose()?;
        let says = test.invariants.iter().map(|one| Ok(render(&one.says)?.trim().to_owned()));
        let invariants: Vec<String> = says.collect::<Result<_>>()?;
        let all = || self.all_invariants(test, &invariants, render, dialect);
        let check = match check {
            None if !invariants.is_empty() && dialect != NO_SQL => Some(all()?),
            check => check,
        };
        let queries = match dialect {
            NO_SQL => Vec::new(),
            _ => self.named_queries(test, &invariants, render, dialect)?,
        };
        let line = |invariant: &Invariant| self.template_line(&invariant.says, 1);
        let invariant_lines = test.invariants.iter().map(line).collect();
        let counts = match dialect {
            NO_SQL if does => self.store_invariants(test, &invariants, render)?,
            _ => Vec::new(),
        };
        let store = self.store(test, &classes, counts.iter().map(|(_, store)| store))?;
        Ok(Rendered {
            id: test.id.clone(),
            title: render(&test.title)?.trim().to_owned(),
            setup,
            index,
            statements,
            classes,
            check,
            queries,
            invariants,
            invariant_lines,
            store,
            counts: counts.into_iter().map(|(counts, _)| counts).collect(),
        })
    }

    /// The statements of a test as they are executed, with BEGIN and COMMIT where they are one transaction.
    fn statements(&self, test: &Test, mut statements: Vec<String>, dialect: &str) -> Result<Vec<String>> {
        if let Some(template) = test.statements.as_ref().filter(|_| dialect != NO_SQL) {
            let (line, place) = (self.line_of(template.span().start), self.path.display());
            if statements.is_empty() {
                bail!("{place}:{line}: test {} has no statement for {dialect}", test.id);
            }
            if test.model == Model::Scan && statements.len() > 1 {
                bail!("{place}:{line}: test {} is a scan, which takes one query", test.id);
            }
        }
        if test.transaction == Transaction::One {
            statements.insert(0, "BEGIN".into());
            statements.push("COMMIT".into());
        }
        Ok(statements)
    }

    /// The query of each invariant, with the name that a message gives it.
    fn named_queries(
        &self,
        test: &Test,
        says: &[String],
        render: &dyn Fn(&Spanned<String>) -> Result<String>,
        dialect: &str,
    ) -> Result<Vec<NamedQuery>> {
        let queries = test.invariants.iter().zip(says).map(|(invariant, says)| {
            let place = self.template_place(test, &invariant.says, 1);
            let query = self.one_query(test, &invariant.query, &render(&invariant.query)?, dialect)?;
            Ok(NamedQuery { says: format!("\"{says}\" ({place})"), query })
        });
        queries.collect()
    }

    /// The one store of a mix, of whose operations and invariants these are.
    fn store<'a>(
        &self,
        test: &Test,
        classes: &'a [RenderedClass],
        counted: impl Iterator<Item = &'a String>,
    ) -> Result<Option<String>> {
        let mut names = classes.iter().filter_map(|class| class.store.as_ref()).chain(counted);
        let Some(first) = names.next() else { return Ok(None) };
        ensure!(
            names.all(|name| name == first),
            "{}: test {}: all operations and invariants of a mix are about one store",
            self.path.display(),
            test.id
        );
        Ok(Some(first.clone()))
    }

    /// The invariants of a test in a store, each with the count of its violations and the store's name.
    fn store_invariants(
        &self,
        test: &Test,
        says: &[String],
        render: &dyn Fn(&Spanned<String>) -> Result<String>,
    ) -> Result<Vec<(StoreInvariant, String)>> {
        let one = |(invariant, says): (&Invariant, &String)| {
            let query = self.one_query(test, &invariant.query, &render(&invariant.query)?, NO_SQL)?;
            let counted = count(&query);
            let (counts, store) =
                counted.with_context(|| self.template_place(test, &invariant.query, 1).to_string())?;
            Ok((StoreInvariant { says: says.clone(), counts }, store))
        };
        test.invariants.iter().zip(says).map(one).collect()
    }

    fn render_class(
        &self,
        test: &Test,
        class: &Class,
        render: &dyn Fn(&Spanned<String>) -> Result<String>,
        dialect: &str,
    ) -> Result<RenderedClass> {
        let statements = statements::split(&render(&class.statements)?, dialect);
        ensure!(
            !statements.is_empty(),
            "{}: class {} has no statement for {dialect}",
            self.template_place(test, &class.statements, 1),
            class.name.get_ref()
        );
        self.class(test, class, &statements, dialect)
    }

    /// One query for all invariants: of each its place, what it says, and how many break it.
    fn all_invariants(
        &self,
        test: &Test,
        says: &[String],
        render: &dyn Fn(&Spanned<String>) -> Result<String>,
        dialect: &str,
    ) -> Result<String> {
        let one = |(place, (invariant, says)): (usize, (&Invariant, &String))| {
            let query = self.one_query(test, &invariant.query, &render(&invariant.query)?, dialect)?;
            Ok(format!(
                "SELECT {place} AS place, {} AS says, ({query}) AS broken{}",
                statements::literal(says, dialect),
                statements::one_row(dialect)
            ))
        };
        let all = (1..).zip(test.invariants.iter().zip(says)).map(one).collect::<Result<Vec<_>>>()?;
        Ok(format!("{} ORDER BY place", all.join(" UNION ALL ")))
    }

    /// The query of a check, whose rendered text this is.
    fn one_query(&self, test: &Test, check: &Spanned<String>, text: &str, dialect: &str) -> Result<String> {
        let mut queries = statements::split(text, dialect);
        match (queries.pop(), queries.len()) {
            (Some(query), 0) => Ok(query),
            (_, others) => {
                let line = self.line_of(check.span().start);
                let count = if others == 0 { "no query".into() } else { format!("{} queries", others + 1) };
                bail!(
                    "{}:{line}: the check of test {} has {count} for {dialect}; it takes exactly one",
                    self.path.display(),
                    test.id
                )
            }
        }
    }
}

/// The statements of a template; none for engines without SQL.
fn list(
    template: &Option<Spanned<String>>,
    render: &dyn Fn(&Spanned<String>) -> Result<String>,
    dialect: &str,
) -> Result<Vec<String>> {
    match template {
        Some(template) if dialect != NO_SQL => Ok(statements::split(&render(template)?, dialect)),
        _ => Ok(Vec::new()),
    }
}
