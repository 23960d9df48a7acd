//! examples/hello.c in Rust: runs a network once, on zeros.
use nnrt_sys::*;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

fn text(message: *const std::os::raw::c_char) -> String {
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}

fn run(path: &str) -> Result<usize, String> {
    unsafe {
        let mut error: nnrt_error = std::mem::zeroed();
        let (mut model, mut session) = (null_mut(), null_mut());
        let path = CString::new(path).unwrap();
        if nnrt_onnx_load(&mut model, path.as_ptr(), null(), &mut error) != 0
            || nnrt_session_create(&mut session, model, null(), &mut error) != 0
        {
            return Err(text(error.message.as_ptr()));
        }
        let mut input = vec![0f32; nnrt_session_input(session, 0).bytes / 4];
        let mut output = vec![0f32; nnrt_session_output(session, 0).bytes / 4];
        let reads = nnrt_io { data: input.as_mut_ptr().cast(), bytes: 4 * input.len(), dims: null() };
        let writes = nnrt_io { data: output.as_mut_ptr().cast(), bytes: 4 * output.len(), dims: null() };
        if nnrt_run(session, &reads, 1, &writes, 1) != 0 {
            return Err(text(nnrt_session_error(session)));
        }
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
        Ok((0..output.len()).max_by(|&a, &b| output[a].total_cmp(&output[b])).unwrap_or(0))
    }
}

fn main() {
    match run(&std::env::args().nth(1).unwrap_or_default()) {
        Ok(best) => println!("largest output: {best}"),
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(1);
        }
    }
}
