// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one Compound TCP connection does on a path, without a simulation.

use pyo3::{prelude::*, types::PyDict};
use tandem_model::{Arithmetic, Law, Path, asked, sweep};
use tandem_scenario::{ControllerSpec, DEFAULT_MTU, DumbbellSpec};

use crate::{error::usage, run::loads, scenario::read};

/// The arithmetics by the names that JSON has for them.
const ARITHMETICS: [(&str, Arithmetic); 4] = [
    ("tandem", Arithmetic::Tandem),
    ("linux-1.3", Arithmetic::Linux13),
    ("linux-2006", Arithmetic::Linux2006),
    ("exact", Arithmetic::Exact),
];

#[pyfunction]
pub fn model<'py>(
    py: Python<'py>,
    dumbbells: Vec<Bound<'py, PyDict>>,
    controller: &str,
    arithmetic: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let controller: ControllerSpec = controller.parse().map_err(usage)?;
    let params = asked(&controller, false).map_err(usage)?;
    let law = Law::of(&params).unwrap_or_default();
    let Some(&(_, arithmetic)) = ARITHMETICS.iter().find(|(name, _)| *name == arithmetic) else {
        let names = ARITHMETICS.map(|(name, _)| format!("`{name}`")).join(", ");
        return Err(usage(format!("`{arithmetic}` is not a known arithmetic: give one of {names}")));
    };
    let paths = dumbbells.iter().map(path).collect::<PyResult<Vec<_>>>()?;
    let answers = py.detach(|| {
        law.check(arithmetic)?;
        sweep(&paths, &law, arithmetic)
    });
    let json = serde_json::to_string(&answers.map_err(usage)?).map_err(usage)?;
    loads(py, &json)
}

fn path(table: &Bound<PyDict>) -> PyResult<Path> {
    let spec: DumbbellSpec = read(table, "path")?;
    if spec.rtt.ns == 0 {
        return Err(usage("the model needs a propagation delay, such as 50ms, not 0s"));
    }
    let limit = spec.queue.limit(spec.rate, spec.rtt, DEFAULT_MTU).map_err(usage)?;
    let buffer_packets = limit.whole_packets(DEFAULT_MTU) as f64;
    Ok(Path { rate: spec.rate, rtt: spec.rtt, buffer_packets, packet_bytes: DEFAULT_MTU, access_rate: None })
}
