//! The functions of nnrt.h and nnrt_onnx.h that load a model, create a session and run it. Both headers, in the folder
//! `include`, state what each argument means; other functions of them are in the library, too.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_void};

#[repr(C)] pub struct NNRT_Model { _private: [u8; 0] }
#[repr(C)] pub struct nnrt_session { _private: [u8; 0] }

/// Zero it once; `message` then holds one sentence about the first fault.
#[repr(C)]
pub struct nnrt_error { pub code: i32, pub node: i32, pub tensor: i32, pub capacity: u32, pub message: [c_char; 276] }

/// A buffer of an input or output; `dims` is null, or the dimensions of an input in this run.
#[repr(C)]
pub struct nnrt_io { pub data: *mut c_void, pub bytes: usize, pub dims: *const i32 }

#[repr(C)]
pub struct nnrt_dims { pub rank: i32, pub dims: [i32; 8] }

/// An input or output of a session: `bytes` is the size of its buffer.
#[repr(C)]
pub struct nnrt_io_info {
    pub name: *const c_char, pub data_type: i32, pub format: i32, pub shape: nnrt_dims, pub open: bool, pub bytes: usize,
}

extern "C" {
    pub fn nnrt_version() -> *const c_char;
    pub fn nnrt_onnx_load(model: *mut *mut NNRT_Model, path: *const c_char, desc: *const c_void, error: *mut nnrt_error) -> i32;
    pub fn nnrt_tflite_load(model: *mut *mut NNRT_Model, path: *const c_char, desc: *const c_void, error: *mut nnrt_error) -> i32;
    pub fn nnrt_session_create(session: *mut *mut nnrt_session, model: *const NNRT_Model, desc: *const c_void, error: *mut nnrt_error) -> i32;
    pub fn nnrt_session_input(session: *const nnrt_session, index: u32) -> nnrt_io_info;
    pub fn nnrt_session_output(session: *const nnrt_session, index: u32) -> nnrt_io_info;
    pub fn nnrt_run(session: *mut nnrt_session, inputs: *const nnrt_io, n_in: u32, outputs: *const nnrt_io, n_out: u32) -> i32;
    pub fn nnrt_session_error(session: *const nnrt_session) -> *const c_char;
    pub fn nnrt_session_destroy(session: *mut nnrt_session);
    pub fn nnrt_model_destroy(model: *mut NNRT_Model);
}
