// SPDX-License-Identifier: MIT OR Apache-2.0
//! One call of the contract in the kernel's eBPF machine, on a state that the caller keeps.
#![expect(unsafe_code)]

use std::{mem::size_of, slice};

use libbpf_rs::{Object, ProgramInput};
use tandem_controllers::{Ack, Conn, Params, STATE_BYTES, View};

use crate::{Error, object};

/// `enum tandem_call` of `bpf/replay.h`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Call {
    Init,
    PktsAcked,
    CongAvoid,
    Ssthresh,
    SetState,
    Restart,
    UndoCwnd,
}

/// `struct tandem_replay` of `bpf/replay.h`; `tests/layout.rs` compares the two.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replay {
    pub state: [u64; STATE_BYTES / 8],
    pub conn: Conn,
    pub ack: Ack,
    pub call: u32,
    pub argument: u32,
    pub result: u32,
    pub reserved: u32,
    pub view: View,
}

/// A controller in the kernel that no socket can choose.
pub struct Machine {
    object: Object,
}

impl Machine {
    /// # Errors
    /// If the kernel refuses the program, or rights are missing.
    pub fn new(params: &Params) -> Result<Self, Error> {
        object::load_replay(params).map(|object| Self { object })
    }

    /// Carries the call out in place.
    pub fn call(&self, replay: &mut Replay) {
        let program = self.object.progs_mut().find(|p| p.name() == "replay").expect("each object has it");
        // SAFETY: `Replay` consists of integers without padding, so all its bytes are initialised and any bytes are valid.
        let bytes = unsafe { slice::from_raw_parts_mut(std::ptr::from_mut(replay).cast::<u8>(), size_of::<Replay>()) };
        let input = ProgramInput { context_in: Some(bytes), ..Default::default() };
        let output = program.test_run(input).expect("a syscall program runs");
        assert_eq!(output.return_value, 0, "the program knows the call");
    }
}
