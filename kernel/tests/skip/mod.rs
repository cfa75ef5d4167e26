// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that this machine cannot run say so.

/// Does this machine lack what loading a controller takes? Then the test is skipped, and says why.
pub fn cannot_load() -> bool {
    let lack = tandem_kernel::features().into_iter().find(|f| f.required && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    lack.is_some()
}
