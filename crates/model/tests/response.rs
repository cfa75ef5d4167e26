// SPDX-License-Identifier: MIT OR Apache-2.0
//! Response functions against the drafts' table and the textbook.

use tandem_controllers::{Params, find};
use tandem_model::response::Response;

fn window(controller: &str, loss: f64) -> f64 {
    Response::of(&Params::new(find(controller).unwrap())).unwrap().window_packets(loss)
}

/// draft-sridharan-tcpm-ctcp-02, Table 1, column CTCP. Its constant is rounded to 0.255, hence 0.3 %.
#[test]
fn compound_as_the_draft_prints_it() {
    let table = [(1e-3, 64.0), (1e-4, 404.0), (1e-5, 2552.0), (1e-6, 16107.0), (1e-7, 101630.0), (1e-10, 25528453.0)];
    for (loss, printed) in table {
        let found = window("compound", loss);
        assert!((found / printed - 1.0).abs() < 0.003 || (found - printed).abs() < 0.6, "{loss}: {found}, {printed}");
    }
}

/// 1.22 / sqrt(p), RFC 3649 section 3 prints 1.2 / sqrt(p).
#[test]
fn reno_is_the_textbooks() {
    for (loss, printed) in [(1e-2, 12.2), (1e-4, 122.5), (1e-6, 1224.7)] {
        assert!((window("reno", loss) / printed - 1.0).abs() < 0.005, "{loss}");
    }
}

/// Where its delay part does not act, Compound is Reno.
#[test]
fn compound_is_reno_at_high_loss() {
    assert_eq!(window("compound", 1e-2), window("reno", 1e-2));
}
