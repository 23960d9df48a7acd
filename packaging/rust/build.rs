//! Compiles nnrt.c with the C compiler (CC, CFLAGS) into a static library. No crate is needed.
use std::{env, path::Path, process::Command};

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|fault| panic!("{command:?}: {fault}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let target = env::var("TARGET").unwrap();
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    let flags = env::var("CFLAGS").unwrap_or_else(|_| "-O2".into());
    let object = Path::new(&out).join("nnrt.o");
    let library = Path::new(&out).join("libnnrt.a");
    let _ = std::fs::remove_file(&library);
    run(Command::new(cc).args(["-std=c99", "-fPIC", "-Iinclude", "-c", "nnrt.c", "-o"]).arg(&object).args(flags.split_whitespace()));
    run(Command::new(env::var("AR").unwrap_or_else(|_| "ar".into())).arg("crs").arg(&library).arg(&object));
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=nnrt");
    if !target.contains("windows") && !target.contains("apple") {
        println!("cargo:rustc-link-lib=m");
    }
    println!("cargo:include={}/include", env::var("CARGO_MANIFEST_DIR").unwrap());
    for name in ["nnrt.c", "include"] {
        println!("cargo:rerun-if-changed={name}");
    }
    for name in ["CC", "CFLAGS", "AR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
}
