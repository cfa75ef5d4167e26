// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that have lists of the code's: engines, kinds of queues.

use tandem_engine::Engine;
use tandem_engines::ENGINES;

#[test]
fn the_page_of_result_keys_has_every_engine() {
    let page = std::fs::read_to_string("../../docs/reference/result-keys.md").unwrap();
    let line = page.lines().find(|line| line.starts_with("| `engine` |")).expect("a row for `engine`");
    let listed: Vec<&str> = line.split('`').skip(3).step_by(2).collect();
    let mut engines: Vec<&str> = ENGINES.iter().map(|engine: &&dyn Engine| engine.name()).collect();
    assert!(engines.len() == 4 || cfg!(not(all(feature = "kernel", feature = "quic", target_os = "linux"))));
    engines.retain(|name| !listed.contains(name));
    assert!(engines.is_empty(), "{line} lacks {engines:?}");
}

#[test]
fn the_pages_of_queues_have_every_kind() {
    for page in ["../../docs/reference/scenario-keys.md", "../../python/tandem_cc/path.py"] {
        let text = std::fs::read_to_string(page).unwrap();
        for name in tandem_scenario::aqm::NAMES {
            let is_there = text.contains(&format!("`{name}`")) || text.contains(&format!("`\"{name}\"`"));
            assert!(is_there, "{page} lacks the queue `{name}`");
        }
    }
}
