// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles kernel/controller.bpf.c once for each controller, and lists the objects by name; and the probe of `check`.

use std::{env, fmt::Write, fs, path::Path};

use libbpf_cargo::SkeletonBuilder;
use tandem_controllers::{CONTROLLERS, STATE_BYTES};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository's root");
    let out = env::var("OUT_DIR").unwrap();
    for folder in ["controllers", "kernel"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo:rerun-if-env-changed=TANDEM_CLANG");

    let mut list = String::from("// Generated from controllers.def.\npub static OBJECTS: &[(&str, &[u8])] = &[\n");
    for controller in CONTROLLERS.iter().filter(|c| c.state_bytes() <= STATE_BYTES) {
        let object = Path::new(&out).join(format!("{}.bpf.o", controller.name));
        compile(&root, "controller", &[format!("-DCONTROLLER={}", controller.name)], &object);
        writeln!(list, "    (\"{}\", include_bytes!(r\"{}\")),", controller.name, object.display()).unwrap();
    }
    let probe = Path::new(&out).join("pacing_probe.bpf.o");
    compile(&root, "pacing_probe", &[], &probe);
    write!(list, "];\npub static PACING_PROBE: &[u8] = include_bytes!(r\"{}\");\n", probe.display()).unwrap();
    fs::write(Path::new(&out).join("objects.rs"), list).unwrap();
}

fn compile(root: &Path, source: &str, definitions: &[String], object: &Path) {
    SkeletonBuilder::new()
        .source(root.join(format!("kernel/{source}.bpf.c")))
        .obj(object)
        .clang(env::var("TANDEM_CLANG").unwrap_or_else(|_| "clang-16".into()))
        .clang_args(
            ["-std=gnu11", "-ffreestanding", "-Wall", "-Werror"]
                .map(String::from)
                .iter()
                .chain(&[format!("-I{}", root.join("controllers").display())])
                .chain(definitions),
        )
        .build()
        .unwrap_or_else(|e| panic!("kernel/{source}.bpf.c {definitions:?}: {e:?}"));
}
