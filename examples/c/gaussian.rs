// examples/c/gaussian.rs - a sum of Gaussians at points, from Rust without any
// crate: the few functions and structures of tilefold.h that it needs.
//
//     rustc gaussian.rs -L $(pkg-config --variable=libdir tilefold)

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

#[repr(C)]
struct DLDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
struct DLDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DLTensor {
    data: *mut c_void,
    device: DLDevice,
    ndim: i32,
    dtype: DLDataType,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct DLManagedTensorVersioned {
    version: [u32; 2],
    manager_ctx: *mut c_void,
    deleter: Option<extern "C" fn(*mut DLManagedTensorVersioned)>,
    flags: u64,
    dl_tensor: DLTensor,
}

#[repr(C)]
struct Argument {
    name: *const c_char,
    array: *const DLTensor,
    number: f64,
    axes: i32,
    reserved: i32,
}

#[link(name = "tilefold")]
extern "C" {
    fn tilefold_error_code(error: *const c_void) -> *const c_char;
    fn tilefold_error_message(error: *const c_void) -> *const c_char;
    fn tilefold_error_free(error: *mut c_void);
    fn tilefold_session_create(options: *const c_void, out: *mut *mut c_void) -> *mut c_void;
    fn tilefold_session_free(session: *mut c_void);
    fn tilefold_reduce(
        session: *mut c_void,
        text: *const c_char,
        arguments: *const Argument,
        count: i64,
        options: *const c_void,
        out: *mut *mut DLManagedTensorVersioned,
    ) -> *mut c_void;
    fn tilefold_tensor_free(tensor: *mut DLManagedTensorVersioned);
}

/// An error of tilefold: its code and its message.
#[derive(Debug)]
struct Error {
    code: String,
    message: String,
}

fn check(error: *mut c_void) -> Result<(), Error> {
    if error.is_null() {
        return Ok(());
    }
    let text = |pointer| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned();
    let copy = unsafe {
        Error { code: text(tilefold_error_code(error)), message: text(tilefold_error_message(error)) }
    };
    unsafe { tilefold_error_free(error) };
    Err(copy)
}

struct Session(*mut c_void);

// A session is used by any number of threads at once.
unsafe impl Send for Session {}
unsafe impl Sync for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe { tilefold_session_free(self.0) }
    }
}

impl Session {
    fn new() -> Result<Session, Error> {
        let mut session = null_mut();
        check(unsafe { tilefold_session_create(null(), &mut session) })?;
        Ok(Session(session))
    }

    /// A reduction of float64 arrays (data, shape) to one of float64.
    fn reduce(&self, text: &str, arrays: &[(&str, &[f64], &[i64])]) -> Result<Vec<f64>, Error> {
        let names: Vec<CString> = arrays.iter().map(|a| CString::new(a.0).unwrap()).collect();
        let tensors: Vec<DLTensor> = arrays
            .iter()
            .map(|(_, data, shape)| DLTensor {
                data: data.as_ptr() as *mut c_void,
                device: DLDevice { device_type: 1, device_id: 0 },
                ndim: shape.len() as i32,
                dtype: DLDataType { code: 2, bits: 64, lanes: 1 },
                shape: shape.as_ptr(),
                strides: null(),
                byte_offset: 0,
            })
            .collect();
        let arguments: Vec<Argument> = names
            .iter()
            .zip(&tensors)
            .map(|(name, tensor)| Argument {
                name: name.as_ptr(),
                array: tensor,
                number: 0.0,
                axes: -1,
                reserved: 0,
            })
            .collect();
        let text = CString::new(text).unwrap();
        let mut result = null_mut();
        check(unsafe {
            tilefold_reduce(
                self.0,
                text.as_ptr(),
                arguments.as_ptr(),
                arguments.len() as i64,
                null(),
                &mut result,
            )
        })?;
        let values = unsafe {
            let tensor = &(*result).dl_tensor;
            let shape = std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize);
            let size = shape.iter().product::<i64>() as usize;
            std::slice::from_raw_parts(tensor.data as *const f64, size).to_vec()
        };
        unsafe { tilefold_tensor_free(result) };
        Ok(values)
    }
}

fn main() {
    const N: i64 = 4;
    const M: i64 = 5;
    const D: i64 = 2;
    let mut x = Vec::new();
    let mut y = Vec::new();
    for i in 0..N {
        for d in 0..D {
            x.push((i + 2 * d) as f64 / 4.0);
        }
    }
    for j in 0..M {
        for d in 0..D {
            y.push((2 * j - d) as f64 / 5.0);
        }
    }
    let b: Vec<f64> = (0..M).map(|j| (1 + j) as f64).collect();
    let l = [0.5];

    let session = Session::new().unwrap();
    let points: [(&str, &[f64], &[i64]); 2] = [("x", &x, &[N, D]), ("y", &y, &[M, D])];
    let all = [points[0], points[1], ("b", &b[..], &[M][..]), ("l", &l[..], &[][..])];
    match session.reduce("sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j", &all) {
        Ok(a) => {
            for (i, value) in a.iter().enumerate() {
                println!("a[{}] = {:.6}", i, value);
            }
        }
        Err(error) => {
            eprintln!("{}", error.message);
            std::process::exit(1);
        }
    }

    // A mistake is an Err, whose code does not change with versions.
    if let Err(error) = session.reduce("sum_j expp(x_i - y_j)", &points) {
        println!("error: {}", error.code);
    }
}
