# SPDX-License-Identifier: MIT OR Apache-2.0
"""The compiled part of `tandem_cc`; import its names from there."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

__version__: str
"""The version of Tandem."""

@final
class Parameter:
    """A parameter of a controller, in the users' unit."""

    @property
    def name(self) -> str:
        """The name that `Controller` and `CONTROLLER@NAME=VALUE` take."""
    @property
    def doc(self) -> str:
        """What it is, its unit, and whose value the default is."""
    @property
    def default(self) -> float:
        """The value unless another is given."""
    @property
    def min(self) -> float:
        """The smallest value allowed."""
    @property
    def max(self) -> float:
        """The largest value allowed."""

@final
class ControllerInfo:
    """What is known of a controller without running it."""

    @property
    def name(self) -> str:
        """The name that users give."""
    @property
    def family(self) -> str:
        """The family, such as `compound`."""
    @property
    def signal(self) -> str:
        """What it takes for congestion: `loss`, `delay`, `both`, `model`, `marks` or `l4s`."""
    @property
    def owns_window(self) -> bool:
        """Whether it sets the window in recovery, too, and a pacing rate: the host then changes neither."""
    @property
    def counts_marks(self) -> bool:
        """Whether it needs the number of marked packets that each ACK newly reports (accurate ECN, RFC 9768)."""
    @property
    def source(self) -> str:
        """The paper or RFC that defines it."""
    @property
    def parameters(self) -> list[Parameter]:
        """Its parameters, in the order of its C header."""

def controllers() -> list[ControllerInfo]:
    """All controllers, in the order of `tandem list controllers`."""

@final
class Connection:
    """What a host shows its controller of a connection; fields have the contract's names.

    Windows are packets of one MSS, times are microseconds, sequence numbers are bytes and wrap at 2**32. Without words it has a
    window of 10 packets, an infinite threshold, a clamp of 2**24 packets and an MSS of 1448 bytes.
    """

    now_us: int
    """The host's clock, from any origin."""
    snd_cwnd: int
    """The congestion window, packets, 1 to 2**24. The controller may change it."""
    snd_cwnd_cnt: int
    """Packets acknowledged towards the next packet of window. The controller may change it."""
    snd_ssthresh: int
    """The slow-start threshold, packets; 2**31 - 1 is infinite. The controller may change it."""
    snd_cwnd_clamp: int
    """The window never exceeds this, packets."""
    snd_una: int
    """The first unacknowledged sequence number, bytes."""
    snd_nxt: int
    """The next sequence number to be sent, bytes."""
    mss: int
    """Payload of a full segment, bytes."""
    is_cwnd_limited: bool
    """Whether the window, not the application or the receiver, limited the sending. If not, a window must not grow."""
    pacing_bytes_per_s: int
    """Payload bytes a second; 0 means that the controller sets no rate."""
    is_paced: bool
    """Whether the host spreads its packets over time by itself."""

    def __new__(
        cls,
        *,
        snd_cwnd: int = ...,
        snd_ssthresh: int = ...,
        snd_cwnd_clamp: int = ...,
        mss: int = ...,
        now_us: int = 0,
        snd_una: int = 0,
        snd_nxt: int = 0,
    ) -> Connection: ...

@final
class View:
    """What a controller shows of itself; what it does not have is 0."""

    @property
    def loss_window_packets(self) -> int:
        """The part of the window that losses steer; with the delay window it is the whole."""
    @property
    def delay_window_packets(self) -> int:
        """The part of the window that delay steers."""
    @property
    def gamma_packets(self) -> float:
        """The backlog that counts as early congestion."""
    @property
    def diff_packets(self) -> float:
        """The backlog estimated in the last round."""
    @property
    def base_rtt_us(self) -> int | None:
        """The smallest RTT seen, microseconds; None before the first sample, or if the controller keeps none."""
    @property
    def probes(self) -> dict[str, float | str | None]:
        """What the controller names of what it knows, such as `alpha` of `dctcp`; None where it has no such value now."""

@final
class Controller:
    """The controller of one connection, stepped by hand with the calls of the contract.

    Making it calls the contract's `init`. On each ACK a host calls `pkts_acked`; then, if the ACK shows a loss, `ssthresh` and
    `set_state`; then, outside `cwr` and `recovery`, `cong_avoid`. Between calls the host, that is you, changes `connection`.

    Args:
        name: such as `reno` or `compound_tube`; see `controllers`.
        connection: the connection before its first packet, with the initial window; ten packets of 1448 bytes if not given.
        parameters: the controller's parameters, such as `gamma=20`.

    Raises:
        UsageError: no controller or parameter has such a name, or a value is out of range.

    Example:
        >>> reno = Controller("reno")
        >>> reno.connection.snd_nxt = 10 * 1448
        >>> reno.pkts_acked(10, rtt_us=100_000)
        >>> reno.cong_avoid(10)
        >>> reno.connection.snd_cwnd
        20
    """

    def __new__(cls, name: str, connection: Connection | None = None, **parameters: float) -> Controller: ...
    @staticmethod
    def from_header(path: str | PathLike[str], connection: Connection | None = None, **parameters: float) -> Controller:
        """The controller of a C header of your own, which is compiled with the C compiler at hand and runs with your rights.

        After a change of the header the next call gives the changed controller; those that are there stay as they are.

        Raises:
            UsageError: there is no such file, or it is no controller; the message has the line.
        """
    @property
    def name(self) -> str:
        """The controller's name."""
    @property
    def info(self) -> ControllerInfo:
        """What is known of the controller."""
    @property
    def parameters(self) -> dict[str, float]:
        """The parameters' values, in the users' unit."""
    @property
    def connection(self) -> Connection:
        """The connection that each call takes and changes. It is the caller's: set its fields as a host would."""
    def pkts_acked(
        self,
        packets: int,
        rtt_us: int | None = None,
        *,
        acked_sacked: int | None = None,
        delivered: int | None = None,
        prior_delivered: int = 0,
        interval_us: int = 0,
        is_app_limited: bool = False,
        in_flight: int = 0,
        lost: int = 0,
        marked: int = 0,
    ) -> None:
        """Tells of an ACK: the first call on each one.

        For controllers that own their window (`bbr`, `prague`) it is the last.

        Args:
            packets: packets that left the front of the window, whether they were SACKed before or not.
            rtt_us: the RTT of the newest packet acknowledged, microseconds; None if it is no valid sample.
            acked_sacked: packets newly delivered, by number or by SACK; as many as `packets` if it is left out. For controllers
                that own their window or count marks.
            delivered: packets delivered since the connection began, those of this ACK included, modulo 2**32; if it is left out, the sum
                of what has been told.
            prior_delivered: the same count when the newest packet acknowledged was sent. This and the following, up to `lost`, are for
                controllers that own their window.
            interval_us: the time in which the difference was delivered, microseconds; 0 if there is no valid sample.
            is_app_limited: whether the application left the path idle when that packet was sent.
            in_flight: packets in flight after this ACK and the losses that it showed.
            lost: packets that this ACK showed to be lost.
            marked: packets newly reported to have arrived with an ECN mark; for controllers that count marks (`dctcp`, `prague`).
        """
    def cong_avoid(self, packets: int) -> None:
        """Grows the window for so many packets newly acknowledged; not in the states `cwr` and `recovery`."""
    def ssthresh(self, *, for_mark: bool = False) -> int:
        """Returns the window after a loss, or after an ECN mark, packets; once on entering `cwr`, `recovery` or `loss`.

        Args:
            for_mark: whether a mark is the reason, and no loss.
        """
    def set_state(self, state: Literal["open", "disorder", "cwr", "recovery", "loss"]) -> None:
        """Tells that the connection is about to enter a congestion state."""
    def restart(self) -> None:
        """Tells that sending resumes with nothing in flight."""
    def undo_cwnd(self) -> int:
        """Returns the window to go back to, packets, when the last reduction turns out to have been a mistake."""
    def view(self) -> View:
        """Returns what the controller shows of itself."""

@final
class Scenario:
    """A scenario that was read and checked: a network and the flows over it. `str()` has it in words."""

    @staticmethod
    def from_file(path: str | PathLike[str], seeds: int | None = None, first_seed: int | None = None) -> Scenario:
        """Reads a scenario file; see `tandem_cc.scenario`."""
    @staticmethod
    def from_dict(table: dict[str, Any], seeds: int | None = None, first_seed: int | None = None) -> Scenario:
        """Reads a dictionary; see `tandem_cc.scenario`."""
    @property
    def name(self) -> str:
        """Its own name, that of its file, or `scenario`."""
    @property
    def seeds(self) -> list[int]:
        """The seeds of its repetitions."""
    @property
    def duration_s(self) -> float:
        """The length of a run, warm-up included, seconds."""
    @property
    def warmup_s(self) -> float:
        """The part at the start that no measure counts, seconds."""

@final
class Table:
    """A table that data frames take without a copy.

    `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`, and DuckDB by the variable's name.
    Without any of them `table["goodput_mbps"]` and `table.rows()` are plain lists. A missing value is null, or None; never 0.
    """

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[Any]:
        """Returns the values of a column; KeyError if there is none of this name."""
    @property
    def columns(self) -> list[str]:
        """The names of the columns, with units."""
    def rows(self) -> list[dict[str, Any]]:
        """Returns a dictionary for each row."""
    def write_parquet(self, path: str | PathLike[str]) -> None:
        """Writes a Parquet file, which is whole or not there.

        Raises:
            RunError: the file cannot be written.
        """
    def _repr_html_(self) -> str: ...

@final
class Outcome:
    """What came of runs; `tandem_cc.Result` shows it."""

    @property
    def title(self) -> str: ...
    @property
    def why_so_long(self) -> str | None: ...
    @property
    def baseline(self) -> str | None: ...
    @property
    def scenarios(self) -> list[Scenario]: ...
    def runs(self) -> list[dict[str, Any]]: ...
    def groups(self) -> Table: ...
    def flows(self, seed: int) -> Table: ...
    def links(self, seed: int) -> Table: ...
    def text(self) -> str: ...
    def summary_html(self) -> str: ...
    def html(self) -> str: ...
    def charts(self) -> list[dict[str, Any]]: ...

@final
class Sweep:
    """A sweep whose scenarios were all read and checked; see `tandem_cc.sweep`."""

    @staticmethod
    def from_file(
        path: str | PathLike[str], engine: str, seeds: int | None, first_seed: int | None, max_runs: int | None = None
    ) -> Sweep: ...
    @staticmethod
    def from_dict(
        table: dict[str, Any], engine: str, seeds: int | None, first_seed: int | None, max_runs: int | None = None
    ) -> Sweep: ...
    @property
    def points(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def engine(self) -> str: ...
    @property
    def swept_columns(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def scenario_folder(self) -> Path: ...
    def run(
        self,
        folder: str | PathLike[str],
        traces: bool,
        workers: int | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> tuple[int, int]: ...

@final
class SweepDriver:
    """A sweep that runs elsewhere: hands out tasks, and keeps what they gave. The folder is locked until `close`."""

    def __new__(cls, sweep: Sweep, folder: str | PathLike[str], traces: bool) -> SweepDriver: ...
    def take(self, most: int) -> list[tuple[str, int]]:
        """Returns up to so many tasks that are to be run: the scenario's text, and the seed."""
    def add(self, answer: bytes) -> None:
        """Keeps what a bundle gave."""
    @property
    def found(self) -> int:
        """Tasks so far that were in the data set before."""
    def close(self) -> None: ...

def run_bundle(tasks: list[tuple[str, int]], folder: str | PathLike[str], engine_name: str, traces: bool) -> bytes:
    """Runs tasks one after the other."""

def data_set(folder: str | PathLike[str], columns: list[str] | None = None) -> Table:
    """The rows of a sweep's folder."""

def sweep_charts(
    folder: str | PathLike[str], axes: list[tuple[str, str | None]], measures: list[str], swept: list[str]
) -> list[dict[str, Any]]:
    """Charts of a sweep; without axes those of all pairs of swept columns."""

def sweep_report(
    folder: str | PathLike[str], measures: list[str], swept: list[str], words: tuple[str, str, str]
) -> str:
    """The report of a sweep. The words are title, text and call."""

def check_dumbbell(table: dict[str, Any]) -> None:
    """Raises a ScenarioError if the table is no dumbbell."""

def run(scenario: Scenario, options: dict[str, Any]) -> Outcome:
    """Runs a scenario; see `tandem_cc.run`."""

def compare(
    dumbbell: dict[str, Any], effects: dict[str, Any] | None, asked: dict[str, Any], options: dict[str, Any]
) -> Outcome:
    """Compares controllers; see `tandem_cc.compare`."""

@final
class PaperExperiment:
    """An experiment of a paper."""

    @property
    def id(self) -> str:
        """Paper and figure, such as `s0/fig3`."""
    @property
    def title(self) -> str:
        """The figure or table, and what it shows."""
    @property
    def claim(self) -> str:
        """What the paper says of it."""
    @property
    def paper(self) -> str:
        """The paper as one cites it."""

@final
class Finding:
    """What came of an experiment; `tandem_cc.papers.Finding` shows it."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def claim(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    def details(self) -> dict[str, Any]: ...
    def chart(self) -> dict[str, Any]: ...
    def html(self) -> str: ...

def list_papers() -> list[PaperExperiment]:
    """All experiments; see `tandem_cc.papers.list`."""

def run_papers(words: list[str], quick: bool, progress: Callable[[float], object] | None, call: str) -> list[Finding]:
    """Runs experiments; see `tandem_cc.papers.run`."""

def run_job(job: bytes) -> bytes:
    """Makes a run that another process asks for; see `tandem_cc.jobs`."""

@final
class Assessment:
    """A controller, judged; `tandem_cc.Assessment` shows it."""

    def count(self, answer: str) -> int: ...
    def rows(self) -> Table: ...
    def json(self, command: str) -> str: ...
    def markdown(self, command: str, pictures: str) -> str: ...
    def pictures(self) -> list[tuple[str, str]]: ...

def evaluate(asked: dict[str, Any], place: dict[str, Any], progress: Callable[[float], object] | None) -> Assessment:
    """Judges a controller; see `tandem_cc.evaluate`."""

@final
class Searched:
    """What a search found; `tandem_cc.SearchResult` shows it."""

    def json(self) -> str: ...
    def scenarios(self) -> list[tuple[str, str]]: ...

def search(wanted: dict[str, Any], place: dict[str, Any], progress: Callable[[float], object] | None) -> Searched:
    """Looks for the worst paths; see `tandem_cc.search`."""

def advise(
    asked: dict[str, Any], effects: dict[str, Any] | None, call: str, progress: Callable[[float], object] | None
) -> dict[str, Any]:
    """Recommends a controller; see `tandem_cc.advise`."""

def measured(files: list[str]) -> tuple[dict[str, Any], list[list[str]]]:
    """Infers a path; see `tandem_cc.measured`."""

def model(dumbbells: list[dict[str, Any]], controller: str, arithmetic: str) -> list[dict[str, Any]]:
    """Asks the model; see `tandem_cc.model`."""
