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

/// Reads what [`npy`] writes: shape and numbers; `None` if it is anything else.
pub fn read_npy(bytes: &[u8]) -> Option<([u32; 3], Vec<f32>)> {
    let rest = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (header, numbers) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let header = std::str::from_utf8(header).ok()?;
    let is_ours = header.contains("'descr': '<f4'") && header.contains("'fortran_order': False");
    let shape = header.split_once("'shape': (")?.1.split_once(')')?.0;
    let sides: Vec<u32> =
        shape.split(',').map(|side| side.trim().parse().ok()).collect::<Option<_>>()?;
    let shape: [u32; 3] = sides.try_into().ok()?;
    let n_numbers = shape.iter().try_fold(1_usize, |n, side| n.checked_mul(*side as usize))?;
    let (numbers, rest) = numbers.as_chunks::<4>();
    let is_whole = is_ours && rest.is_empty() && numbers.len() == n_numbers;
    is_whole.then(|| (shape, numbers.iter().map(|four| f32::from_le_bytes(*four)).collect()))
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

    #[test]
    fn numbers_come_back_and_anything_else_is_refused() {
        let numbers = vec![0.25, -1.5, 3.0, 0.1, 7.0, 1e-9];
        let file = npy([3, 1, 2], &numbers);
        assert_eq!(read_npy(&file), Some(([3, 1, 2], numbers)));
        for n_bytes in 0..file.len() {
            assert_eq!(read_npy(&file[..n_bytes]), None);
        }
        assert_eq!(read_npy(b"\x89PNG"), None);
    }
}
