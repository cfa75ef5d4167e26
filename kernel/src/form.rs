// SPDX-License-Identifier: MIT OR Apache-2.0
//! The forms of `struct tcp_congestion_ops` across kernels, for a controller that owns the window, and the running kernel's form.

use std::sync::OnceLock;

use libbpf_rs::{
    Btf, MapType, OpenObject,
    btf::types::{FuncProto, Ptr, Struct},
};

use crate::{
    Error,
    object::{missing_from_kernel, refused_by},
};

/// Each has its own `struct_ops` map in the object (`bpf/ops_rate.h`); only one is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `cong_control(sk, rs)`: before Linux 6.10.
    TwoArguments,
    /// `cong_control(sk, ack, flag, rs)`.
    FourArguments,
    /// As that, and the start of sending has a call of its own, `cwnd_event_tx_start` (not in 6.18 yet; in 7.2).
    StartEvent,
}

impl Form {
    /// The running kernel's; `None` if it has none of these, or does not describe its types.
    pub(crate) fn of_kernel() -> Option<Self> {
        // A kernel does not change; its types are many to look through.
        static FORM: OnceLock<Option<Form>> = OnceLock::new();
        *FORM.get_or_init(|| {
            let btf = Btf::from_vmlinux().ok()?;
            let ops = btf.type_by_name::<Struct>("tcp_congestion_ops")?;
            Self::of(arguments(&btf, &ops, "cong_control"), arguments(&btf, &ops, "cwnd_event_tx_start"))
        })
    }

    /// By the numbers of arguments of the two members; `None` for one that is not there.
    fn of(cong_control: Option<usize>, start_event: Option<usize>) -> Option<Self> {
        match (cong_control, start_event) {
            (Some(2), None) => Some(Self::TwoArguments),
            (Some(4), None) => Some(Self::FourArguments),
            (Some(4), Some(1)) => Some(Self::StartEvent),
            _ => None,
        }
    }

    /// The name of its map.
    pub(crate) fn map(self) -> &'static str {
        match self {
            Self::TwoArguments => "two_arguments",
            Self::FourArguments => "four_arguments",
            Self::StartEvent => "start_event",
        }
    }

    /// For users.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Self::TwoArguments => {
                "a controller may set the window in recovery (cong_control with two arguments: before Linux 6.10)"
            }
            Self::FourArguments | Self::StartEvent => {
                "a controller may set the window in recovery (cong_control with four arguments: Linux 6.10)"
            }
        }
    }
}

/// The prototype of a member that points to a function.
fn arguments(btf: &Btf, ops: &Struct, member: &str) -> Option<usize> {
    let found = ops.iter().find(|m| m.name.is_some_and(|name| name == member))?;
    let pointer = btf.type_by_id::<Ptr>(found.ty)?;
    let function = FuncProto::try_from(pointer.next_type()?).ok()?;
    Some(function.len())
}

/// Only the running kernel's form of such a controller is created.
pub(crate) fn choose_form(object: &mut OpenObject, name: &str) -> Result<(), Error> {
    let Some(form) = Form::of_kernel() else {
        // A kernel that lacks all of it says so.
        return Err(missing_from_kernel().unwrap_or_else(|| Error::NoCongControl { name: name.to_owned() }));
    };
    // The section's name could say that they are optional, but libbpf 1.7 takes that for its first map alone.
    for mut map in object.maps_mut().filter(|m| m.map_type() == MapType::StructOps) {
        let is_chosen = map.name() == form.map();
        map.set_autocreate(is_chosen).map_err(|e| refused_by(e, name, ""))?;
    }
    Ok(())
}

/// The verifier's words do not say that it is the kernel's age: Linux before 6.0 lets no controller set a pacing rate.
pub(crate) fn without_pacing(refusal: Error, can_set_pacing_rate: impl Fn() -> bool) -> Error {
    match refusal {
        Error::Verifier { name, .. } if !can_set_pacing_rate() => Error::NoPacing { name },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.1, 6.18 and 7.2 describe their types, and what none of them has.
    #[test]
    fn the_form_follows_from_the_arguments() {
        assert_eq!(Form::of(Some(2), None), Some(Form::TwoArguments));
        assert_eq!(Form::of(Some(4), None), Some(Form::FourArguments));
        assert_eq!(Form::of(Some(4), Some(1)), Some(Form::StartEvent));
        for unknown in [(None, None), (Some(3), None), (Some(5), Some(1)), (Some(4), Some(2)), (Some(2), Some(1))] {
            assert_eq!(Form::of(unknown.0, unknown.1), None, "{unknown:?}");
        }
    }

    /// A refusal of the verifier's has another reason where the kernel lets controllers pace.
    #[test]
    fn an_old_kernel_is_named_as_the_reason() {
        let refusal = || Error::Verifier { name: "bbr".into(), log: "only read is supported".into() };
        let old = without_pacing(refusal(), || false).to_string();
        assert!(old.contains("`bbr` sets a pacing rate") && old.contains("Linux 6.0 or newer"), "{old}");
        assert!(without_pacing(refusal(), || true).to_string().contains("only read is supported"));
        let other = without_pacing(Error::NoRights { what: "load a controller" }, || false).to_string();
        assert!(other.contains("not permitted"), "{other}");
    }
}
