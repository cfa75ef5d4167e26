// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `bbr3` believes was lost while a packet was under way, of which hosts keep no note, against a path that knows.

use std::sync::LazyLock;

use tandem_testing::run_c;

/// What `lost_since.c` streams for an ACK, packets.
#[derive(Debug)]
struct Row {
    /// Random losses of the run in 1/1000.
    loss: i64,
    believed: i64,
    truth: i64,
    believed_in_flight: i64,
    in_flight: i64,
    /// Found lost in this round of the controller's, and in the one before.
    of_round: i64,
    of_prior_round: i64,
    probes: bool,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let number = |b: &[u8]| i64::from_ne_bytes(b.try_into().unwrap());
    let row = |r: &[u8]| {
        let n: Vec<i64> = r.chunks_exact(8).map(number).collect();
        Row {
            loss: n[0],
            believed: n[1],
            truth: n[2],
            believed_in_flight: n[3],
            in_flight: n[4],
            of_round: n[5],
            of_prior_round: n[6],
            probes: n[7] == 1,
        }
    };
    run_c!("lost_since.c", sanitize: cfg!(feature = "sanitize")).chunks_exact(64).map(row).collect()
});

fn rows(loss: i64) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.loss == loss)
}

/// The first losses of a probe decide whether it was too high. [draft-ietf-ccwg-bbr 5.5.10.2]
#[test]
fn losses_after_a_round_without_any_are_exact() {
    let mut lossy = 0;
    for row in rows(0).filter(|row| row.of_prior_round == 0 && row.believed > 0) {
        assert_eq!(row.believed, row.truth, "{row:?}");
        lossy += u32::from(row.probes);
    }
    assert!(lossy > 20, "{lossy} ACKs of probes with losses");
}

#[test]
fn the_error_is_at_most_the_losses_of_two_rounds() {
    for loss in [0, 10] {
        let (mut error, mut count, mut most) = (0, 0, 0);
        for row in rows(loss) {
            let off = (row.believed - row.truth).abs();
            assert!(off <= row.of_round + row.of_prior_round, "{row:?}");
            (error, count, most) = (error + off, count + 1, most.max(off));
        }
        println!(
            "{loss}/1000: off by {:.3} on average, {most} at most, in {count} ACKs",
            f64::from(error as i32) / f64::from(count)
        );
        assert!(count > 50_000, "{count} ACKs");
    }
}

/// What is off in the losses is off in what was in flight; there two packets may be lost and not yet found besides.
#[test]
fn in_flight_is_as_exact_as_the_losses() {
    for row in ROWS.iter() {
        let (missing, off) = (row.in_flight - row.believed_in_flight, row.believed - row.truth);
        assert!((0..=2).contains(&(missing + off)), "{row:?}");
    }
}
