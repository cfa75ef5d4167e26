// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unit in which the kernel counts what held a connection back.

use std::{sync::OnceLock, thread::sleep, time::Duration};

use libbpf_rs::{Object, OpenObject, ProgramInput};

use crate::{
    Error,
    object::{CLOCKS, refused_by},
    sockops::{load, open_with, program_mut},
};

const PROGRAM: &str = "read_clocks";

/// How many jiffies the kernel counts in a second (CONFIG_HZ), which it tells nobody: they are counted.
pub fn per_second() -> Result<f64, Error> {
    static KNOWN: OnceLock<f64> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(*known);
    }
    let measured = measure()?;
    Ok(*KNOWN.get_or_init(|| measured))
}

/// As [`per_second`], and tells the programs of an object that is not loaded yet (`bpf/totals.h`).
pub fn tell(object: &mut OpenObject) -> Result<f64, Error> {
    let per_s = per_second()?;
    for mut map in object.maps_mut().filter(|map| map.name() == ".rodata.clock") {
        let value = (per_s as u64).to_ne_bytes();
        map.initial_value_mut().expect("it has a value in the object")[..value.len()].copy_from_slice(&value);
    }
    Ok(per_s)
}

fn measure() -> Result<f64, Error> {
    const USUAL: [f64; 6] = [100.0, 250.0, 300.0, 500.0, 1000.0, 1024.0];
    let mut object = load(open_with(CLOCKS, PROGRAM)?, PROGRAM, "read the kernel's clocks")?;
    let [began_ns, began] = read(&mut object)?;
    // 20 of the longest jiffies: one more or less is not taken for another length.
    sleep(Duration::from_millis(200));
    let [ended_ns, ended] = read(&mut object)?;
    let measured = (ended - began) as f64 * 1e9 / (ended_ns - began_ns) as f64;
    let distance = |usual: &f64| (usual / measured).ln().abs();
    Ok(USUAL.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("there are some"))
}

/// `struct tandem_clocks` of `bpf/clocks.bpf.c`: nanoseconds, and jiffies.
fn read(object: &mut Object) -> Result<[u64; 2], Error> {
    let mut clocks = [0; 16];
    let input = ProgramInput { context_in: Some(&mut clocks), ..Default::default() };
    program_mut(object, PROGRAM).test_run(input).map_err(|e| refused_by(e, PROGRAM, ""))?;
    let (ns, jiffies) = clocks.split_at(8);
    Ok([ns, jiffies].map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"))))
}
