//! Contact sheets: many pictures side by side on one page, to look at.

use super::letters;
use crate::pixels::Rgb8;

const MARGIN: usize = 4;
const PAPER: u8 = 245;

/// A row of a sheet with names.
#[derive(Debug, Clone)]
pub struct NamedRow {
    /// Stands above the row.
    pub name: String,
    /// The pictures and what stands below each.
    pub pictures: Vec<(String, Rgb8)>,
}

/// Returns pictures in rows of `n_columns`, with a margin between them.
///
/// Cells are as large as the largest picture; an empty list gives a page of one pixel.
pub fn contact_sheet(pictures: &[Rgb8], n_columns: usize) -> Rgb8 {
    let cell_width = pictures.iter().map(side_across).max().unwrap_or(0);
    let cell_height = pictures.iter().map(side_down).max().unwrap_or(0);
    let n_columns = n_columns.clamp(1, pictures.len().max(1));
    let n_rows = pictures.len().div_ceil(n_columns);
    let along = |n: usize, cell: usize| n * (cell + MARGIN) + MARGIN;
    let mut page = Page::new(along(n_columns, cell_width), along(n_rows, cell_height));
    for (i, picture) in pictures.iter().enumerate() {
        page.lay(picture, along(i % n_columns, cell_width), along(i / n_columns, cell_height));
    }
    page.finished()
}

/// Returns rows of pictures, each row under its name and each picture above its own.
///
/// Cells are as wide as the widest picture or what stands below one; names of rows are cut where
/// there is no room. No rows give a page of one pixel.
pub fn named_sheet(rows: &[NamedRow]) -> Rgb8 {
    let across = |(name, picture): &(String, Rgb8)| side_across(picture).max(letters::width(name));
    let pictures = rows.iter().flat_map(|row| &row.pictures);
    let cell_width = pictures.map(across).max().unwrap_or(0);
    let n_columns = rows.iter().map(|row| row.pictures.len()).max().unwrap_or(0);
    let width = n_columns * (cell_width + MARGIN) + MARGIN;
    let row_height = |row: &NamedRow| {
        row.pictures.iter().map(|(_, picture)| side_down(picture)).max().unwrap_or(0)
    };
    let tall = |row: &NamedRow| row_height(row) + 2 * (letters::LINE + MARGIN);
    let mut page = Page::new(width, rows.iter().map(tall).sum::<usize>() + MARGIN);
    let mut top = MARGIN;
    for row in rows {
        page.write(&row.name, MARGIN, top, width - MARGIN);
        let (upper, lower) = (top + letters::LINE, top + letters::LINE + row_height(row) + MARGIN);
        for (i, (name, picture)) in row.pictures.iter().enumerate() {
            let left = i * (cell_width + MARGIN) + MARGIN;
            page.lay(picture, left, upper);
            page.write(name, left, lower, cell_width);
        }
        top += tall(row);
    }
    page.finished()
}

fn side_across(picture: &Rgb8) -> usize {
    picture.width() as usize
}

fn side_down(picture: &Rgb8) -> usize {
    picture.height() as usize
}

struct Page {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Page {
    fn new(width: usize, height: usize) -> Page {
        let (width, height) = (width.max(1), height.max(1));
        Page { width, height, bytes: vec![PAPER; width * height * 3] }
    }

    fn lay(&mut self, picture: &Rgb8, left: usize, top: usize) {
        let length = side_across(picture) * 3;
        for (y, row) in picture.bytes().chunks_exact(length).enumerate() {
            let start = ((top + y) * self.width + left) * 3;
            self.bytes[start..start + length].copy_from_slice(row);
        }
    }

    fn write(&mut self, text: &str, left: usize, top: usize, room: usize) {
        letters::write(&mut self.bytes, self.width, (left, top), room, text);
    }

    fn finished(self) -> Rgb8 {
        let side = |n: usize| u32::try_from(n).expect("because a sheet has few pictures");
        Rgb8::new(side(self.width), side(self.height), self.bytes)
            .expect("because the page was made for this many pixels")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn black(width: u32, height: u32) -> Rgb8 {
        Rgb8::new(width, height, vec![0; (width * height * 3) as usize]).unwrap()
    }

    #[test]
    fn a_sheet_holds_its_pictures_and_margins() {
        let sheet = contact_sheet(&[black(10, 10), black(10, 10), black(10, 10)], 2);
        assert_eq!((sheet.width(), sheet.height()), (32, 32));
    }

    #[test]
    fn no_pictures_give_a_page_all_the_same() {
        assert!(contact_sheet(&[], 5).width() >= 1);
        assert!(named_sheet(&[]).width() >= 1);
    }

    #[test]
    fn rows_and_pictures_have_their_names() {
        let row = |name: &str, caption: &str| NamedRow {
            name: name.to_owned(),
            pictures: vec![(caption.to_owned(), black(100, 40)), ("B".to_owned(), black(100, 30))],
        };
        let (one, other) = (named_sheet(&[row("cat", "1")]), named_sheet(&[row("dog", "1")]));
        assert_eq!((one.width(), one.height()), (212, 4 + 40 + 2 * 22));
        assert_ne!(one, other);
        assert_ne!(one, named_sheet(&[row("cat", "2")]));
        // Small letters are written as capitals, and a name that is too long is cut.
        assert_eq!(one, named_sheet(&[row("CAT", "1")]));
        assert_eq!(named_sheet(&[row(&"x".repeat(99), "1")]).width(), 212);
    }

    #[test]
    fn small_pictures_make_room_for_what_stands_below_them() {
        let sheet = |caption: &str| {
            let pictures =
                vec![(caption.to_owned(), black(64, 64)), ("1".to_owned(), black(64, 64))];
            named_sheet(&[NamedRow { name: "cat".to_owned(), pictures }])
        };
        assert_eq!(sheet("4").width(), 2 * (64 + 4) + 4);
        assert_eq!(sheet("4 medium").width(), 2 * (8 * 12 + 4) + 4);
        assert_ne!(sheet("4 medium"), sheet("4 mediux"));
    }
}
