// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles native.c once for each line of controllers.def and writes the same list as Rust; and the list of the tests' oracles.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

const NATIVE: &str = "src/native.c";
/// The tests' own controllers, found by name.
const ORACLES: &str = "tests/oracles";

fn main() {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let include = package.join("include");
    println!("cargo::rerun-if-changed={}", include.display());
    println!("cargo::rerun-if-changed={}", package.join(NATIVE).display());
    // Whoever compiles the headers for another host finds them by this: DEP_TANDEM_CONTROLLERS_INCLUDE.
    println!("cargo::metadata=include={}", include.display());
    let oracles = package.join(ORACLES);
    println!("cargo::rerun-if-changed={}", oracles.display());
    let def = fs::read_to_string(include.join("controllers.def")).expect("include/controllers.def");

    let mut list = String::from("// Generated from controllers.def.\nunsafe extern \"C\" {\n");
    let mut entries = String::new();
    let mut objects = Vec::new();
    let (mut modules, mut named) = (String::new(), String::new());
    for line in def.lines().filter(|l| l.starts_with("CONTROLLER(")) {
        let arguments = line.trim_start_matches("CONTROLLER(").trim_end().trim_end_matches(')');
        let (name, rest) = arguments.split_once(',').expect("CONTROLLER(name, family, signal, source)");
        objects.extend(compile(&package, name));
        let oracle = oracles.join(name).with_extension("rs");
        if oracle.exists() {
            writeln!(modules, "#[path = {oracle:?}]\nmod {name};").unwrap();
            writeln!(named, "    (\"{name}\", &{name}::ORACLE),").unwrap();
        }
        writeln!(list, "    static tandem_{name}: crate::ffi::RawController;").unwrap();
        // The remaining arguments are C string literals, which are Rust string literals too.
        writeln!(entries, "    crate::Controller::new(\"{name}\", {rest}, unsafe {{ &tandem_{name} }}),").unwrap();
    }
    // One library for all: each would put its folder on the linker's command line.
    cc::Build::new().objects(objects).compile("tandem_controllers");
    let count = entries.lines().count();
    write!(list, "}}\npub static CONTROLLERS: [crate::Controller; {count}] = [\n{entries}];\n").unwrap();
    write_out("list.rs", &list);
    // For tests/random.
    write_out("oracles.rs", &format!("{modules}pub const ORACLES: &[(&str, &Oracle)] = &[\n{named}];\n"));
}

fn write_out(name: &str, text: &str) {
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join(name), text).unwrap();
}

/// All come from the same file: each has a folder of its own.
fn compile(package: &Path, name: &str) -> Vec<PathBuf> {
    let mut build = cc::Build::new();
    build
        .out_dir(Path::new(&env::var("OUT_DIR").unwrap()).join(name))
        .file(package.join(NATIVE))
        .include(package.join("include"))
        .define("CONTROLLER", name)
        .flag("-std=c11")
        .flag("-ffreestanding")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true);
    if env::var_os("CARGO_FEATURE_SANITIZE").is_some() {
        build
            .compiler(env::var("TANDEM_CLANG").unwrap_or_else(|_| "clang-16".into()))
            .flag("-fsanitize=undefined,unsigned-integer-overflow,implicit-conversion")
            .flag("-fsanitize-trap=all");
    } else {
        // A stray float would not load into the kernel: make it an error here.
        build.flag_if_supported("-mgeneral-regs-only");
    }
    build.compile_intermediates()
}
