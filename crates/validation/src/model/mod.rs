// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/model.md: the analytical model beside S2's numbers, ns-2 and the simulator.

pub mod simulator;
