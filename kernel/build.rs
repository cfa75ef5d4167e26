// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles bpf/controller.bpf.c once for each controller, and lists the objects by name; and the other programs.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use libbpf_cargo::SkeletonBuilder;
use tandem_controllers::CONTROLLERS;

/// Objects that are no controller's, and what their bytes are called in Rust.
const SINGLE: [(&str, &str); 5] = [
    ("clocks", "CLOCKS"),
    ("histograms", "HISTOGRAMS"),
    ("pacing_probe", "PACING_PROBE"),
    ("policy", "POLICY"),
    ("trial", "TRIAL"),
];

/// Objects with something wrong, which only tests load: cargo has no build script for tests alone.
const TEST_OBJECTS: &str = "tests/objects";

fn main() {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let headers = PathBuf::from(
        env::var("DEP_TANDEM_CONTROLLERS_INCLUDE").expect("tandem-controllers tells where its headers are"),
    );
    let includes = [headers, package.join("bpf")];
    let out = env::var("OUT_DIR").unwrap();
    for folder in includes.iter().chain([&package.join(TEST_OBJECTS)]) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    println!("cargo::rerun-if-env-changed=TANDEM_CLANG");

    let template = package.join("bpf/controller.bpf.c");
    let mut list = String::from("// Generated from controllers.def.\npub static OBJECTS: &[(&str, &[u8])] = &[\n");
    for controller in CONTROLLERS.iter().filter(|c| c.kernel_obstacle().is_none()) {
        let object = Path::new(&out).join(format!("{}.bpf.o", controller.name));
        compile(&includes, &template, &[format!("-DCONTROLLER={}", controller.name)], &object);
        writeln!(list, "    (\"{}\", include_bytes!(r\"{}\")),", controller.name, object.display()).unwrap();
    }
    list.push_str("];\n");
    for (name, constant) in SINGLE {
        let object = Path::new(&out).join(format!("{name}.bpf.o"));
        compile(&includes, &package.join(format!("bpf/{name}.bpf.c")), &[], &object);
        writeln!(list, "pub static {constant}: &[u8] = include_bytes!(r\"{}\");", object.display()).unwrap();
    }
    fs::write(Path::new(&out).join("objects.rs"), list).unwrap();
    fs::write(Path::new(&out).join("sources.rs"), sources(&package.join("bpf"))).unwrap();

    for source in fs::read_dir(package.join(TEST_OBJECTS)).expect("the test objects").map(|entry| entry.unwrap().path())
    {
        let name = source.file_name().unwrap().to_str().expect("an ASCII name");
        if let Some(name) = name.strip_suffix(".bpf.c") {
            compile(&includes, &source, &[], &Path::new(&out).join(format!("{name}.test.o")));
        }
    }
}

/// What users' own headers are compiled with, as texts.
fn sources(folder: &Path) -> String {
    let mut sources: Vec<PathBuf> = fs::read_dir(folder).expect("bpf/").map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    let mut list = String::from("pub static SOURCES: &[(&str, &str)] = &[\n");
    for source in sources {
        let name = source.file_name().unwrap().to_str().expect("an ASCII name");
        writeln!(list, "    ({name:?}, include_str!({:?})),", source.display()).unwrap();
    }
    list + "];\n"
}

fn compile(includes: &[PathBuf], source: &Path, definitions: &[String], object: &Path) {
    let includes = includes.iter().map(|folder| format!("-I{}", folder.display()));
    let flags = ["-std=gnu11", "-ffreestanding", "-Wall", "-Werror"].map(String::from);
    // An object names its sources (BTF's lines): as seen from the repository, so that each folder builds the same object.
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("..").canonicalize().expect("the folder above");
    let names = [format!("-ffile-prefix-map={}=/tandem", root.display())];
    SkeletonBuilder::new()
        .source(source)
        .obj(object)
        .clang(env::var("TANDEM_CLANG").unwrap_or_else(|_| "clang-16".into()))
        .clang_args(flags.into_iter().chain(names).chain(includes).chain(definitions.iter().cloned()))
        .build()
        .unwrap_or_else(|e| panic!("{} {definitions:?}: {e:?}", source.display()));
}
