// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of all engines. A new one is one line here, and its `impl Engine` in its own crate.
//!
//! ```
//! let engine = tandem_engines::find("sim")?;
//! assert_eq!(engine.name(), "sim");
//! let unknown = tandem_engines::find("simm").err().expect("there is no such engine");
//! assert!(unknown.to_string().contains("did you mean `sim`?"));
//! # Ok::<(), tandem_engines::UnknownEngine>(())
//! ```
//!
//! The trait is [`tandem_engine::Engine`].

use tandem_engine::Engine;

/// All engines of this build, in the order in which they are shown.
pub static ENGINES: &[&dyn Engine] = &[
    &tandem_sim::Sim,
    #[cfg(all(feature = "kernel", target_os = "linux"))]
    &tandem_testbed::Kernel,
    #[cfg(feature = "quic")]
    &tandem_quic_engine::Quic,
    &tandem_model::Model,
];

/// There is no engine of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{name}`{}; `tandem list engines` shows them all", suggestion(.name))]
pub struct UnknownEngine {
    name: String,
}

/// The engine of this name.
///
/// # Errors
/// If there is none; the message suggests a similar name.
pub fn find(name: &str) -> Result<&'static dyn Engine, UnknownEngine> {
    let found = ENGINES.iter().find(|engine| engine.name() == name);
    found.copied().ok_or_else(|| UnknownEngine { name: name.to_owned() })
}

fn suggestion(name: &str) -> String {
    let distances = ENGINES.iter().map(|e| (strsim::damerau_levenshtein(name, e.name()), e.name()));
    let nearest = distances.min().filter(|&(distance, known)| distance <= known.len().max(name.len()) / 2);
    nearest.map_or(String::new(), |(_, known)| format!(", did you mean `{known}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_found_by_name() {
        for engine in ENGINES {
            assert_eq!(find(engine.name()).ok().map(|e| e.name()), Some(engine.name()));
        }
        let message = |name| find(name).err().map(|e| e.to_string()).unwrap();
        assert_eq!(message("sin"), "unknown engine `sin`, did you mean `sim`?; `tandem list engines` shows them all");
        assert_eq!(message("quantum"), "unknown engine `quantum`; `tandem list engines` shows them all");
    }
}
