//! The numbers of a mix, evaluated with the parameters of a run.

use anyhow::{Context, Result, ensure};
use dyno_protocol::{CONNECT, TimeWindow};
use dyno_record::Parameters;

use super::super::{Bounds, NO_SQL, Renderer, Suite, TableForm, Test};
use super::{Course, Items, Mix, Number, Source, check_drawn, source};
use crate::progress::PlanningProgress;

/// The most operations of a session: with more, a client counts as staying connected.
const LONGEST_SESSION: f64 = 10_000.0;

/// The time for which an operation may wait for locks and be tried again unless the suite sets one, in nanoseconds.
const DEFAULT_RETRY_NS: u64 = 10_000_000_000;

impl Suite {
    /// The numbers of a mix. They are the same for every dialect.
    ///
    /// # Errors
    /// An expression is invalid, or a number makes no sense.
    pub fn mix(&self, test: &Test, parameters: &Parameters) -> Result<Mix> {
        let watch = PlanningProgress::default();
        let renderer = Renderer::new(parameters, NO_SQL, TableForm::default(), Bounds::default(), &watch);
        let written = WrittenMix { suite: self, test, renderer: &renderer };
        let clients = written.clients()?;
        let (lasts, count) = written.length()?;
        let rate = written.rate(lasts.is_some())?;
        let think_ns = written.think(rate.is_some())?;
        let patience_ns = written.patience()?;
        let session = written.session(rate.is_some())?;
        let classes = self.drawn(test, &renderer)?;
        check_drawn(&classes, clients, rate.is_some()).with_context(|| written.at("class"))?;
        let (values, lists) = (written.values()?, written.lists()?);
        written.check_sources(&values, &lists)?;
        Ok(Mix { clients, lasts, count, rate, think_ns, patience_ns, session, classes, values, lists })
    }
}

/// A test's mix as its suite writes it; messages name the file, the line and the key.
struct WrittenMix<'a> {
    suite: &'a Suite,
    test: &'a Test,
    renderer: &'a Renderer<'a>,
}

impl WrittenMix<'_> {
    fn at(&self, key: &str) -> String {
        let line = self.suite.key_line(self.test, key);
        format!("{}:{line}: test {}: `{key}`", self.suite.path.display(), self.test.id)
    }

    fn number(&self, key: &str, written: &Option<Number>) -> Result<Option<f64>> {
        let value = written.as_ref().map(|number| number.value(self.renderer));
        value.transpose().with_context(|| self.at(key))
    }

    /// A number of seconds, in nanoseconds.
    fn seconds(&self, key: &str, written: &Option<Number>) -> Result<Option<u64>> {
        let seconds = self.number(key, written)?;
        let fits = seconds.is_none_or(|seconds| (0.0..=86_400.0).contains(&seconds));
        ensure!(fits, "{} is from 0 to 86400 seconds", self.at(key));
        Ok(seconds.map(|seconds| (seconds * 1e9) as u64))
    }

    fn clients(&self) -> Result<u32> {
        let clients = self.number("clients", &self.test.clients)?.unwrap_or(1.0);
        ensure!((1.0..=10_000.0).contains(&clients), "{} is from 1 to 10000", self.at("clients"));
        Ok(clients as u32)
    }

    /// The time that the mix lasts, or the number of operations of each client.
    fn length(&self) -> Result<(Option<TimeWindow>, Option<u64>)> {
        let duration = self.seconds("duration", &self.test.duration)?.filter(|&duration| duration > 0);
        let warm_up_ns = self.seconds("warm_up", &self.test.warm_up)?.unwrap_or(0);
        let count = self.number("count", &self.test.count)?.filter(|&count| count > 0.0);
        ensure!(
            duration.is_some() != count.is_some(),
            "{} and `count`: a mix has one of the two, more than 0",
            self.at("duration")
        );
        let lasts = duration.map(|duration_ns| TimeWindow { duration_ns, warm_up_ns });
        Ok((lasts, count.map(|count| count as u64)))
    }

    fn rate(&self, lasts: bool) -> Result<Option<Course>> {
        let rate = self.test.rate.as_ref().map(|rate| rate.course(self.renderer)).transpose();
        let rate = rate.with_context(|| self.at("rate"))?.filter(|rate| rate.bounds().1 > 0.0);
        ensure!(rate.is_none() || lasts, "{} needs a `duration`", self.at("rate"));
        Ok(rate)
    }

    fn think(&self, has_rate: bool) -> Result<Option<u64>> {
        let think = self.seconds("think", &self.test.think)?.filter(|&think| think > 0);
        ensure!(
            think.is_none() || !has_rate,
            "{} and `rate`: operations that arrive at a rate do not wait for a client to think; use only one of them",
            self.at("think")
        );
        Ok(think)
    }

    fn patience(&self) -> Result<u64> {
        let patience = self.seconds("patience", &self.test.patience)?.unwrap_or(DEFAULT_RETRY_NS);
        ensure!(patience > 0, "{} is more than 0 seconds", self.at("patience"));
        Ok(patience)
    }

    /// The number of operations of a session, where clients come and go.
    fn session(&self, has_rate: bool) -> Result<Option<u32>> {
        let Some(session) = self.number("sessions", &self.test.sessions)?.filter(|&count| count != 0.0)
        else {
            return Ok(None);
        };
        ensure!(
            (1.0..=LONGEST_SESSION).contains(&session) && session.fract() == 0.0,
            "{}: a session has 1 to {LONGEST_SESSION:.0} operations",
            self.at("sessions")
        );
        ensure!(
            has_rate,
            "{} needs a `rate`, as of --rate 100: the operations of all sessions that arrive in a second",
            self.at("sessions")
        );
        ensure!(
            self.test.classes.iter().all(|class| class.name.get_ref() != CONNECT),
            "{}: the time to connect is reported as the class {CONNECT}, so no class has that name",
            self.at("sessions")
        );
        Ok(Some(session as u32))
    }

    fn values(&self) -> Result<Vec<(String, Source)>> {
        let values = self.test.values.iter().map(|(name, values)| {
            let source = values.source(self.renderer, &self.suite.words);
            Ok((name.clone(), source.with_context(|| self.at(&format!("values.{name}")))?))
        });
        values.collect()
    }

    fn lists(&self) -> Result<Vec<(String, Items)>> {
        let lists = self.test.lists.iter().map(|(name, list)| {
            let items = list.items(self.renderer, &self.suite.words);
            Ok((name.clone(), items.with_context(|| self.at(&format!("lists.{name}")))?))
        });
        lists.collect()
    }

    /// Refuses values that come from a class that does not exist, and what `source::check` refuses.
    fn check_sources(&self, values: &[(String, Source)], lists: &[(String, Items)]) -> Result<()> {
        let columns = lists.iter().flat_map(|(_, items)| &items.columns);
        for (name, source) in values.iter().chain(columns) {
            let Source::Next(class, _) = source else { continue };
            let is_there = self.test.classes.iter().any(|known| known.name.get_ref() == class);
            ensure!(is_there, "{}: there is no class {class}", self.at(&format!("values.{name}")));
        }
        source::check(values, lists)
            .with_context(|| format!("{}: test {}", self.suite.path.display(), self.test.id))
    }
}
