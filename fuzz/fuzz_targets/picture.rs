//! Any bytes are a picture or an error, never a panic; a picture can be shrunk.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mohs_vision::pixels;

/// One file per process, in memory where the system has a folder for that.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    folder.join(format!("mohs-fuzz-picture-{}", std::process::id()))
});

fuzz_target!(|bytes: &[u8]| {
    fs::write(&*FILE, bytes).expect("because the folder for temporary files can be written");
    match pixels::read(&FILE) {
        Ok(picture) => {
            let n_bytes = picture.width() as usize * picture.height() as usize * 3;
            assert_eq!(picture.bytes().len(), n_bytes);
            // A few bytes can stand for millions of equal pixels: that is slow, not wrong.
            if n_bytes <= 3 << 16 {
                let small = pixels::thumbnail(&picture, 8);
                assert!(small.width() <= 8 && small.height() <= 8);
            }
        }
        Err(error) => drop(error.to_string()),
    }
});
