// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this kernel has and lacks, and which controllers will load.

use std::{fs, path::Path};

use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;
use tandem_controllers::Params;

use crate::{
    Error, bpffs, loadable,
    object::{self, has_links, kernel_has_type, load},
};

/// One thing that the kernel or this process has, or lacks.
#[derive(Debug, Serialize)]
pub struct Feature {
    pub name: &'static str,
    pub present: bool,
    /// Is nothing loaded without it?
    pub required: bool,
    /// What it is good for; if it is lacking, the mend.
    pub note: &'static str,
}

/// Whether a controller would load here.
#[derive(Debug, Serialize)]
pub struct Verdict {
    pub controller: &'static str,
    /// `None`: it would load.
    pub obstacle: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Check {
    /// `uname -r`.
    pub kernel: String,
    pub features: Vec<Feature>,
    pub controllers: Vec<Verdict>,
}

impl Check {
    /// Will every controller load?
    pub fn is_ready(&self) -> bool {
        self.controllers.iter().all(|c| c.obstacle.is_none())
    }
}

/// Looks at the running kernel. Each controller is verified as if it were loaded, but registered nowhere.
pub fn check() -> Check {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let controllers = loadable().map(|c| Verdict {
        controller: c.name,
        obstacle: load(&Params::new(c), c.name).err().map(|e: Error| e.to_string()),
    });
    Check { kernel, controllers: controllers.collect(), features: features() }
}

/// What the kernel and this process have and lack, without a look at the controllers.
pub fn features() -> Vec<Feature> {
    let feature = |name, present, required, has: &'static str, lacks: &'static str| Feature {
        name,
        present,
        required,
        note: if present { has } else { lacks },
    };
    vec![
        feature(
            "rights",
            has_rights(),
            true,
            "this process may load eBPF programs",
            "run it as root, or with CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN",
        ),
        feature(
            "BTF",
            Path::new("/sys/kernel/btf/vmlinux").exists(),
            true,
            "the kernel describes its types",
            "it takes a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian's, Ubuntu's and Fedora's are",
        ),
        feature(
            "struct_ops",
            kernel_has_type("bpf_struct_ops_tcp_congestion_ops"),
            true,
            "congestion controllers can come from eBPF",
            "struct_ops and TCP iterators take Linux 6.1 or newer with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_JIT=y",
        ),
        feature("JIT", jit_is_on(), true, "eBPF programs become machine code", "sysctl net.core.bpf_jit_enable=1"),
        feature(
            "links",
            has_links(),
            false,
            "a registration is a link (Linux 6.4)",
            "Linux before 6.4: a registration is a map entry; works as well",
        ),
        feature(
            "pacing",
            can_set_pacing_rate(),
            false,
            "a controller may set the pacing rate (Linux 6.0)",
            "Linux before 6.0: controllers that set a pacing rate will not load",
        ),
        feature(
            "bpffs",
            bpffs::is_mounted(),
            false,
            "/sys/fs/bpf keeps what is loaded",
            "/sys/fs/bpf is no BPF file system; `load` mounts one, the last `unload` takes it away",
        ),
    ]
}

fn has_rights() -> bool {
    let needed = CapabilitySet::BPF | CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON | CapabilitySet::SYS_ADMIN;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

fn can_set_pacing_rate() -> bool {
    object::verify_bytes(object::PACING_PROBE, "pacing_probe").is_ok()
}

fn jit_is_on() -> bool {
    // Kernels that always compile (CONFIG_BPF_JIT_ALWAYS_ON) may hide the sysctl from a container.
    fs::read_to_string("/proc/sys/net/core/bpf_jit_enable").map_or(true, |text| text.trim() != "0")
}
