// SPDX-License-Identifier: MIT OR Apache-2.0
//! The features that the running kernel has and lacks, and the controllers that will load.

use std::{fs, path::Path};

use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;
use tandem_controllers::Params;

use crate::{
    Error, bpffs,
    form::Form,
    loadable,
    object::{self, can_set_pacing_rate, has_links, kernel_has_type, load},
    sockops::{Cgroup, can_load},
};

/// A feature that the kernel or this process has or lacks.
#[derive(Debug, Serialize)]
pub struct Feature {
    /// A short name, such as `BTF`.
    pub name: &'static str,
    /// Whether the kernel or this process has it.
    pub present: bool,
    /// Whether no controller can be loaded without it.
    pub required: bool,
    /// Its use if it is present; otherwise how to get it.
    pub note: &'static str,
}

/// Whether a controller would load here.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// The controller's name.
    pub controller: &'static str,
    /// The reason why it would not load; `None` if it would.
    pub obstacle: Option<String>,
}

/// The result of [`check`].
#[derive(Debug, Serialize)]
pub struct Check {
    /// The kernel's release, as `uname -r` prints it.
    pub kernel: String,
    /// The kernel's features, in the order in which a user should mend them.
    pub features: Vec<Feature>,
    /// Each controller that can run in a kernel.
    pub controllers: Vec<Verdict>,
}

impl Check {
    /// Whether every controller will load.
    pub fn is_ready(&self) -> bool {
        self.controllers.iter().all(|c| c.obstacle.is_none())
    }
}

/// Examines the running kernel. The kernel verifies each controller as if it were to be loaded, but none is registered.
pub fn check() -> Check {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let controllers = loadable().map(|c| Verdict {
        controller: c.name,
        obstacle: load(&Params::new(c), c.name).err().map(|e: Error| e.to_string()),
    });
    Check { kernel, controllers: controllers.collect(), features: features() }
}

/// The features that the kernel and this process have and lack; does not try the controllers.
pub fn features() -> Vec<Feature> {
    let mut features = for_controllers();
    features.extend(for_cgroups());
    features
}

fn feature(name: &'static str, present: bool, required: bool, has: &'static str, lacks: &'static str) -> Feature {
    Feature { name, present, required, note: if present { has } else { lacks } }
}

fn for_controllers() -> Vec<Feature> {
    let form = Form::of_kernel();
    vec![
        feature(
            "rights",
            has_rights(),
            true,
            "this process may load eBPF programs",
            "run it as root, or with the capabilities CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN; to load and unload also with \
             CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_SYS_PTRACE",
        ),
        feature(
            "BTF",
            Path::new("/sys/kernel/btf/vmlinux").exists(),
            true,
            "the kernel describes its types",
            "use a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian's, Ubuntu's and Fedora's are",
        ),
        feature(
            "struct_ops",
            kernel_has_type("bpf_struct_ops_tcp_congestion_ops"),
            true,
            "congestion controllers can come from eBPF",
            "struct_ops and TCP iterators need Linux 6.1 or newer with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_JIT=y",
        ),
        feature("JIT", jit_is_on(), true, "eBPF programs become machine code", "sysctl net.core.bpf_jit_enable=1"),
        feature(
            "links",
            has_links(),
            false,
            "a registration is a link (Linux 6.4)",
            "Linux before 6.4: a registration is a map entry, which works as well",
        ),
        feature(
            "pacing",
            can_set_pacing_rate(),
            false,
            "a controller may set the pacing rate (Linux 6.0)",
            "Linux before 6.0: controllers that set a pacing rate will not load",
        ),
        feature(
            "cong_control",
            form.is_some(),
            false,
            form.map_or("", Form::note),
            "it has other arguments than this version of Tandem knows: controllers that set the window in recovery will not load",
        ),
        feature(
            "bpffs",
            bpffs::is_mounted(),
            false,
            "/sys/fs/bpf keeps what is loaded",
            "/sys/fs/bpf is not a BPF file system; `load` mounts one, the last `unload` unmounts it",
        ),
    ]
}

/// Features that `tandem policy` and `tandem trial` need besides the required ones.
fn for_cgroups() -> [Feature; 3] {
    [
        feature(
            "cgroups",
            Cgroup::root().is_ok(),
            false,
            "cgroup v2 tells connections apart",
            "without cgroup v2 there is no `tandem policy` and no `tandem trial`: mount -t cgroup2 none /sys/fs/cgroup/unified",
        ),
        feature(
            "policy",
            can_load(object::POLICY, "policy"),
            false,
            "a policy can choose controllers for new connections",
            "`tandem policy` needs Linux 6.1 or newer with CONFIG_CGROUP_BPF=y",
        ),
        feature(
            "trial",
            can_load(object::TRIAL, "trial"),
            false,
            "a trial can choose controllers and record connections",
            "`tandem trial` needs Linux 6.1 or newer with CONFIG_CGROUP_BPF=y",
        ),
    ]
}

fn has_rights() -> bool {
    let needed = CapabilitySet::BPF | CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON | CapabilitySet::SYS_ADMIN;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

fn jit_is_on() -> bool {
    // Kernels that always compile (CONFIG_BPF_JIT_ALWAYS_ON) may hide the sysctl from a container.
    fs::read_to_string("/proc/sys/net/core/bpf_jit_enable").map_or(true, |text| text.trim() != "0")
}
