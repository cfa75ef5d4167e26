// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this machine runs now, and which controllers it could run.

use std::fs;

use serde::Serialize;
use tandem_controllers::{CONTROLLERS, Controller, find};
use tandem_scenario::units::Rate;

/// Linux's settings of congestion control; empty on other systems.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Machine {
    /// New connections have it, unless they choose another.
    pub default: Option<String>,
    /// The names that can be chosen at once.
    pub available: Vec<String>,
    /// The names that `modprobe` makes available.
    pub modules: Vec<String>,
    /// Largest send buffer of a connection, bytes: the third number of `net.ipv4.tcp_wmem`.
    pub send_buffer_bytes: Option<u64>,
    /// The queue discipline that new devices get: `net.core.default_qdisc`.
    pub discipline: Option<String>,
    /// The device of the default route, if its speed is known.
    pub port: Option<Port>,
    /// What the calling program can do itself.
    pub tools: Tools,
}

/// A network device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Port {
    /// As the kernel names it.
    pub name: String,
    /// Its speed.
    pub rate: Rate,
}

/// How the calling program can use controllers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Tools {
    /// It loads them into Linux: `tandem kernel load`.
    pub loads: bool,
    /// It sends files with them, over QUIC: `tandem send`.
    pub sends: bool,
}

/// How a controller comes onto a machine, the easiest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// It is the default.
    Present,
    /// The kernel has it.
    Sysctl,
    /// The kernel's module has to be loaded.
    Module,
    /// By eBPF, with `tandem kernel load`.
    Load,
    /// Not in this system's kernel, but over QUIC with `tandem send`.
    Quic,
}

const FOLDER: &str = "/proc/sys/net";

impl Machine {
    /// A Debian system with CUBIC as the default and the controllers of its modules, on which Tandem is installed: for answers that are to be the same
    /// everywhere.
    pub fn debian() -> Self {
        let modules =
            ["bbr", "bic", "dctcp", "highspeed", "htcp", "illinois", "scalable", "vegas", "veno", "westwood", "yeah"];
        Self {
            default: Some("cubic".into()),
            available: vec!["reno".into(), "cubic".into()],
            modules: modules.map(String::from).to_vec(),
            tools: Tools { loads: true, sends: true },
            ..Self::default()
        }
    }

    /// The machine that this runs on.
    pub fn this(tools: Tools) -> Self {
        let read = |name: &str| fs::read_to_string(format!("{FOLDER}/{name}")).unwrap_or_default();
        let speed = |device: &str| fs::read_to_string(format!("/sys/class/net/{device}/speed")).ok();
        let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let modules = fs::read_to_string(format!("/lib/modules/{}/modules.dep", release.trim())).unwrap_or_default();
        Self {
            send_buffer_bytes: read("ipv4/tcp_wmem").split_whitespace().nth(2).and_then(|bytes| bytes.parse().ok()),
            discipline: read("core/default_qdisc").split_whitespace().next().map(str::to_owned),
            port: port(&routes, speed),
            ..Self::from_texts(
                &read("ipv4/tcp_congestion_control"),
                &read("ipv4/tcp_available_congestion_control"),
                &modules,
                tools,
            )
        }
    }

    /// From the two sysctl files of these names and `modules.dep`.
    fn from_texts(default: &str, available: &str, modules: &str, tools: Tools) -> Self {
        let module = |line: &str| {
            let file = line.split(':').next()?.rsplit('/').next()?;
            let name = file.split(".ko").next()?.strip_prefix("tcp_")?;
            CONTROLLERS.iter().any(|c| c.name == name).then(|| name.to_owned())
        };
        Self {
            default: default.split_whitespace().next().map(str::to_owned),
            available: available.split_whitespace().map(str::to_owned).collect(),
            modules: modules.lines().filter_map(module).collect(),
            tools,
            ..Self::default()
        }
    }

    /// Whether QUIC can use it here: quinn neither accepts a pacing rate nor reports the number of marked packets.
    pub fn sends(&self, controller: &Controller) -> bool {
        self.tools.sends && !controller.owns_window() && !controller.counts_marks()
    }

    /// The easiest way to a controller; `None` if there is none here.
    pub fn way(&self, controller: &Controller) -> Option<Way> {
        let has = |names: &[String]| names.iter().any(|name| name == controller.name);
        let is_linux = self.default.is_some();
        if self.default.as_deref() == Some(controller.name) {
            return Some(Way::Present);
        }
        if has(&self.available) {
            return Some(Way::Sysctl);
        }
        if has(&self.modules) {
            return Some(Way::Module);
        }
        if controller.kernel_obstacle().is_some() {
            return None;
        }
        if is_linux && self.tools.loads {
            return Some(Way::Load);
        }
        self.sends(controller).then_some(Way::Quic)
    }
}

/// The device of the default route, from `/proc/net/route`, whose columns are the device and the destination. Its speed is in Mb/s; virtual
/// ones have none, or -1.
fn port(routes: &str, speed: impl Fn(&str) -> Option<String>) -> Option<Port> {
    let words = routes.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>());
    let name = words.into_iter().find_map(|words| (words.get(1) == Some(&"00000000")).then(|| words[0].to_owned()))?;
    let mbps: u64 = speed(&name)?.trim().parse().ok().filter(|mbps| *mbps > 0)?;
    Some(Port { name, rate: Rate { bps: mbps.checked_mul(1_000_000)? } })
}

impl Way {
    /// The command by which one program uses a controller, before the whole machine does; for QUIC the only one.
    pub fn command_for_one(self, controller: &str) -> Option<String> {
        let (name, iperf3) = (base_name(controller), format!("iperf3 -c HOST -C {}", base_name(controller)));
        match self {
            Way::Present => None,
            Way::Sysctl => Some(format!("sudo {iperf3}")),
            Way::Module => Some(format!("sudo modprobe tcp_{name} && sudo {iperf3}")),
            // With parameters it may stand beside the kernel's own of the same name.
            Way::Load if controller.contains('@') => {
                let controller = as_named(controller);
                Some(format!("sudo tandem kernel load {controller} --as advised && sudo iperf3 -c HOST -C advised"))
            }
            Way::Load => Some(format!("sudo tandem kernel load {} && sudo {iperf3}", as_named(controller))),
            Way::Quic => Some(send_command(controller)),
        }
    }

    /// The command that tries a controller on part of the machine's connections against `default`; over QUIC there is none.
    pub fn command_for_trial(self, controller: &str, default: &str) -> Option<String> {
        let has_own_name = self == Way::Load && controller.contains('@');
        let name = if has_own_name { "advised" } else { base_name(controller) };
        let trial = format!("sudo tandem trial {name} --against {default} --to ADDRESS");
        match self {
            Way::Present | Way::Quic => None,
            Way::Sysctl => Some(trial),
            Way::Module => Some(format!("sudo modprobe tcp_{name} && {trial}")),
            Way::Load => {
                let own_name = if has_own_name { format!(" --as {name}") } else { String::new() };
                Some(format!("sudo tandem kernel load {}{own_name} && {trial}", as_named(controller)))
            }
        }
    }

    /// The command that makes a controller the default; for QUIC the one that uses it.
    pub fn command(self, controller: &str) -> Option<String> {
        let sysctl = format!("sudo sysctl -w net.ipv4.tcp_congestion_control={controller}");
        match self {
            Way::Present => None,
            Way::Sysctl => Some(sysctl),
            Way::Module => Some(format!("sudo modprobe tcp_{controller} && {sysctl}")),
            Way::Load => Some(format!("sudo tandem kernel load {} --default", as_named(controller))),
            Way::Quic => Some(send_command(controller)),
        }
    }
}

/// Without its parameters: the name under which it is loaded.
fn base_name(controller: &str) -> &str {
    controller.split('@').next().unwrap_or(controller)
}

/// As commands take it: a header of the user's is named by its path, as it was given.
fn as_named(controller: &str) -> String {
    let name = base_name(controller);
    let path = find(name).ok().filter(|found| found.own_header().is_some()).map(|found| found.source);
    format!("{}{}", path.unwrap_or(name), &controller[name.len()..])
}

/// The command that uses a controller for one transfer, without root.
pub fn send_command(controller: &str) -> String {
    format!("tandem send FILE - --controller {}", as_named(controller))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: Tools = Tools { loads: true, sends: true };

    #[test]
    fn the_easiest_way_to_a_controller() {
        let modules =
            "kernel/net/ipv4/tcp_bbr.ko.xz:\nkernel/net/ipv4/tcp_htcp.ko: kernel/x.ko\nkernel/net/tcp_diag.ko:\n";
        let machine = Machine::from_texts("cubic\n", "reno cubic\n", modules, TOOLS);
        assert_eq!(machine.modules, ["bbr", "htcp"]);
        let way = |name: &str| machine.way(find(name).unwrap());
        assert_eq!(way("cubic"), Some(Way::Present));
        assert_eq!(way("reno"), Some(Way::Sysctl));
        assert_eq!(way("bbr"), Some(Way::Module));
        assert_eq!(way("compound_tube"), Some(Way::Load));
        // Without the module it comes by eBPF; the other one cannot, because of ECT(1).
        let without_modules = Machine::from_texts("cubic", "reno cubic", "", TOOLS);
        assert_eq!(without_modules.way(find("bbr").unwrap()), Some(Way::Load));
        assert_eq!(without_modules.way(find("prague").unwrap()), None);
    }

    #[test]
    fn without_linux_quic_is_left() {
        let elsewhere = Machine::from_texts("", "", "", TOOLS);
        assert_eq!(elsewhere.default, None);
        assert_eq!(elsewhere.way(find("cubic").unwrap()), Some(Way::Quic));
        for has_no_quic in ["bbr", "prague", "dctcp"] {
            assert_eq!(elsewhere.way(find(has_no_quic).unwrap()), None, "{has_no_quic}");
        }
        assert_eq!(Machine::default().way(find("cubic").unwrap()), None);
    }

    #[test]
    fn the_port_is_that_of_the_default_route() {
        let routes = "Iface\tDestination\tGateway\neth1\t0002A8C0\t00000000\neth0\t00000000\t010200C0\n";
        let found = port(routes, |device| (device == "eth0").then(|| "2500\n".to_owned()));
        assert_eq!(found, Some(Port { name: "eth0".into(), rate: Rate { bps: 2_500_000_000 } }));
        assert_eq!(port(routes, |_| Some("-1".into())), None);
        assert_eq!(port("Iface\tDestination\n", |_| Some("1000".into())), None);
    }

    #[test]
    fn commands_name_the_controller() {
        assert_eq!(Way::Present.command("cubic"), None);
        assert_eq!(Way::Sysctl.command("reno").unwrap(), "sudo sysctl -w net.ipv4.tcp_congestion_control=reno");
        assert_eq!(Way::Sysctl.command_for_one("bbr").unwrap(), "sudo iperf3 -c HOST -C bbr");
        let loaded = Way::Load.command_for_one("compound@gamma=20").unwrap();
        assert_eq!(loaded, "sudo tandem kernel load compound@gamma=20 --as advised && sudo iperf3 -c HOST -C advised");
        assert_eq!(
            Way::Load.command_for_one("fusion").unwrap(),
            "sudo tandem kernel load fusion && sudo iperf3 -c HOST -C fusion"
        );
        let trial = |way: Way, controller| way.command_for_trial(controller, "cubic");
        assert_eq!(trial(Way::Sysctl, "reno").unwrap(), "sudo tandem trial reno --against cubic --to ADDRESS");
        assert_eq!(
            trial(Way::Load, "compound@gamma=20").unwrap(),
            "sudo tandem kernel load compound@gamma=20 --as advised && sudo tandem trial advised --against cubic --to ADDRESS"
        );
        assert_eq!(trial(Way::Quic, "reno"), None);
        assert!(Way::Module.command("bbr").unwrap().starts_with("sudo modprobe tcp_bbr && sudo sysctl"));
        assert_eq!(Way::Load.command("fusion").unwrap(), "sudo tandem kernel load fusion --default");
    }
}
