//! Shares of cases that hold in a short run too.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

/// The number of cases over which a share holds almost exactly.
const DECK: usize = 200;

/// Cards of which a share is 1, shuffled: so it holds in a short run too.
pub struct Deck {
    share: f64,
    cards: Vec<bool>,
    /// The fraction of a card by which the decks so far fall short of the share.
    over: f64,
}

impl Deck {
    /// Those of a share.
    pub fn new(share: f64) -> Deck {
        Deck { share, cards: Vec::new(), over: 0.0 }
    }

    /// True if the next case belongs to the share.
    pub fn draw(&mut self, rng: &mut ChaCha8Rng) -> bool {
        if self.cards.is_empty() {
            let exact = self.share * DECK as f64 + self.over;
            let ones = exact.round();
            self.over = exact - ones;
            self.cards = (0..DECK).map(|card| (card as f64) < ones).collect();
            self.cards.shuffle(rng);
        }
        self.cards.pop().unwrap_or_default()
    }
}
