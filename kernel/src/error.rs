// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of this crate; each message says how to mend it.

use std::{io, path::PathBuf};

use crate::names::other_name;

/// The capabilities with which a process that is not root can load, watch and unload.
pub(crate) const CAPABILITIES: &str = "the capabilities CAP_BPF, CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_NET_ADMIN, CAP_PERFMON, \
     CAP_SYS_ADMIN and CAP_SYS_PTRACE";

/// A failure to load, unload or watch controllers. In every variant, `name` is the name under which the controller is, or was to
/// be, registered, and `loaded` lists the names of the controllers that Tandem has loaded.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the enum's documentation and the variants' explain the fields once")]
pub enum Error {
    /// The controller cannot run in the kernel, for this reason.
    #[error("`{name}` does not run in the kernel: {reason}. The simulator runs it: `tandem compare`, `tandem run`")]
    NotForKernel { name: &'static str, reason: &'static str },
    /// The process lacks the rights for this task.
    #[error("not permitted to {what}: run it as root, or with {CAPABILITIES}")]
    NoRights { what: &'static str },
    /// The kernel has no BTF.
    #[error(
        "this kernel does not describe its types: there is no /sys/kernel/btf/vmlinux. \
         Tandem needs a kernel built with CONFIG_DEBUG_INFO_BTF=y, as Debian's, Ubuntu's and Fedora's are"
    )]
    NoBtf,
    /// The kernel has no `struct_ops` for congestion control.
    #[error(
        "this kernel takes no congestion controllers from eBPF (struct_ops and TCP iterators): Tandem needs Linux 6.1 or newer \
         with CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y, and the sysctl net.core.bpf_jit_enable=1"
    )]
    NoStructOps,
    /// The controller sets a pacing rate, which this kernel lets no eBPF controller set.
    #[error("`{name}` sets a pacing rate, which this kernel lets no controller from eBPF do: use Linux 6.0 or newer")]
    NoPacing { name: String },
    /// The controller sets the window in recovery, and this kernel has `cong_control` in no form that Tandem knows.
    #[error(
        "`{name}` sets the window in recovery, by the call cong_control of struct tcp_congestion_ops; this kernel's has other arguments \
         than those that this version of Tandem knows: use a newer Tandem, or Linux 6.1 to 7.2"
    )]
    NoCongControl { name: String },
    /// A controller cannot be registered under this name.
    #[error("`{0}` cannot name a controller: give 1 to 15 letters, digits or `_`")]
    BadName(String),
    /// Tandem has loaded a controller under this name already.
    #[error(
        "`{name}` is loaded already; to load it with other parameters unload it first, or give it another name with --as"
    )]
    AlreadyLoaded { name: String },
    /// The kernel or another program has a controller of this name.
    #[error("the kernel already has a controller named `{name}`; give this one another name: --as {}", other_name(.name))]
    NameTaken { name: String },
    /// No such controller is registered.
    #[error("`{name}` is not loaded; loaded: {}", or_none(.loaded))]
    NotLoaded { name: String, loaded: Vec<String> },
    /// The controller is registered, but not by Tandem.
    #[error(
        "`{name}` belongs to the kernel or to another program; Tandem unloads only the controllers that it loaded: {}",
        or_none(.loaded)
    )]
    NotOurs { name: String, loaded: Vec<String> },
    /// The object's licence is not compatible with the GPL.
    #[error(
        "the kernel does not accept the licence of `{name}`: struct_ops programs must be GPL compatible, such as \"Dual BSD/GPL\""
    )]
    License { name: String },
    /// The object sets a call point that eBPF may not set; `detail` is the message of libbpf.
    #[error("`{name}` sets a member of struct tcp_congestion_ops that eBPF controllers may not set: {detail}")]
    UnsupportedOperation { name: String, detail: String },
    /// The object lacks a call point that Linux requires.
    #[error(
        "`{name}` is incomplete: Linux requires ssthresh, undo_cwnd and cong_avoid (or cong_control) of every controller"
    )]
    Incomplete { name: String },
    /// The verifier rejects a program; `log` has the last lines of its log.
    #[error(
        "the kernel's verifier rejects `{name}`; please report this with the kernel's version (uname -r) and these lines:\n{log}"
    )]
    Verifier { name: String, log: String },
    /// The verifier rejects a header of the user's; `place` is the line that it came to, where the kernel tells, and `log` has the last lines of
    /// its log.
    #[error(
        "the kernel's verifier rejects `{}`{place}. What it asks of a header, its `Integer rules`, is in controllers/README.md; it says:\n{log}",
        path.display()
    )]
    OwnVerifier { path: PathBuf, place: String, log: String },
    /// A header of the user's does not compile for eBPF.
    #[error("`{}` does not compile for eBPF:\n{messages}", path.display())]
    OwnDoesNotCompile { path: PathBuf, messages: String },
    /// There is no clang, which a header of the user's needs.
    #[error(
        "`{}` needs clang for the kernel, and there is none: install it (Debian: apt-get install clang), or set TANDEM_CLANG",
        path.display()
    )]
    NoClang { path: PathBuf },
    /// The kernel or libbpf refuses for another reason, `detail`.
    #[error("the kernel refuses `{name}`: {detail}")]
    Refused { name: String, detail: String },
    /// A file operation failed: `what` is its verb.
    // Not `source`: printing an error with its sources would show it twice.
    #[error("cannot {what} {}: {cause}", path.display())]
    Io { what: &'static str, path: PathBuf, cause: io::Error },
    /// There is no BPF file system at `path`, and mounting one there failed.
    #[error(
        "{} is not a BPF file system, and mounting one failed: {cause}; try: mount -t bpf -o mode=0700 bpf {}",
        path.display(), path.display()
    )]
    NoBpffs { path: PathBuf, cause: io::Error },
    /// A file or folder that somebody other than root could have made or could change; `why` says how that shows.
    #[error(
        "`{}` {why}: somebody other than root could have put it there, so Tandem neither follows nor changes it. Look at it \
         (ls -ld {}), remove it or make it root's own (chown root, chmod 0700), and try again",
        path.display(), path.display()
    )]
    Untrusted { path: PathBuf, why: String },
    /// Another process loads or unloads for too long.
    #[error(
        "another Tandem command has been loading or unloading for a minute: {holder}. Wait for its end, or end it, and try again"
    )]
    Busy { holder: String },
    /// The process has mounts of its own, in which nothing would outlast it.
    #[error(
        "this process does not see the machine's /sys/fs/bpf, which keeps what is loaded (`ip netns exec` and `unshare --mount` hide \
         it). Controllers and policies serve all network namespaces; load and unload them outside: nsenter --mount=/proc/1/ns/mnt tandem ..."
    )]
    OwnMounts,
    /// The process may have too few open files.
    #[error(
        "loading a controller takes up to {needed} open files, and this process may have {limit}: ulimit -n {needed}"
    )]
    FewFiles { limit: u64, needed: u64 },
    /// There is no file system of control groups of version 2.
    #[error(
        "there is no cgroup v2 here, by which connections are told apart: mount -t cgroup2 none /sys/fs/cgroup/unified, or start Linux \
         with systemd.unified_cgroup_hierarchy=1"
    )]
    NoCgroups,
    /// No control group that programs can be attached to.
    #[error("the cgroup {} {why}; `systemd-cgls` and /proc/PID/cgroup show the paths", path.display())]
    BadCgroup { path: PathBuf, why: String },
    /// Somebody else's program has the control group for itself.
    #[error(
        "another program is attached to {} or around it and allows no other: `bpftool cgroup tree` shows it. It must be \
         attached so that it allows several (BPF_F_ALLOW_MULTI); or give another --cgroup",
        path.display()
    )]
    CgroupTaken { path: PathBuf },
    /// A rule of a policy, in this line of its file, is for a controller that is not there.
    #[error(
        "line {line}: the kernel has no controller `{controller}` now; there are: {}. `tandem kernel load {controller}` or \
         `modprobe tcp_{controller}` loads it, if it exists",
        available.join(", ")
    )]
    UnknownController { line: usize, controller: String, available: Vec<String> },
    /// A rule of a policy, in this line of its file, is for a control group that is not there.
    #[error("line {line}: {why}")]
    RuleWithoutCgroup { line: usize, why: String },
    /// The kernel does not have this controller now.
    #[error(
        "the kernel has no controller `{name}` now; there are: {}. `tandem kernel load {name}` or `modprobe tcp_{name}` loads it, if \
         it exists",
        available.join(", ")
    )]
    NotAvailable { name: String, available: Vec<String> },
    /// A policy would decide before the trial does.
    #[error(
        "the policy for {cgroup} decides on these connections first: remove it for the duration of the trial (`tandem policy remove`), or give \
         the trial a cgroup within that one (--cgroup)"
    )]
    PolicyFirst { cgroup: String },
    /// No policy is loaded.
    #[error("no policy is loaded: `tandem policy load FILE` loads one")]
    NoPolicy,
    /// A policy is loaded for another cgroup.
    #[error(
        "a policy is loaded for {loaded}, and only one for the same cgroup replaces it: `tandem policy remove` first, or give --cgroup {loaded}"
    )]
    OtherCgroup { loaded: String },
    /// The loaded policy's maps are not as this version makes them.
    #[error("the loaded policy is of another version of Tandem: load its file again, which replaces it without a gap")]
    OtherVersion,
    /// The machine's network namespaces cannot be listed.
    #[error("cannot list the network namespaces: {0}")]
    Namespaces(io::Error),
}

impl Error {
    /// An I/O error on a path.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>, cause: io::Error) -> Self {
        Self::Io { what, path: path.into(), cause }
    }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
