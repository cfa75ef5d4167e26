// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong, and the mend.

use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{name}` does not run in the kernel: {reason}. The simulator runs it: `tandem compare`, `tandem run`")]
    NotForKernel { name: &'static str, reason: &'static str },
    #[error(
        "not permitted to {what}: run it as root, or with the capabilities CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN"
    )]
    NoRights { what: &'static str },
    #[error(
        "this kernel does not describe its types: there is no /sys/kernel/btf/vmlinux. \
         It takes a kernel built with CONFIG_DEBUG_INFO_BTF=y, as Debian's, Ubuntu's and Fedora's are"
    )]
    NoBtf,
    #[error(
        "this kernel takes no congestion controllers from eBPF (struct_ops and TCP iterators): it takes Linux 6.1 or newer with \
         CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y, and the sysctl net.core.bpf_jit_enable=1"
    )]
    NoStructOps,
    #[error("`{0}` is no name for a controller: give 1 to 15 letters, digits or `_`")]
    BadName(String),
    #[error(
        "`{name}` is loaded already; to load it with other parameters unload it first, or give it another name with --as"
    )]
    AlreadyLoaded { name: String },
    #[error("the kernel has a controller named `{name}` already; give this one another name: --as bpf_{name}")]
    NameTaken { name: String },
    #[error("`{name}` is not loaded; loaded: {}", or_none(.loaded))]
    NotLoaded { name: String, loaded: Vec<String> },
    #[error("`{name}` is the kernel's own or another program's: Tandem unloads only what it loaded: {}", or_none(.loaded))]
    NotOurs { name: String, loaded: Vec<String> },
    #[error(
        "the kernel does not accept the licence of `{name}`: struct_ops programs must be GPL compatible, such as \"Dual BSD/GPL\""
    )]
    License { name: String },
    #[error("`{name}` sets a member of struct tcp_congestion_ops that eBPF controllers may not: {detail}")]
    UnsupportedOperation { name: String, detail: String },
    #[error(
        "`{name}` is incomplete: Linux wants ssthresh, undo_cwnd and cong_avoid (or cong_control) of every controller"
    )]
    Incomplete { name: String },
    #[error(
        "the kernel's verifier rejects `{name}`; please report this with the kernel's version (uname -r) and these lines:\n{log}"
    )]
    Verifier { name: String, log: String },
    #[error("the kernel refuses `{name}`: {detail}")]
    Refused { name: String, detail: String },
    #[error("cannot {what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not a BPF file system, and mounting one failed: {source}; try: mount -t bpf bpf {}", path.display(), path.display())]
    NoBpffs { path: PathBuf, source: io::Error },
    #[error("cannot list the network namespaces: {0}")]
    Namespaces(io::Error),
}

impl Error {
    /// An I/O error on a path; lacking rights have their own mend.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { what, path: path.into(), source }
    }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
