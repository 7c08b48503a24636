//! Pictures as NumPy's files hold them.

/// Returns numbers as NumPy's `.npy`, version 1.0: 32-bit floats, channels × height × width.
pub fn npy(shape: [u32; 3], numbers: &[f32]) -> Vec<u8> {
    let [channels, height, width] = shape;
    let mut header = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({channels}, {height}, {width}), }}"
    );
    // The numbers start at a multiple of 64; magic, version and length take ten bytes, the line
    // ends with a newline.
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("because the header is two lines of text");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_numpy_file_start_at_a_multiple_of_64() {
        let file = npy([3, 1, 2], &[0.5; 6]);
        assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
        let header = usize::from(u16::from_le_bytes([file[8], file[9]]));
        assert_eq!((10 + header) % 64, 0);
        assert_eq!(file.len(), 10 + header + 6 * 4);
        assert!(file[10..10 + header].ends_with(b"\n"));
        assert_eq!(&file[10 + header..10 + header + 4], 0.5_f32.to_le_bytes());
    }
}
