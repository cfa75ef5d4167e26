// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller twice: native, and as eBPF in the kernel. Each call goes to both, and must leave the same bits in both.

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use tandem_controllers::{Ack, Conn, Instance, Params, Reason, State, UNINITIALISED, View};
use tandem_kernel::replay::{Call, Machine, Replay};

use tandem_testing::trace::Contract;

pub struct LockStep {
    native: Instance,
    machine: Rc<Machine>,
    /// After the last call, in the kernel.
    kernel: Replay,
}

/// What `result` holds before a call: neither side may touch it where the call returns nothing.
const NO_RESULT: u32 = 0x5a5a_5a5a;

/// The controller in the kernel. A connection's state is not in it, so connections can share it: loading takes its time.
fn machine(params: &Params) -> Rc<Machine> {
    type Loaded = HashMap<(&'static str, Vec<u32>), Rc<Machine>>;
    thread_local!(static LOADED: RefCell<Loaded> = RefCell::default());
    let name = params.controller().name;
    let load = || Rc::new(Machine::new(params).unwrap_or_else(|e| panic!("{name}: {e}")));
    LOADED.with_borrow_mut(|loaded| loaded.entry((name, params.raw().to_vec())).or_insert_with(load).clone())
}

impl LockStep {
    /// With parameters of its own for each side, so that a test can see that a difference shows.
    pub fn start(native: &Arc<Params>, kernel: &Params, conn: &mut Conn) -> Self {
        let before = *conn;
        let machine = machine(kernel);
        let native = Instance::new(native, conn);
        let kernel = Replay { state: UNINITIALISED, ..Replay::default() };
        let mut pair = Self { native, machine, kernel };
        pair.follow(Call::Init, 0, Ack::default(), before, (conn, None));
        pair
    }

    /// `native` has the connection as the native side left it; the kernel's side starts from `before`.
    fn follow(&mut self, call: Call, argument: u32, ack: Ack, before: Conn, native: (&Conn, Option<u32>)) {
        let asked = Replay { conn: before, ack, call: call as u32, argument, result: NO_RESULT, ..self.kernel };
        self.kernel = asked;
        // `view` sets only what its controller has.
        self.kernel.view = View::default();
        self.machine.call(&mut self.kernel);
        let expected = Replay {
            state: *self.native.state(),
            conn: *native.0,
            result: native.1.unwrap_or(NO_RESULT),
            view: self.native.view(native.0),
            ..asked
        };
        assert_eq!(self.kernel, expected, "kernel (left) and native (right) differ after {call:?} of {asked:?}");
    }
}

impl Contract for LockStep {
    fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
        Self::start(params, params, conn)
    }

    fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
        let before = *conn;
        self.native.pkts_acked(conn, ack);
        self.follow(Call::PktsAcked, 0, *ack, before, (conn, None));
    }

    fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
        let before = *conn;
        self.native.cong_avoid(conn, acked);
        self.follow(Call::CongAvoid, acked, Ack::default(), before, (conn, None));
    }

    fn ssthresh(&mut self, conn: &Conn, reason: Reason) -> u32 {
        let result = self.native.ssthresh(conn, reason);
        self.follow(Call::Ssthresh, reason as u32, Ack::default(), *conn, (conn, Some(result)));
        result
    }

    fn set_state(&mut self, conn: &mut Conn, state: State) {
        let before = *conn;
        self.native.set_state(conn, state);
        self.follow(Call::SetState, state as u32, Ack::default(), before, (conn, None));
    }

    fn restart(&mut self, conn: &mut Conn) {
        let before = *conn;
        self.native.restart(conn);
        self.follow(Call::Restart, 0, Ack::default(), before, (conn, None));
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        let result = self.native.undo_cwnd(conn);
        self.follow(Call::UndoCwnd, 0, Ack::default(), *conn, (conn, Some(result)));
        result
    }

    fn view(&self, conn: &Conn) -> View {
        self.native.view(conn)
    }
}
