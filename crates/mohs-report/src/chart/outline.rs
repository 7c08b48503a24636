//! The outline of a mask as an SVG path, along the edges of its pixels.

use std::collections::BTreeMap;

use mohs_data::Mask;

/// Returns the path around every piece of a mask and around its holes; fill it by the even-odd
/// rule. An empty mask has an empty path.
pub(crate) fn path(mask: &Mask) -> String {
    let mut next = edges(mask);
    let mut path = String::new();
    while let Some((start, _)) = next.first_key_value() {
        let start = *start;
        path += &format!("M{} {}", start.0, start.1);
        let mut at = start;
        // A run of steps in one direction is one step.
        let mut run = (0, 0);
        loop {
            let to = take(&mut next, at);
            let step = (to.0 - at.0, to.1 - at.1);
            if run.0 * step.0 + run.1 * step.1 <= 0 {
                path += &written(run);
                run = (0, 0);
            }
            run = (run.0 + step.0, run.1 + step.1);
            at = to;
            if at == start {
                break;
            }
        }
        path += "z";
    }
    path
}

type Corner = (i64, i64);

/// Returns where each edge between object and background leads, object on its right.
fn edges(mask: &Mask) -> BTreeMap<Corner, Vec<Corner>> {
    let (height, width) = (i64::from(mask.height()), i64::from(mask.width()));
    let bits = mask.to_bitmap();
    let is_object = |x: i64, y: i64| {
        let is_inside = (0..width).contains(&x) && (0..height).contains(&y);
        is_inside && usize::try_from(y * width + x).is_ok_and(|at| bits[at])
    };
    let mut next: BTreeMap<Corner, Vec<Corner>> = BTreeMap::new();
    for y in 0..height {
        for x in (0..width).filter(|x| is_object(*x, y)) {
            let around = [
                ((x, y - 1), (x, y), (x + 1, y)),
                ((x + 1, y), (x + 1, y), (x + 1, y + 1)),
                ((x, y + 1), (x + 1, y + 1), (x, y + 1)),
                ((x - 1, y), (x, y + 1), (x, y)),
            ];
            for (beside, from, to) in around {
                if !is_object(beside.0, beside.1) {
                    next.entry(from).or_default().push(to);
                }
            }
        }
    }
    next
}

/// Takes an edge that leaves a corner.
fn take(next: &mut BTreeMap<Corner, Vec<Corner>>, at: Corner) -> Corner {
    let leaving = next.get_mut(&at).expect("because every corner is left as often as reached");
    let to = leaving.pop().expect("because corners without edges are removed");
    if leaving.is_empty() {
        next.remove(&at);
    }
    to
}

fn written(run: (i64, i64)) -> String {
    match run {
        (0, 0) => String::new(),
        (x, 0) => format!("h{x}"),
        (_, y) => format!("v{y}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: &[&str]) -> Mask {
        let bits: Vec<bool> = rows.iter().flat_map(|r| r.chars().map(|c| c == '#')).collect();
        let side = |n: usize| u32::try_from(n).unwrap();
        Mask::from_bitmap(side(rows.len()), side(rows[0].len()), &bits).unwrap()
    }

    #[test]
    fn an_outline_goes_around_pieces_and_holes() {
        assert_eq!(path(&drawn(&["..", ".."])), "");
        assert_eq!(path(&drawn(&["#"])), "M0 0h1v1h-1z");
        assert_eq!(path(&drawn(&[".##", ".##"])), "M1 0h2v2h-2z");
        assert_eq!(path(&drawn(&["###", "#.#", "###"])).matches('M').count(), 2);
    }

    /// Returns the corners of each loop of a path.
    fn loops(path: &str) -> Vec<Vec<f64>> {
        let number = |text: &str| text.parse::<f64>().expect("because paths hold whole numbers");
        let mut loops = Vec::new();
        for one in path.split('z').filter(|one| !one.is_empty()) {
            let spaced = one.replace('h', " h").replace('v', " v");
            let mut parts = spaced.trim_start_matches('M').split(' ');
            let mut next = || number(parts.next().expect("because a loop starts with a corner"));
            let (mut x, mut y) = (next(), next());
            let mut corners = vec![x, y];
            for part in parts {
                match part.split_at(1) {
                    ("h", step) => x += number(step),
                    (_, step) => y += number(step),
                }
                corners.extend([x, y]);
            }
            loops.push(corners);
        }
        loops
    }

    #[test]
    fn filling_the_outline_gives_the_mask_back() {
        let drawings: [&[&str]; 5] = [
            &["#.", ".#"],
            &[".#", "#."],
            &["###", "#.#", "###"],
            &["#.#.#", ".#.#.", "#.#.#", ".#.#."],
            &["#####", "#...#", "#.#.#", "#...#", "#####"],
        ];
        for rows in drawings {
            let mask = drawn(rows);
            let mut filled = vec![false; mask.to_bitmap().len()];
            for corners in loops(&path(&mask)) {
                let inside = Mask::from_polygons(mask.height(), mask.width(), &[corners]).unwrap();
                // The even-odd rule over several loops: each one turns what it holds.
                for (pixel, is_inside) in filled.iter_mut().zip(inside.to_bitmap()) {
                    *pixel ^= is_inside;
                }
            }
            assert_eq!(filled, mask.to_bitmap(), "{rows:?}");
        }
    }
}
