// SPDX-License-Identifier: MIT OR Apache-2.0
//! A new controller begins as a copy of `reno.h` under another name, and its entry in the list.

use std::{fs, path::Path, process::Command};

#[test]
fn a_copy_of_reno_under_another_name_compiles() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = package.join("include");
    let read = |name| fs::read_to_string(include.join(name)).unwrap();
    // Before the other headers in the compiler's search, so that this is the list.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copy");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.h"), read("reno.h").replace("reno", "mine").replace("RENO", "MINE")).unwrap();
    let entry = "TANDEM_CONTROLLER(mine, \"mine\", LOSS, 0, 31, \"here\")\n";
    fs::write(folder.join("controllers.def"), read("controllers.def") + entry).unwrap();
    let mut compile = Command::new("cc");
    compile
        .args(["-std=c11", "-ffreestanding", "-O2", "-Wall", "-Wextra", "-Werror", "-DCONTROLLER=mine", "-c"])
        .arg(package.join("src/native.c"))
        .arg("-I")
        .arg(&folder)
        .arg("-I")
        .arg(&include)
        .arg("-o")
        .arg(folder.join("mine.o"));
    let compiled = compile.output().expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}
