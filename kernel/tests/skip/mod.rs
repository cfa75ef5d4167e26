// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that this machine cannot run say so; those that it can run wait until no other test program has something loaded.

/// Does this machine lack what loading a controller takes? Then the test is skipped, and says why. Otherwise the program has the machine's
/// controllers for itself from now on.
pub fn cannot_load() -> bool {
    let lack = tandem_kernel::features().into_iter().find(|f| f.required && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    tandem_testing::take_controllers();
    lack.is_some()
}

/// Likewise for what takes programs on cgroups.
#[allow(dead_code, reason = "each test program that includes this uses its own part")]
pub fn lacks_sockops() -> bool {
    let wanted = ["cgroups", "policy", "trial"];
    let lack = tandem_kernel::features().into_iter().find(|f| wanted.contains(&f.name) && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    lack.is_some() || cannot_load()
}
