// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving half of TCP: cumulative ACKs, SACK (RFC 2018), D-SACK (RFC 2883), delayed ACKs (RFC 5681 section 4.2), PAWS, and what the
//! sender hears of ECN marks: that there was one (RFC 3168), or how many there have been (accurate ECN, RFC 9768).

mod row;

use crate::{
    Config, Ecn, Honesty, NEVER,
    paws::Paws,
    segment::{
        AGAIN, Block, Blocks, CWR, DATA_FLAGS, ECE, ECN_FIELD, Echo, Feedback, MAX_SACK_BLOCKS, SEQ_AND_FLAGS, sent_ms,
    },
};

/// Linux's TCP_DELACK_MIN. [RFC 1122 4.2.3.2]
const DELAYED_ACK_NS: u64 = 40_000_000;
/// Segments that Linux acknowledges at once at the start of a connection, so that slow start is not slowed.
const QUICK_ACKS: u32 = 16;

/// An ACK to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckOut {
    /// The next segment expected.
    pub next_expected: u64,
    /// `None` if nothing is missing, nothing came twice or again, and no mark was counted.
    pub feedback: Option<Feedback>,
    /// [`ECE`], or 0.
    pub flags: u8,
}

/// The receiving half of a connection. Times are nanoseconds, and come in order.
#[derive(Debug)]
pub struct Receiver {
    /// The next segment expected; all before it have arrived.
    pub next_expected: u64,
    /// Segments beyond `next_expected` that have arrived: a ring of bits.
    arrived: BitRing,
    /// The last blocks reported, most recent first, as Linux keeps them.
    blocks: Blocks,
    out_of_order: u64,
    /// One above the highest of them, while there is one.
    arrived_end: u64,
    delayed_acks: bool,
    /// Segments that share a delayed ACK.
    ack_every: u32,
    honesty: Honesty,
    quick_acks_left: u32,
    /// Segments that wait for a delayed ACK.
    unacknowledged: u32,
    /// When a delayed ACK must go, ns; [`NEVER`]: none waits.
    pub ack_deadline: u64,
    /// A mark has arrived, and its sender has not yet said that it has slowed down [RFC 3168 6.1.3]. With accurate ECN: the last
    /// packet was marked.
    echoes_mark: bool,
    /// Accurate ECN: packets that have arrived with a mark.
    marks: Option<u32>,
    paws: Paws,
    /// The last segment that filled a hole or had been sent before, and that came as the next expected ...
    echo: Echo,
    /// ... and the next expected after it: as long as that is the next expected, ACKs tell of it.
    echoed_at: u64,
}

impl Receiver {
    pub(crate) fn new(delayed_acks: bool) -> Self {
        Self {
            next_expected: 0,
            arrived: BitRing::default(),
            blocks: Blocks::default(),
            out_of_order: 0,
            arrived_end: 0,
            delayed_acks,
            ack_every: 2,
            honesty: Honesty::Honest,
            quick_acks_left: QUICK_ACKS,
            unacknowledged: 0,
            ack_deadline: NEVER,
            echoes_mark: false,
            marks: None,
            paws: Paws::default(),
            echo: Echo { seq: 0, again: false },
            echoed_at: NEVER,
        }
    }

    /// That of a flow.
    pub fn of(config: &Config) -> Self {
        let marks = (config.ecn == Ecn::Accurate).then_some(0);
        Self { marks, ack_every: config.ack_every, honesty: config.receiver, ..Self::new(config.delayed_acks) }
    }

    /// That of a new connection of the flow. Its numbers go on where the old ones end, and so does its count of marks.
    pub fn renewed(&self) -> Self {
        let Self { next_expected, marks, delayed_acks, ack_every, honesty, .. } = *self;
        Self { next_expected, marks, ack_every, honesty, ..Self::new(delayed_acks) }
    }

    /// A segment has arrived, with its timestamp and what it says of itself in the upper bits. Returns the ACK to send now, if any.
    #[inline]
    pub fn on_data(&mut self, now: u64, segment: u64) -> Option<AckOut> {
        if !self.is_next(segment) {
            return self.on_unusual(now, segment);
        }
        self.on_next(now)
    }

    /// Is this the next segment of an unbroken row, with nothing special about it?
    #[inline(always)]
    pub fn is_next(&self, segment: u64) -> bool {
        // One comparison: three cost six instructions more.
        let difference = segment & SEQ_AND_FLAGS ^ self.next_expected;
        difference | self.out_of_order | self.paws.recent_ms() == 0
    }

    #[inline]
    fn on_next(&mut self, now: u64) -> Option<AckOut> {
        self.take_next(now).then_some(AckOut { next_expected: self.next_expected, feedback: None, flags: 0 })
    }

    /// The [next](Self::is_next) segment has arrived. Returns whether its ACK goes now; then it says `next_expected` and nothing else.
    #[inline(always)]
    pub fn take_next(&mut self, now: u64) -> bool {
        self.next_expected += 1;
        !(self.delayed_acks && self.delays_ack(now))
    }

    #[cold]
    fn on_unusual(&mut self, now: u64, segment: u64) -> Option<AckOut> {
        let sent_ms = sent_ms(now, segment);
        let segment = segment & SEQ_AND_FLAGS;
        let seq = segment & !DATA_FLAGS;
        let again = segment & AGAIN != 0;
        if self.honesty == Honesty::EarlyAcks {
            // All before it counts as come, so nothing is ever missing.
            self.next_expected = self.next_expected.max(seq);
        }
        if self.paws.rejects(sent_ms) {
            return Some(self.on_rejected(seq));
        }
        if again {
            self.paws.on_again(sent_ms, seq, self.last_ack());
        } else if seq == self.next_expected {
            self.paws.on_next(sent_ms);
        }
        if seq == self.next_expected && (again || self.out_of_order > 0) {
            self.echo = Echo { seq, again };
            self.echoed_at = seq + 1;
        }
        if seq == segment {
            return self.on_segment(now, seq);
        }
        let is_marked = segment & ECN_FIELD == ECN_FIELD && self.honesty != Honesty::HidesMarks;
        let has_slowed_down = segment & CWR != 0;
        if self.marks.is_some() {
            return self.on_counted(now, seq, is_marked);
        }
        let was_echoing = self.echoes_mark;
        // [RFC 3168 6.1.3]
        self.echoes_mark = is_marked || was_echoing && !has_slowed_down;
        let ack = self.on_segment(now, seq);
        // As Linux: the sender's window may be so small that it waits for this ACK.
        let is_urgent = has_slowed_down || is_marked && !was_echoing;
        let ack = ack.or_else(|| is_urgent.then(|| self.ack(None)));
        ack.map(|ack| AckOut { flags: ack.flags | self.ece(), ..self.complete(ack) })
    }

    /// PAWS drops a segment. As in Linux, an ACK goes at once, and what the segment said of ECN goes unheard. Linux lets pure ACKs pass, which may
    /// arrive in a different order than they were sent and do no harm; data never. [RFC 7323 5.3] [RFC 2883 4.3]
    fn on_rejected(&mut self, seq: u64) -> AckOut {
        self.ack((seq < self.next_expected).then_some(seq))
    }

    /// The number of the last ACK sent, Last.ACK.sent [RFC 7323 4.3].
    fn last_ack(&self) -> u64 {
        self.next_expected - u64::from(self.unacknowledged)
    }

    /// With accurate ECN each ACK has the count [RFC 9768 3.2.2], and the first mark after a packet without one is acknowledged at once
    /// [RFC 9768 3.2.2.5.1]. Delayed ACKs wait for two packets as a rule, so two marks seldom wait.
    #[inline]
    fn on_counted(&mut self, now: u64, seq: u64, is_marked: bool) -> Option<AckOut> {
        let is_change = is_marked && !self.echoes_mark;
        self.echoes_mark = is_marked;
        self.marks = self.marks.map(|marks| marks.wrapping_add(is_marked.into()));
        let ack = self.on_segment(now, seq).or_else(|| is_change.then(|| self.ack(None)));
        ack.map(|ack| self.complete(ack))
    }

    /// The ACK of a segment that was in order, with what it must say nevertheless.
    #[inline]
    fn complete(&self, ack: AckOut) -> AckOut {
        AckOut { feedback: ack.feedback.or_else(|| self.feedback(None)), ..ack }
    }

    #[inline]
    fn on_segment(&mut self, now: u64, seq: u64) -> Option<AckOut> {
        let is_next = seq == self.next_expected && self.out_of_order == 0;
        if is_next { self.on_next(now) } else { Some(self.on_disorder(seq)) }
    }

    fn ece(&self) -> u8 {
        if self.echoes_mark && self.marks.is_none() { ECE } else { 0 }
    }

    /// Does the ACK of this segment, which has come in order, wait for the next one? [RFC 1122 4.2.3.2]
    fn delays_ack(&mut self, now: u64) -> bool {
        self.unacknowledged += 1;
        if self.quick_acks_left == 0 && self.unacknowledged < self.ack_every {
            self.ack_deadline = now + DELAYED_ACK_NS;
            return true;
        }
        self.quick_acks_left = self.quick_acks_left.saturating_sub(1);
        self.acknowledged();
        false
    }

    fn acknowledged(&mut self) {
        self.unacknowledged = 0;
        self.ack_deadline = NEVER;
    }

    /// The delayed ACK's time has come.
    pub fn on_ack_deadline(&mut self) -> AckOut {
        self.ack(None)
    }

    /// An ACK now; `duplicate` has come twice.
    #[inline]
    fn ack(&mut self, duplicate: Option<u64>) -> AckOut {
        self.acknowledged();
        AckOut { next_expected: self.next_expected, feedback: self.feedback(duplicate), flags: self.ece() }
    }

    #[inline]
    fn feedback(&self, duplicate: Option<u64>) -> Option<Feedback> {
        let blocks = (self.out_of_order > 0).then_some(self.blocks);
        let echo = (self.echoed_at == self.next_expected).then_some(self.echo);
        Feedback::of(blocks, self.marks.unwrap_or(0), duplicate, echo)
    }

    /// Anything but the next segment of an unbroken row is acknowledged at once [RFC 5681 4.2] [RFC 6582 5].
    #[cold]
    fn on_disorder(&mut self, seq: u64) -> AckOut {
        if seq < self.next_expected || seq > self.next_expected && self.has_arrived(seq) {
            // It has come twice [RFC 2883 4].
            return self.ack(Some(seq));
        }
        if seq > self.next_expected {
            self.note_arrived(seq);
            self.report(seq);
            return self.ack(None);
        }
        self.next_expected += 1;
        while self.out_of_order > 0 && self.arrived.remove(self.next_expected) {
            self.next_expected += 1;
            self.out_of_order -= 1;
        }
        self.echoed_at = self.next_expected;
        let next = self.next_expected;
        let left = self.blocks.into_iter().filter(|b| b.start > next);
        self.blocks = first_blocks(left);
        self.ack(None)
    }

    /// Has this segment, beyond the next one, arrived before? What lies beyond all that have may be beyond the ring, whose bit for it is another's.
    fn has_arrived(&self, seq: u64) -> bool {
        seq < self.arrived_end && self.arrived.has(seq)
    }

    /// A segment beyond the next one has arrived.
    #[inline]
    fn note_arrived(&mut self, seq: u64) {
        self.arrived.insert(self.next_expected, seq);
        self.out_of_order += 1;
        self.arrived_end = self.arrived_end.max(seq + 1);
    }

    /// Puts the block that holds `seq` first, merged with those that it touches. [RFC 2018 4]
    fn report(&mut self, seq: u64) {
        let mut newest = Block { start: seq, end: seq + 1 };
        let mut others = Blocks::default();
        let mut kept = 0;
        for block in self.blocks.into_iter().filter(|b| b.start < b.end) {
            if block.end == newest.start {
                newest.start = block.start;
            } else if block.start == newest.end {
                newest.end = block.end;
            } else {
                others[kept] = block;
                kept += 1;
            }
        }
        self.blocks = first_blocks(std::iter::once(newest).chain(others.into_iter().take(kept)));
    }
}

fn first_blocks(blocks: impl Iterator<Item = Block>) -> Blocks {
    let mut result = Blocks::default();
    blocks.take(MAX_SACK_BLOCKS).enumerate().for_each(|(i, b)| result[i] = b);
    result
}

/// A set of segments within a sliding window: one bit each, grown as needed.
#[derive(Debug, Default)]
struct BitRing {
    words: Vec<u64>,
}

impl BitRing {
    fn place(&self, seq: u64) -> (usize, u64) {
        ((seq >> 6) as usize & (self.words.len() - 1), 1 << (seq & 63))
    }

    fn has(&self, seq: u64) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let (word, bit) = self.place(seq);
        self.words[word] & bit != 0
    }

    /// `low` is the lowest segment that may be in the set.
    #[inline]
    fn insert(&mut self, low: u64, seq: u64) {
        // One word more than the span, since it may start in the middle of a word.
        let needed = (seq - low) / 64 + 2;
        if needed > self.words.len() as u64 {
            self.grow(low, needed.next_power_of_two() as usize);
        }
        let (word, bit) = self.place(seq);
        self.words[word] |= bit;
    }

    #[cold]
    fn grow(&mut self, low: u64, needed: usize) {
        let old = std::mem::replace(self, BitRing { words: vec![0; needed.max(4)] });
        for seq in low..low + 64 * (old.words.len() as u64).saturating_sub(1) {
            if old.has(seq) {
                let (word, bit) = self.place(seq);
                self.words[word] |= bit;
            }
        }
    }

    fn remove(&mut self, seq: u64) -> bool {
        let had = self.has(seq);
        if had {
            let (word, bit) = self.place(seq);
            self.words[word] &= !bit;
        }
        had
    }
}
