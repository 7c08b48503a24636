//! Looks at a file that may be a library of ONNX Runtime: the only place with unsafe code.
//!
//! `ort` would load whatever it is given; here the library is asked for its version first, so that
//! a file that is no library, or one that is too old, becomes an error with its remedy.

#![expect(
    unsafe_code,
    reason = "a library can be loaded and asked for its version in no other way"
)]

use std::ffi::CStr;
use std::path::Path;

use libloading::Library;
use ort::sys::OrtApiBase;

/// Returns the version of a library of ONNX Runtime, or what is wrong with the file.
pub(super) fn version(path: &Path) -> Result<String, String> {
    // Something that is no file at all would be looked up by name in the folders of the system.
    if !path.is_file() {
        return Err("there is no such file".to_owned());
    }
    check_is_whole(path)?;
    // SAFETY: loading a library runs its initialisers. Those of ONNX Runtime only set up tables;
    // that the file is what its name says is the user's word, as it is for every library.
    let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
    // SAFETY: the C interface of ONNX Runtime declares the function with this signature in every
    // version. In a library that is not ONNX Runtime the name does not exist.
    let base =
        unsafe { library.get::<unsafe extern "C" fn() -> *const OrtApiBase>(b"OrtGetApiBase\0") };
    let base = base.map_err(|_| "it has no function `OrtGetApiBase`".to_owned())?;
    // SAFETY: the function takes nothing and returns a pointer to a table that is never freed.
    let Some(base) = (unsafe { base().as_ref() }) else {
        return Err("its function `OrtGetApiBase` returns nothing".to_owned());
    };
    // SAFETY: the table's entry takes nothing and returns a text that is never freed.
    let text = unsafe { (base.GetVersionString)() };
    if text.is_null() {
        return Err("it does not say its version".to_owned());
    }
    // SAFETY: the table's entry takes a number and returns a pointer to a table that is never freed,
    // or null where the library has no such version of its interface.
    if unsafe { (base.GetApi)(ort::sys::ORT_API_VERSION) }.is_null() {
        return Err("it refuses the version of the interface that is needed".to_owned());
    }
    // SAFETY: not null, and ended by a zero as the interface promises.
    let version = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // Unloading would run destructors and make `ort` load everything again.
    std::mem::forget(library);
    Ok(version)
}

/// A library whose download broke off would end the program when its missing pages are touched.
///
/// On Linux the table of sections stands at the end of the file, and the header says where.
fn check_is_whole(path: &Path) -> Result<(), String> {
    use std::io::Read as _;

    const HEADER: usize = 64;
    let mut header = [0; HEADER];
    let text = |error: std::io::Error| error.to_string();
    let mut file = std::fs::File::open(path).map_err(text)?;
    let n_bytes = file.metadata().map_err(text)?.len();
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(());
    }
    let number = |at: usize, n: usize| {
        header[at..at + n].iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    let (start, size, n_sections) = (number(40, 8), number(58, 2), number(60, 2));
    let end = start.saturating_add(size * n_sections);
    if n_bytes < end {
        return Err(format!("it is not complete: expected at least {end} bytes, found {n_bytes}"));
    }
    Ok(())
}
