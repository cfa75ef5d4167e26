// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses without chance: by the number of the packet, counted as it reaches the link.

use tandem_scenario::effects::Drops;

#[derive(Debug)]
pub struct Counted {
    drops: Drops,
    seen: u64,
}

impl Counted {
    pub fn new(drops: Drops) -> Self {
        Self { drops, seen: 0 }
    }

    /// Is the next packet lost?
    pub fn strikes(&mut self) -> bool {
        self.seen += 1;
        match &self.drops {
            Drops::Packets(packets) => packets.binary_search(&self.seen).is_ok(),
            Drops::Every(every) => self.seen.is_multiple_of(*every),
            Drops::KeepEvery(every) => !self.seen.is_multiple_of(*every),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(drops: Drops) -> Vec<u64> {
        let mut counted = Counted::new(drops);
        (1..=9).filter(|_| counted.strikes()).collect()
    }

    #[test]
    fn packets_are_counted_from_one() {
        assert_eq!(lost(Drops::Packets(vec![1, 4])), [1, 4]);
        assert_eq!(lost(Drops::Every(3)), [3, 6, 9]);
        assert_eq!(lost(Drops::KeepEvery(4)), [1, 2, 3, 5, 6, 7, 9]);
    }
}
