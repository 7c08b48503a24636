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
    // SAFETY: not null, and ended by a zero as the interface promises.
    let version = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // Unloading would run destructors and make `ort` load everything again.
    std::mem::forget(library);
    Ok(version)
}
