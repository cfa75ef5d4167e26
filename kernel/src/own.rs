// SPDX-License-Identifier: MIT OR Apache-2.0
//! Users' own headers, compiled for eBPF with the clang at hand, from the sources that the listed controllers' objects are built from.

use std::{
    collections::HashMap,
    env, fs, io,
    path::Path,
    process::{Command, Output},
    sync::{Mutex, PoisonError},
};

use libbpf_rs::libbpf_sys::API_HEADERS;
use tandem_controllers::{Controller, own::write_list};

use crate::Error;

mod sources {
    include!(concat!(env!("OUT_DIR"), "/sources.rs"));
}

/// This many of clang's messages are shown.
const MESSAGES: usize = 5;

/// The objects made so far, by the controllers' arithmetic. They stay, as the controllers do.
static OBJECTS: Mutex<Option<HashMap<&'static str, &'static [u8]>>> = Mutex::new(None);

/// The object of a header's controller.
///
/// # Errors
/// If the header cannot be compiled for eBPF.
pub fn object(controller: &Controller, header: &Path) -> Result<&'static [u8], Error> {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    let objects = objects.get_or_insert_default();
    if let Some(object) = objects.get(controller.arithmetic) {
        return Ok(object);
    }
    let object: &'static [u8] = compile(controller.name, header)?.leak();
    objects.insert(controller.arithmetic, object);
    Ok(object)
}

fn compile(name: &str, header: &Path) -> Result<Vec<u8>, Error> {
    let folder = tempfile::Builder::new().prefix("tandem-").tempdir();
    let folder = folder.map_err(|e| Error::io("make a folder in", env::temp_dir(), e))?;
    let path = folder.path();
    write_sources(path, name).map_err(|e| Error::io("write to", path, e))?;
    let output = run_clang(path, name, header)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).replace(&format!("{}/", path.display()), "Tandem's ");
        let errors: Vec<&str> = said.lines().filter(|line| line.contains("error:")).take(MESSAGES).collect();
        let messages = if errors.is_empty() { said.trim().to_owned() } else { errors.join("\n") };
        return Err(Error::OwnDoesNotCompile { path: header.into(), messages });
    }
    let object = path.join("own.bpf.o");
    fs::read(&object).map_err(|e| Error::io("read", object, e))
}

fn write_sources(folder: &Path, name: &str) -> io::Result<()> {
    write_list(folder, name)?;
    sources::SOURCES.iter().try_for_each(|(file, text)| fs::write(folder.join(file), text))?;
    fs::create_dir(folder.join("bpf"))?;
    API_HEADERS.iter().try_for_each(|(file, text)| fs::write(folder.join("bpf").join(file), text))
}

/// As build.rs does it, by libbpf-cargo.
fn run_clang(folder: &Path, name: &str, header: &Path) -> Result<Output, Error> {
    let clang = env::var("TANDEM_CLANG").ok();
    let clangs = clang.iter().map(String::as_str).chain(["clang", "clang-16"]);
    for clang in clangs {
        let mut command = Command::new(clang);
        command.args([
            "-g",
            "-O2",
            "-target",
            "bpf",
            "-c",
            "-std=gnu11",
            "-ffreestanding",
            "-fno-stack-protector",
            "-Wall",
        ]);
        command.args([format!("-D__TARGET_ARCH_{}", target()), format!("-DCONTROLLER={name}")]);
        command.arg(format!("-iquote{}", header.parent().unwrap_or(Path::new(".")).display()));
        command.arg(format!("-I{}", folder.display())).arg(folder.join("controller.bpf.c"));
        command.arg("-o").arg(folder.join("own.bpf.o")).env("LC_ALL", "C");
        match command.output() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io("run", clang, e)),
            Ok(output) => return Ok(output),
        }
    }
    Err(Error::NoClang { path: header.into() })
}

/// The kernel's word for this machine, which the sources ask for.
fn target() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        "powerpc64" => "powerpc",
        "s390x" => "s390",
        "riscv64" => "riscv",
        "loongarch64" => "loongarch",
        other => other,
    }
}
