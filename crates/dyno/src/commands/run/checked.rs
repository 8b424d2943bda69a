//! From a request to a plan: what is wrong with a request is refused here, before anything is measured.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use dyno_engine::{Contender, Registry};
use dyno_lab::key;
use dyno_lab::trial::Servers;
use dyno_plan::{Plan, Selection, check_models, input_bytes, select};
use dyno_record::MadeBy;
use dyno_suite::progress::PlanningProgress;

use super::contenders::{available, check_reach, with_harness, with_limits};
use super::request::RunRequest;
use super::site::Site;
use super::{
    counted, experiment, kept, network, open_files, timed_statements, traffic, trust, watching, why,
};
use crate::cli::PlaceArgs;
use crate::commands::outcome::AsInput;
use crate::commands::planning;
use crate::progress::Progress;

/// A request whose contenders and tests are known to fit together, and which the user trusts.
pub struct CheckedRequest {
    pub request: RunRequest,
    /// All contenders, with the harness and the limits that apply to each.
    contenders: Vec<Contender>,
    selection: Vec<Selection>,
}

impl CheckedRequest {
    /// # Errors
    /// The request contradicts itself, or the user does not trust what it would load.
    pub fn new(request: RunRequest, registry: &Registry, place: &PlaceArgs) -> Result<CheckedRequest> {
        if let Some(MadeBy::Vendor(engine)) = &place.made_by {
            registry.engine(engine).context("--made-by").input()?;
        }
        let contenders = match request.schedule.sustain {
            // The harness stores nothing, so a rate that it reaches says nothing about an engine.
            Some(_) => request.contenders.clone(),
            None => with_harness(&request.contenders, registry).input()?,
        };
        let mut contenders = with_limits(contenders, &request.limits).input()?;
        if request.limits.round_trip_ns.is_some() {
            network::check(&contenders).input()?;
        }
        key::give(&mut contenders, place.key_file.as_deref()).input()?;
        if place.keep {
            contenders.iter().try_for_each(kept::check).input()?;
        }
        trust::confirm(&trust::of_contenders(&contenders, &request.origin), &request.origin, place.trust)?;
        // After the others are trusted and have their keys: it is they, under other conditions.
        if let Some(experiment) = &request.experiment {
            contenders.extend(experiment::neutralised(experiment, &contenders, &request.baseline));
        }
        let selection = select(&request.suite, request.only.as_deref()).input()?;
        // Agents have limits of their machines.
        if place.on.is_none() {
            open_files::allow(&request.suite, &request.parameters, &selection).input()?;
        }
        Ok(CheckedRequest { request, contenders, selection })
    }

    /// Leaves out those of the suite's contenders that are not available here.
    ///
    /// # Errors
    /// A contender that the user named is not available, or none of the suite's is.
    pub fn keep_available(&mut self, site: &Site, servers: &mut Servers) -> Result<()> {
        let Site { options, scratch, .. } = site;
        if !self.request.by_suite {
            return check_reach(&self.contenders, options, servers, scratch).input();
        }
        let does_tests =
            |contender: &Contender| check_models(&self.request.suite, &self.selection, contender);
        let contenders = std::mem::take(&mut self.contenders);
        let (found, missing) = available(contenders, does_tests, options, servers, scratch)?;
        self.contenders = found;
        self.request.left_out.extend(missing);
        self.request.keep(&self.contenders).input()
    }

    /// Makes the plan and writes its inputs; none where a signal came first.
    ///
    /// # Errors
    /// The plan cannot be made, or the user does not trust statements of a suite from elsewhere.
    pub fn plan(&self, site: &Site, place: &PlaceArgs, progress: &mut Progress) -> Result<Option<Plan>> {
        let planned = self.make_plan(site, place, progress);
        if !matches!(planned, Ok(Some(_))) {
            progress.finish();
        }
        planned
    }

    fn make_plan(&self, site: &Site, place: &PlaceArgs, progress: &mut Progress) -> Result<Option<Plan>> {
        let RunRequest { suite, parameters, origin, file, .. } = &self.request;
        let file = file.as_ref().map(|file| file.path.as_path());
        let bytes = input_bytes(suite, parameters, &self.selection, file).input()?;
        let bounds = dyno_plan::bounds(suite, parameters);
        // The statements that reach outside of the database, which planning finds on its thread.
        let reaching = Arc::new(OnceLock::new());
        let found = (origin.suite && !place.trust).then(|| reaching.clone());
        let work = {
            let (suite, parameters, file) = (suite.clone(), parameters.clone(), file.map(Path::to_owned));
            let (contenders, selection, inputs) =
                (self.contenders.clone(), self.selection.clone(), site.scratch.inputs());
            move |watch: &PlanningProgress| {
                if let Some(found) = found {
                    let _ = found.set(trust::of_statements(&suite, &parameters, &contenders, bounds, watch)?);
                }
                Plan::watched(&suite, &parameters, contenders, &selection, &inputs, file.as_deref(), watch)
            }
        };
        let memory = planning::memory(bounds);
        let Some(plan) = planning::make(work, memory, bytes, &site.options.interrupts, progress)? else {
            return Ok(None);
        };
        trust::confirm(reaching.get().map_or(&[], Vec::as_slice), origin, place.trust)?;
        if place.progress.is_some() {
            watching::check(&plan).input()?;
        }
        if self.request.schedule.counts {
            counted::check(&plan).input()?;
        }
        if self.request.schedule.why {
            why::check(&plan).input()?;
        }
        if self.request.schedule.round_trips {
            traffic::check(&plan).input()?;
        }
        if self.request.schedule.statements {
            timed_statements::check(&plan).input()?;
        }
        Ok(Some(plan))
    }
}
