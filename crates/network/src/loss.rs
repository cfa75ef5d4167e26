// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random loss, decided packet by packet before the queue.

use tandem_scenario::Loss;

use crate::Rng;

#[derive(Debug, Clone)]
pub struct LossModel {
    loss: Loss,
    in_bad_state: bool,
}

impl LossModel {
    pub fn new(loss: Loss) -> Self {
        Self { loss, in_bad_state: false }
    }

    /// Does it never lose a packet?
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        matches!(self.loss, Loss::None)
    }

    /// The channel is now this one. A channel with bursts that has changed is good.
    pub fn follow(&mut self, loss: Loss) {
        if self.loss != loss {
            *self = Self::new(loss);
        }
    }

    /// Is this packet lost?
    #[inline]
    pub fn strikes(&mut self, rng: &mut Rng) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Bernoulli(rate) => rng.chance(rate.0),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let (loss, leave) = if self.in_bad_state { (loss_bad, bad_to_good) } else { (loss_good, good_to_bad) };
                let lost = rng.chance(loss);
                self.in_bad_state ^= rng.chance(leave);
                lost
            }
        }
    }
}
