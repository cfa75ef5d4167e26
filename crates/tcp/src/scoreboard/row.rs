// SPDX-License-Identifier: MIT OR Apache-2.0
//! ACKs that say no more than that the next segments of a row have come, each of them sent once: most of all. What [`Scoreboard::on_ack`] finds out
//! about each segment is known of these beforehand.

use std::ops::Range;

use super::{Delivered, SACKED, Scoreboard, Segment, Transmission};
use crate::segment::Blocks;

impl Scoreboard {
    /// Takes in an ACK without SACK blocks while nothing outstanding is flagged; `None` if it acknowledges nothing new. `latest` is now less the
    /// smallest RTT.
    #[inline(always)]
    pub fn on_next_acked(&mut self, latest: u64, next_expected: u64) -> Option<Delivered> {
        let first = self.una;
        self.on_usual_ack(next_expected)?;
        Some(Delivered { advanced: true, ..self.delivered_in_row(latest, first..self.una) })
    }

    /// As [`Reordering::adapt`](super::Reordering::adapt) when the segments from `first` on have been acknowledged by number. `latest` is now less the
    /// smallest RTT before.
    #[inline(always)]
    pub fn adapt_to_row(&mut self, now: u64, latest: u64, first: u64) {
        let delivered = self.delivered_in_row(latest, first..self.una);
        self.reordering.adapt(now, &delivered);
    }

    /// The same where the last of them, `seq`, was sent at `sent`, an RTT ago that is no less than the smallest before.
    #[inline(always)]
    pub fn adapt_to_last(&mut self, now: u64, seq: u64, sent: u64) {
        let last = Some(Transmission { sent, seq, again: false });
        let delivered =
            Delivered { last_sent: last, last_transmission: last, last_counted: Some(sent), ..Delivered::default() };
        self.reordering.adapt(now, &delivered);
    }

    /// Takes in the SACK blocks of an ACK if they say no more than those of the last one, but that segments have come that lie beyond all that
    /// had come. `None`: they say something else, and are not taken in.
    #[inline(always)]
    pub fn on_next_sacked(&mut self, latest: u64, blocks: &Blocks) -> Option<Delivered> {
        let row = self.row_beyond(blocks)?;
        for seq in row.clone() {
            let segment = self.segments.slot(seq);
            *segment = Segment::new(segment.sent(), SACKED);
        }
        (self.flagless_from, self.sacked_end) = (row.end, row.end);
        self.sacked += row.end - row.start;
        if self.judged == row.start {
            // Nothing before it waits for judgement, and what is SACKed is no loss.
            self.judged = row.end;
            self.sacked_below_judged += row.end - row.start;
        }
        self.last_blocks = *blocks;
        Some(self.delivered_in_row(latest, row))
    }

    /// The segments by which these blocks are more than the last ones, if none of these has a flag: then none has been SACKed, lost or sent again.
    #[inline(always)]
    fn row_beyond(&self, blocks: &Blocks) -> Option<Range<u64>> {
        let ([newest, others @ ..], [last_newest, last_others @ ..]) = (blocks, &self.last_blocks);
        let start = if newest.start == last_newest.start && others == last_others {
            last_newest.end
        } else if *others == self.last_blocks[..others.len()] {
            newest.start
        } else {
            return None;
        };
        let row = start..newest.end;
        (row.start >= self.flagless_from.max(self.una) && row.end <= self.nxt && !row.is_empty()).then_some(row)
    }

    /// What has been delivered if it is these segments, the first of which were sent first.
    #[inline(always)]
    fn delivered_in_row(&self, latest: u64, row: Range<u64>) -> Delivered {
        let sent = |seq| self.segments.get(seq).sent();
        let transmission = |seq| Transmission { sent: sent(seq), seq, again: false };
        let last = row.end - 1;
        let last_transmission = row.clone().rev().find(|&seq| sent(seq) <= latest).map(transmission);
        Delivered {
            segments: row.end - row.start,
            advanced: false,
            oldest_sent: Some(sent(row.start)),
            newest_sent: Some(sent(last)),
            last_sent: Some(transmission(last)),
            last_transmission,
            last_counted: last_transmission.map(|transmission| transmission.sent),
            lowest_original: Some(row.start),
        }
    }
}
