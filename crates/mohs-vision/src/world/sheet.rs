//! Contact sheets: many pictures side by side on one page, to look at.

use crate::pixels::Rgb8;

/// Returns pictures in rows of `n_columns`, with a margin between them.
///
/// Cells are as large as the largest picture; an empty list gives a page of one pixel.
pub fn contact_sheet(pictures: &[Rgb8], n_columns: usize) -> Rgb8 {
    const MARGIN: u32 = 4;
    const PAPER: u8 = 245;
    let cell_width = pictures.iter().map(Rgb8::width).max().unwrap_or(0);
    let cell_height = pictures.iter().map(Rgb8::height).max().unwrap_or(0);
    let n_columns = n_columns.clamp(1, pictures.len().max(1));
    let n_rows = pictures.len().div_ceil(n_columns);
    let along = |n: usize, cell: u32| {
        let n = u32::try_from(n).expect("because a sheet has few pictures");
        (n * (cell + MARGIN) + MARGIN).max(1)
    };
    let (width, height) = (along(n_columns, cell_width), along(n_rows, cell_height));
    let mut bytes = vec![PAPER; width as usize * height as usize * 3];
    for (i, picture) in pictures.iter().enumerate() {
        let left = along(i % n_columns, cell_width) as usize;
        let top = along(i / n_columns, cell_height) as usize;
        let row_length = picture.width() as usize * 3;
        for (y, row) in picture.bytes().chunks_exact(row_length).enumerate() {
            let start = ((top + y) * width as usize + left) * 3;
            bytes[start..start + row_length].copy_from_slice(row);
        }
    }
    Rgb8::new(width, height, bytes).expect("because the page was made for this many pixels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_holds_its_pictures_and_margins() {
        let one = Rgb8::new(10, 10, vec![0; 300]).unwrap();
        let sheet = contact_sheet(&[one.clone(), one.clone(), one], 2);
        assert_eq!((sheet.width(), sheet.height()), (32, 32));
    }

    #[test]
    fn no_pictures_give_a_page_all_the_same() {
        assert!(contact_sheet(&[], 5).width() >= 1);
    }
}
