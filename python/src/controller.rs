// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller that Python steps by hand, call by call of the contract.

use std::{path::PathBuf, sync::Arc};

use pyo3::{prelude::*, types::PyDict};
use tandem_controllers::{
    Ack, CONTROLLERS, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Param, Params, Reading, Reason, State, find,
    own::open,
};

use crate::error::usage;

/// Payload of a full segment on Ethernet, with TCP's timestamps.
const USUAL_MSS: u32 = 1448;
/// RFC 6928.
const USUAL_WINDOW: u32 = 10;
/// Congestion states by their numbers in Linux.
const STATES: [(&str, State); 5] = [
    ("open", State::Open),
    ("disorder", State::Disorder),
    ("cwr", State::Cwr),
    ("recovery", State::Recovery),
    ("loss", State::Loss),
];

#[pyclass(module = "tandem_cc", get_all, frozen)]
#[derive(Clone)]
pub struct Parameter {
    name: &'static str,
    doc: &'static str,
    default: f64,
    min: f64,
    max: f64,
}

#[pymethods]
impl Parameter {
    fn __repr__(&self) -> String {
        format!("Parameter({}={}, {} to {}: {})", self.name, self.default, self.min, self.max, self.doc)
    }
}

#[pyclass(module = "tandem_cc", get_all, frozen)]
pub struct ControllerInfo {
    name: &'static str,
    family: &'static str,
    signal: &'static str,
    owns_window: bool,
    counts_marks: bool,
    source: &'static str,
    parameters: Vec<Parameter>,
}

#[pymethods]
impl ControllerInfo {
    fn __repr__(&self) -> String {
        format!("ControllerInfo({}: {})", self.name, self.source)
    }
}

fn info(controller: &'static tandem_controllers::Controller) -> ControllerInfo {
    let parameter = |p: Param| Parameter { name: p.name, doc: p.doc, default: p.initial, min: p.min, max: p.max };
    ControllerInfo {
        name: controller.name,
        family: controller.family,
        signal: controller.signal.as_str(),
        owns_window: controller.owns_window(),
        counts_marks: controller.counts_marks(),
        source: controller.source,
        parameters: controller.params().map(parameter).collect(),
    }
}

#[pyfunction]
pub fn controllers() -> Vec<ControllerInfo> {
    CONTROLLERS.iter().map(info).collect()
}

/// `Conn` with attributes for Python. What Python sets is checked before the controller sees it.
#[pyclass(module = "tandem_cc", get_all, set_all)]
#[derive(Clone, Copy)]
pub struct Connection {
    now_us: u64,
    snd_cwnd: u32,
    snd_cwnd_cnt: u32,
    snd_ssthresh: u32,
    snd_cwnd_clamp: u32,
    snd_una: u32,
    snd_nxt: u32,
    mss: u32,
    is_cwnd_limited: bool,
    pacing_bytes_per_s: u64,
    is_paced: bool,
}

#[pymethods]
impl Connection {
    #[new]
    #[pyo3(signature = (*, snd_cwnd=USUAL_WINDOW, snd_ssthresh=INFINITE_SSTHRESH, snd_cwnd_clamp=MAX_WINDOW, mss=USUAL_MSS,
        now_us=0, snd_una=0, snd_nxt=0))]
    fn new(
        snd_cwnd: u32,
        snd_ssthresh: u32,
        snd_cwnd_clamp: u32,
        mss: u32,
        now_us: u64,
        snd_una: u32,
        snd_nxt: u32,
    ) -> Self {
        Self {
            now_us,
            snd_cwnd,
            snd_cwnd_cnt: 0,
            snd_ssthresh,
            snd_cwnd_clamp,
            snd_una,
            snd_nxt,
            mss,
            is_cwnd_limited: true,
            pacing_bytes_per_s: 0,
            is_paced: false,
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "Connection(now_us={}, snd_cwnd={}, snd_cwnd_cnt={}, snd_ssthresh={}, snd_una={}, snd_nxt={}, mss={})",
            self.now_us, self.snd_cwnd, self.snd_cwnd_cnt, self.snd_ssthresh, self.snd_una, self.snd_nxt, self.mss
        )
    }
}

impl Connection {
    /// As the controller takes it.
    fn checked(&self) -> PyResult<Conn> {
        let at_most = |name: &str, value: u32, most: u32| match value {
            0 => Err(usage(format!("`{name}` = 0 is out of range: give 1 to {most}"))),
            _ if value > most => Err(usage(format!("`{name}` = {value} is out of range: give 1 to {most}"))),
            _ => Ok(()),
        };
        at_most("snd_cwnd", self.snd_cwnd, MAX_WINDOW)?;
        at_most("snd_cwnd_clamp", self.snd_cwnd_clamp, MAX_WINDOW)?;
        at_most("mss", self.mss, u32::from(u16::MAX))?;
        Ok(Conn {
            now_us: self.now_us,
            snd_cwnd: self.snd_cwnd,
            snd_cwnd_cnt: self.snd_cwnd_cnt,
            snd_ssthresh: self.snd_ssthresh,
            snd_cwnd_clamp: self.snd_cwnd_clamp,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: self.mss,
            is_cwnd_limited: self.is_cwnd_limited.into(),
            is_paced: self.is_paced.into(),
            pacing_bytes_per_s: self.pacing_bytes_per_s,
        })
    }

    /// Takes back the fields that a controller may change.
    fn take(&mut self, conn: &Conn) {
        self.snd_cwnd = conn.snd_cwnd;
        self.snd_cwnd_cnt = conn.snd_cwnd_cnt;
        self.snd_ssthresh = conn.snd_ssthresh;
        self.pacing_bytes_per_s = conn.pacing_bytes_per_s;
    }
}

#[pyclass(module = "tandem_cc", get_all, frozen)]
pub struct View {
    loss_window_packets: u32,
    delay_window_packets: u32,
    gamma_packets: f64,
    diff_packets: f64,
    base_rtt_us: Option<u32>,
    probes: Py<PyDict>,
}

#[pymethods]
impl View {
    fn __repr__(&self) -> String {
        let base_rtt_us = self.base_rtt_us.map_or("None".to_owned(), |us| us.to_string());
        format!(
            "View(loss_window_packets={}, delay_window_packets={}, gamma_packets={}, diff_packets={}, base_rtt_us={base_rtt_us})",
            self.loss_window_packets, self.delay_window_packets, self.gamma_packets, self.diff_packets
        )
    }
}

#[pyclass(module = "tandem_cc")]
pub struct Controller {
    params: Arc<Params>,
    instance: Instance,
    #[pyo3(get)]
    connection: Py<Connection>,
    /// Packets, as far as the caller has told.
    delivered: u32,
}

#[pymethods]
impl Controller {
    #[new]
    #[pyo3(signature = (name, connection=None, **parameters))]
    fn new(
        py: Python,
        name: &str,
        connection: Option<Py<Connection>>,
        parameters: Option<&Bound<PyDict>>,
    ) -> PyResult<Self> {
        Self::of(py, find(name).map_err(usage)?, connection, parameters)
    }

    #[staticmethod]
    #[pyo3(signature = (path, connection=None, **parameters))]
    fn from_header(
        py: Python,
        path: PathBuf,
        connection: Option<Py<Connection>>,
        parameters: Option<&Bound<PyDict>>,
    ) -> PyResult<Self> {
        Self::of(py, open(&path).map_err(usage)?, connection, parameters)
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.params.controller().name
    }

    #[getter]
    fn info(&self) -> ControllerInfo {
        info(self.params.controller())
    }

    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for parameter in self.params.controller().params() {
            values.set_item(parameter.name, self.params.get(parameter.name))?;
        }
        Ok(values)
    }

    #[pyo3(signature = (packets, rtt_us=None, *, acked_sacked=None, delivered=None, prior_delivered=0, interval_us=0, is_app_limited=false,
        in_flight=0, lost=0, marked=0))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python, and the contract's fields")]
    fn pkts_acked(
        &mut self,
        py: Python,
        packets: u32,
        rtt_us: Option<u32>,
        acked_sacked: Option<u32>,
        delivered: Option<u32>,
        prior_delivered: u32,
        interval_us: u32,
        is_app_limited: bool,
        in_flight: u32,
        lost: u32,
        marked: u32,
    ) -> PyResult<()> {
        let acked_sacked = acked_sacked.unwrap_or(packets);
        check_packets(packets)?;
        check_packets(acked_sacked)?;
        let (rtt_us, is_app_limited) = (rtt_us.unwrap_or(0), is_app_limited.into());
        self.delivered = delivered.unwrap_or(self.delivered.wrapping_add(acked_sacked));
        let ack = Ack {
            pkts_acked: packets,
            rtt_us,
            delivered: self.delivered,
            acked_sacked,
            prior_delivered,
            interval_us,
            is_app_limited,
            in_flight,
            lost,
            marked,
        };
        self.call(py, |controller, conn| controller.pkts_acked(conn, &ack))
    }

    fn cong_avoid(&mut self, py: Python, packets: u32) -> PyResult<()> {
        check_packets(packets)?;
        self.call(py, |controller, conn| controller.cong_avoid(conn, packets))
    }

    #[pyo3(signature = (*, for_mark=false))]
    fn ssthresh(&mut self, py: Python, for_mark: bool) -> PyResult<u32> {
        let reason = if for_mark { Reason::Mark } else { Reason::Loss };
        self.call(py, |controller, conn| controller.ssthresh(conn, reason))
    }

    fn set_state(&mut self, py: Python, state: &str) -> PyResult<()> {
        let Some((_, state)) = STATES.iter().find(|(name, _)| *name == state) else {
            let names = STATES.map(|(name, _)| format!("`{name}`")).join(", ");
            return Err(usage(format!("`{state}` is not a congestion state: give one of {names}")));
        };
        self.call(py, |controller, conn| controller.set_state(conn, *state))
    }

    fn restart(&mut self, py: Python) -> PyResult<()> {
        self.call(py, |controller, conn| controller.restart(conn))
    }

    fn undo_cwnd(&mut self, py: Python) -> PyResult<u32> {
        self.call(py, |controller, conn| controller.undo_cwnd(conn))
    }

    fn view(&self, py: Python) -> PyResult<View> {
        let view = self.instance.view(&self.connection.borrow(py).checked()?);
        let probes = PyDict::new(py);
        for (probe, reading) in self.params.controller().readings(&view) {
            match reading {
                Some(Reading::Number(value)) => probes.set_item(probe.name, value)?,
                Some(Reading::Word(word)) => probes.set_item(probe.name, word)?,
                None => probes.set_item(probe.name, py.None())?,
            }
        }
        Ok(View {
            loss_window_packets: view.loss_window,
            delay_window_packets: view.delay_window,
            gamma_packets: f64::from(view.gamma_q8) / 256.0,
            diff_packets: f64::from(view.diff_q8) / 256.0,
            base_rtt_us: (view.base_rtt_us > 0).then_some(view.base_rtt_us),
            probes: probes.unbind(),
        })
    }

    fn __repr__(&self, py: Python) -> String {
        format!("Controller({}, {})", self.name(), self.connection.borrow(py).__repr__())
    }
}

impl Controller {
    fn of(
        py: Python,
        controller: &'static tandem_controllers::Controller,
        connection: Option<Py<Connection>>,
        parameters: Option<&Bound<PyDict>>,
    ) -> PyResult<Self> {
        let mut params = Params::new(controller);
        for (key, value) in parameters.into_iter().flatten() {
            params.set(&key.extract::<String>()?, value.extract()?).map_err(usage)?;
        }
        let usual = || Py::new(py, Connection::new(USUAL_WINDOW, INFINITE_SSTHRESH, MAX_WINDOW, USUAL_MSS, 0, 0, 0));
        let connection = connection.map_or_else(usual, Ok)?;
        let mut conn = connection.borrow(py).checked()?;
        let params = Arc::new(params);
        let instance = Instance::new(&params, &mut conn);
        connection.borrow_mut(py).take(&conn);
        Ok(Self { params, instance, connection, delivered: 0 })
    }
}

/// No ACK acknowledges more than the largest window.
fn check_packets(packets: u32) -> PyResult<()> {
    match packets > MAX_WINDOW {
        true => Err(usage(format!("`packets` = {packets} is out of range: give {MAX_WINDOW} at most"))),
        false => Ok(()),
    }
}

impl Controller {
    /// One call of the contract, on the connection as Python sees it.
    fn call<T>(&mut self, py: Python, of_contract: impl FnOnce(&mut Instance, &mut Conn) -> T) -> PyResult<T> {
        let mut connection = self.connection.borrow_mut(py);
        let mut conn = connection.checked()?;
        let answer = of_contract(&mut self.instance, &mut conn);
        connection.take(&conn);
        Ok(answer)
    }
}
