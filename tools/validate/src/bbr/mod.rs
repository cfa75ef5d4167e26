// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/bbr-beside-others.md: `bbr` beside the kernel's own and `bbr3` in the kernel, over real TCP, and `bbr3` beside noq's BBRv3.

mod kernel;
mod noq;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tandem_engine::Engine;

use crate::{
    RealTcpValidation, Validation,
    evidence::{put, write},
};

/// What the page rests on.
#[derive(Debug, Serialize, Deserialize)]
struct Evidence {
    kernel: kernel::Part,
    noq: Vec<noq::Line>,
}

/// Makes the runs that are missing in experiments/reference/real-tcp/bbr.jsonl, and those over `quic`; writes data and page.
///
/// # Errors
/// If a run fails, it is interrupted, or a file cannot be read or written.
pub fn bbr_page(
    validation: &Validation,
    how: &RealTcpValidation,
    quic: &dyn Engine,
    data: &Path,
    page: &Path,
) -> anyhow::Result<()> {
    let evidence = Evidence { kernel: kernel::part(validation, how)?, noq: noq::lines(quic, &validation.batch)? };
    write(data, &(serde_json::to_string_pretty(&evidence)? + "\n"))?;
    put(page, &block(&evidence))
}

/// What stands between the marks of the page.
fn block(Evidence { kernel, noq }: &Evidence) -> String {
    format!("## Over real TCP\n\n{}\n## Over QUIC\n\n{}", kernel.text(), noq::text(noq))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::assert_has;

    /// Page and data are committed together.
    #[test]
    fn the_page_is_that_of_its_data() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/validation/bbr-beside-others.json");
        let data = std::fs::read_to_string(data).expect("the data is there");
        let evidence: Evidence = serde_json::from_str(&data).expect("it is read");
        evidence.kernel.assert_current();
        noq::assert_current(&evidence.noq);
        assert_has("docs/bbr-beside-others.md", &block(&evidence));
    }
}
