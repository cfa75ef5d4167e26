// SPDX-License-Identifier: MIT OR Apache-2.0
//! An emulated path between this machine as it is and a new namespace for any program, as in mahimahi.
#![expect(unsafe_code)]

use std::{
    fs, io,
    net::Ipv4Addr,
    os::unix::process::CommandExt,
    process::{Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;
use tandem_network::{Link, Rng, Route, Stream, agenda::NEVER, wired_links};
use tandem_results::Emulation;
use tandem_scenario::Topology;

use crate::{
    delivered::Delivered,
    emulator::{Emulator, monotonic_ns},
    error::{Doing, Error},
    namespace::Namespace,
    netlink::{Netlink, Prefix},
    path::{End, Path},
    trust,
    tun::Tun,
};

/// Shells at one time: one has four addresses of 100.64.0.0/16, which is for such links between two parties (RFC 6598).
const MAX_SHELLS: u32 = 1 << 14;
/// What a program has left unsent may take so long.
const MAX_ENDING: Duration = Duration::from_secs(5);
/// Between looks at it.
const LOOK: Duration = Duration::from_millis(10);

/// A namespace whose only way out is the emulated path, to this machine and no further. The path goes when this is dropped, the
/// namespace with the last process inside.
pub struct Shell {
    namespace: Namespace,
    emulator: Emulator,
    measure: trust::Measure,
    /// This machine, as seen from inside.
    pub host: Ipv4Addr,
    /// The inside, as seen from this machine.
    pub inside: Ipv4Addr,
}

/// What the path did, over all of the shell's time.
#[derive(Debug, Serialize)]
pub struct Carried {
    /// How exact the path was.
    pub emulation: Emulation,
    /// One entry for each link, in the order of the network.
    pub links: Vec<CarriedByLink>,
}

/// What one link carried and dropped.
#[derive(Debug, Serialize)]
pub struct CarriedByLink {
    /// The link's name.
    pub name: String,
    /// Packets that arrived at the link.
    pub offered: u64,
    /// Packets that a full queue or queue management dropped.
    pub queue_drops: u64,
    /// Packets that the link's random loss took.
    pub random_losses: u64,
    /// What came out at the link's far end.
    pub delivered: Delivered,
}

impl Shell {
    /// `network`'s first link leads out, its second in. `mtu` in bytes.
    ///
    /// # Errors
    /// Without the rights for namespaces and devices.
    pub fn new(network: &Topology, mtu: u32, seed: u64) -> Result<Self, Error> {
        let namespace = Namespace::new()?;
        let (outside, number) = new_device(mtu)?;
        let address = |last| Ipv4Addr::from_bits(Ipv4Addr::new(100, 64, 0, 0).to_bits() + 4 * number + last);
        let (host, inside) = (address(1), address(2));
        Netlink::new()?.add_address(outside.index(), host, inside)?;
        let inner = namespace.enter(|| {
            let mut netlink = Netlink::new()?;
            let lo = netlink.index_of("lo")?;
            netlink.bring_up(lo, None)?;
            let device = Tun::new(&mut netlink, "path", mtu)?;
            netlink.add_address(device.index(), inside, host)?;
            let everywhere = Prefix { address: Ipv4Addr::UNSPECIFIED, length: 0 };
            netlink.add_route(everywhere, device.index(), Vec::new())?;
            Ok(device)
        })?;
        let path = Path::new(network, vec![Route::new(&[0], &[1], Rng::new(seed, Stream::Flow(0)))]);
        let measure = trust::Measure::new(&[path.base_rtt_ns(0)], network.links.iter(), mtu);
        let classifier = Box::new(between(inside, host));
        let emulator = Emulator::start(path, [inner, outside], mtu, measure.pauses(), classifier)?;
        let now = monotonic_ns();
        emulator.begin(now, |path| {
            path.begin(wired_links(network, mtu, now, &(now..NEVER), seed));
            path.count_from(now);
        });
        Ok(Self { namespace, emulator, measure, host, inside })
    }

    /// Does `work` inside, on a thread of its own.
    ///
    /// # Errors
    /// The error of `work`, or without the right to enter.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.namespace.enter(work)
    }

    /// Runs a program inside and waits for it. Ctrl-C is for the program meanwhile; should this process die, so does the
    /// program, unless it has changed its user by then. What it has started itself may live on, as after its own end.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn run(&self, mut command: Command) -> Result<ExitStatus, Error> {
        let what = format!("start `{}`", command.get_program().to_string_lossy());
        command.env("TANDEM_HOST", self.host.to_string());
        let inside = self.namespace.try_clone()?;
        // SAFETY: between fork and exec the closure only makes system calls.
        unsafe {
            command.pre_exec(move || {
                for signal in [libc::SIGINT, libc::SIGQUIT] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                set_parent_process_death_signal(Some(Signal::KILL))?;
                inside.move_thread_inside().map_err(io::Error::other)
            });
            for signal in [libc::SIGINT, libc::SIGQUIT] {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
        let status = command.spawn().and_then(|mut child| child.wait()).doing(what)?;
        self.enter(|| {
            let deadline = Instant::now() + MAX_ENDING;
            while connections_are_ending() && Instant::now() < deadline {
                thread::sleep(LOOK);
            }
            Ok(())
        })?;
        Ok(status)
    }

    /// Takes the path away.
    ///
    /// # Errors
    /// If the emulator failed while it ran.
    pub fn close(self, network: &Topology) -> Result<Carried, Error> {
        let path = self.emulator.path();
        let carried = |((spec, link), to): ((&tandem_scenario::LinkConfig, &Link<_>), End)| CarriedByLink {
            name: spec.name.clone(),
            offered: link.stats.offered_packets,
            queue_drops: link.stats.queue_drops,
            random_losses: link.stats.random_losses,
            delivered: path.delivered(to),
        };
        let to = [End::Receivers, End::Senders];
        let links = network.links.iter().zip(&path.network.links).zip(to).map(carried).collect();
        drop(path);
        Ok(Carried { emulation: trust::judge_path(self.measure, &self.emulator.stop()?, 0), links })
    }
}

/// Carries what the two addresses send each other. A machine that forwards packets would otherwise let the inside reach whatever the
/// machine can reach, and be reached from there.
fn between(inside: Ipv4Addr, host: Ipv4Addr) -> impl Fn(End, &[u8]) -> Option<usize> + Send + Sync {
    let inside_to_host = [inside.octets(), host.octets()].concat();
    let host_to_inside = [host.octets(), inside.octets()].concat();
    move |end, packet| {
        let expected = match end {
            End::Senders => &inside_to_host,
            End::Receivers => &host_to_inside,
        };
        let is_ipv4 = packet.first()? >> 4 == 4;
        (is_ipv4 && packet.get(12..20)? == expected).then_some(0)
    }
}

/// Are there connections in the calling thread's namespace that their programs have closed, but whose last data or FIN has not been
/// acknowledged yet? Without the path their peers would wait for it in vain.
fn connections_are_ending() -> bool {
    // FIN_WAIT1, LAST_ACK, CLOSING; the fourth column of a line that begins with a number.
    let is_ending = |line: &str| matches!(line.split_whitespace().nth(3), Some("04" | "09" | "0B"));
    ["tcp", "tcp6"].iter().any(|table| {
        // No table, no connections.
        fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default().lines().any(is_ending)
    })
}

/// A device on this machine whose number no other shell has.
fn new_device(mtu: u32) -> Result<(Tun, u32), Error> {
    let mut netlink = Netlink::new()?;
    for number in 0..MAX_SHELLS {
        match Tun::new(&mut netlink, &format!("tandem{number}"), mtu) {
            Err(Error::System { cause, .. }) if cause.kind() == io::ErrorKind::ResourceBusy => {}
            outcome => return Ok((outcome?, number)),
        }
    }
    Err(Error::Unsupported(format!("there are {MAX_SHELLS} shells already")))
}
