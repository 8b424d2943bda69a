//! Draws the class of the next step.

use anyhow::{Context, Result};
use dyno_suite::{Course, Mix};
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, weighted::WeightedIndex};

/// The weights by which classes are drawn.
pub enum Classes {
    /// By weights that stay.
    Steady(WeightedIndex<f64>),
    /// By weights that change with the time.
    Changing(Vec<Course>),
}

impl Classes {
    /// Those of a client, from 0, or of all that share a file of steps.
    pub fn new(mix: &Mix, client: u64) -> Result<Classes> {
        let only = mix.only_class(client);
        let is_own = |place: usize, shared: bool| only.map_or(shared, |only| only == place);
        let weights = mix.classes.iter().enumerate().map(|(place, class)| {
            let is_own = is_own(place, class.clients.is_none());
            if is_own { class.weight.clone() } else { Course::steady(0.0) }
        });
        let weights: Vec<Course> = weights.collect();
        let steady: Option<Vec<f64>> = weights.iter().map(Course::value).collect();
        Ok(match steady {
            Some(weights) => Classes::Steady(WeightedIndex::new(weights).context("no class can be drawn")?),
            None => Classes::Changing(weights),
        })
    }

    /// The position of the next class, at a moment in seconds since operations began to count.
    pub fn draw(&self, moment: f64, rng: &mut ChaCha8Rng) -> usize {
        match self {
            Classes::Steady(weights) => weights.sample(rng),
            Classes::Changing(courses) => {
                let weights = courses.iter().map(|course| course.at(moment));
                // If all weights are 0 at a moment, the first class with a weight at another moment is done.
                WeightedIndex::new(weights).map_or_else(
                    |_| courses.iter().position(|course| course.bounds().1 > 0.0).unwrap_or(0),
                    |weights| weights.sample(rng),
                )
            }
        }
    }
}
