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
    use crate::evidence::between_marks;

    /// Page and data are committed together. UPDATE_DOCS=1 writes the page.
    #[test]
    fn the_page_is_that_of_its_data() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        let evidence: Evidence =
            serde_json::from_str(&read("experiments/validation/bbr-beside-others.json")).expect("it is read");
        evidence.kernel.assert_current();
        noq::assert_current(&evidence.noq);
        let page = "docs/bbr-beside-others.md";
        let due = between_marks(&read(page), &block(&evidence)).expect("it has its marks");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(root.join(page), &due).expect("it can be written");
        }
        assert_eq!(due, read(page), "write it again: UPDATE_DOCS=1, or tandem-validate --bbr");
    }
}
