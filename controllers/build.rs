// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles native.c once for each entry of controllers.def and writes the same list as Rust; and the list of the tests' oracles.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

const NATIVE: &str = "src/native.c";
/// What native.c includes for each of them; it includes the controller's own by a macro.
const HOST_HEADER: &str = "controller.h";
/// The controllers once more, for the tests: a file for each.
const ORACLES: &str = "tests/oracles";

fn main() {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let include = package.join("include");
    println!("cargo::rerun-if-changed={}", include.display());
    println!("cargo::rerun-if-changed={}", package.join(NATIVE).display());
    // Build scripts of other hosts find the headers by this: DEP_TANDEM_CONTROLLERS_INCLUDE.
    println!("cargo::metadata=include={}", include.display());
    let oracles = package.join(ORACLES);
    let def = fs::read_to_string(include.join("controllers.def")).expect("include/controllers.def");

    let mut list = String::from(
        "// Generated from controllers.def.\n\
         // SAFETY: native.c defines each of these as a constant of this type, which tests/layout.rs checks.\n\
         unsafe extern \"C\" {\n",
    );
    let mut entries = String::new();
    let mut objects = Vec::new();
    let (mut modules, mut named) = (String::new(), String::new());
    for entry in def.split("\nTANDEM_CONTROLLER(").skip(1) {
        // The source is the last, and may have commas of its own. What traits say comes from C.
        let arguments: Vec<&str> = entry.trim_end().trim_end_matches(')').splitn(6, ',').map(str::trim).collect();
        let [name, family, signal, traits, look, source] = arguments[..] else {
            panic!("`{entry}` in controllers.def is not TANDEM_CONTROLLER(name, family, signal, traits, look, source)")
        };
        objects.extend(compile(&package, name));
        // Not looked at here: the controllers are not to be compiled anew where an oracle changes.
        writeln!(modules, "#[path = {:?}]\nmod {name};", oracles.join(name).with_extension("rs")).unwrap();
        writeln!(named, "    (\"{name}\", &{name}::ORACLE),").unwrap();
        writeln!(list, "    safe static tandem_{name}: crate::ffi::RawController;").unwrap();
        // Look and source decide nothing.
        let headers = [HOST_HEADER, &format!("{name}.h")];
        let arithmetic = tandem_arithmetic::headers_hash(&include, &headers, &[name, signal, traits]);
        // C string literals are Rust string literals too. A signal that does not exist compiles neither here nor in native.c.
        let signal = signal[..1].to_owned() + &signal[1..].to_lowercase();
        writeln!(
            entries,
            "    crate::Controller {{ name: {name:?}, family: {family}, signal: crate::Signal::{signal}, look: {look}, \
             source: {source}, arithmetic: {arithmetic:?}, header: None, raw: &tandem_{name} }},"
        )
        .unwrap();
    }
    // One library for all: with one each, the linker's command line would get a folder each.
    cc::Build::new().objects(objects).compile("tandem_controllers");
    let count = entries.lines().count();
    let doc = "/// All controllers, in the order of `controllers.def`.";
    write!(list, "}}\n{doc}\npub static CONTROLLERS: [crate::Controller; {count}] = [\n{entries}];\n").unwrap();
    write_out("list.rs", &list);
    write_out("files.rs", &files(&package, &include));
    // For tests/random.
    write_out("oracles.rs", &format!("{modules}pub const ORACLES: &[(&str, &Oracle)] = &[\n{named}];\n"));
}

/// The headers and what is compiled with them, as texts: users' own are compiled where there is no checkout.
fn files(package: &Path, include: &Path) -> String {
    let mut headers: Vec<PathBuf> = fs::read_dir(include).unwrap().map(|entry| entry.unwrap().path()).collect();
    headers.retain(|path| path.extension().is_some_and(|extension| extension == "h"));
    headers.sort();
    let mut list = String::from("/// Our headers: their names and texts.\npub static HEADERS: &[(&str, &str)] = &[\n");
    for header in headers {
        let name = header.file_name().unwrap().to_str().expect("an ASCII name");
        writeln!(list, "    ({name:?}, include_str!({:?})),", header.display()).unwrap();
    }
    let native = package.join(NATIVE);
    writeln!(list, "];\npub static NATIVE_C: &str = include_str!({:?});", native.display()).unwrap();
    list
}

fn write_out(name: &str, text: &str) {
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join(name), text).unwrap();
}

/// Compiles one controller, in a folder of its own because all come from the same file.
fn compile(package: &Path, name: &str) -> Vec<PathBuf> {
    compiler(package, name).file(package.join(NATIVE)).define("CONTROLLER", name).compile_intermediates()
}

/// A C compiler that writes into a folder of this name.
fn compiler(package: &Path, name: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .out_dir(Path::new(&env::var("OUT_DIR").unwrap()).join(name))
        .include(package.join("include"))
        .flag("-std=c11")
        .flag("-ffreestanding")
        .opt_level(2)
        // cc keeps frame pointers when debug information is on. They cost 3 instructions a call.
        .force_frame_pointer(false)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true);
    if env::var_os("CARGO_FEATURE_SANITIZE").is_some() {
        build
            .compiler(env::var("TANDEM_CLANG").unwrap_or_else(|_| "clang-16".into()))
            .flag("-fsanitize=undefined,unsigned-integer-overflow,implicit-conversion")
            .flag("-fsanitize-trap=all");
    } else if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch != "wasm32") {
        // The kernel would not load a stray float; make it an error here. WebAssembly has no such registers to forbid.
        build.flag_if_supported("-mgeneral-regs-only");
    }
    build
}
