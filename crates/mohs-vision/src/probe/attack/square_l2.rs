//! Square in L2 (Andriushchenko et al. 2020): patterns of two opposite bumps are moved over the
//! picture; the size of the change that one window gives up goes to another.

use mohs_data::Norm;

use super::luck::{START, STEPS, Stream};
use super::square::{self, Search};
use super::{Attack, Case, Memory, Move, Reply, Run, Start, norm};

/// In L2.
pub(super) const ATTACK: Attack = Attack {
    name: "square-l2",
    also_called: &["squarel2", "l2square"],
    norm: Norm::L2,
    about: "random bumps of colour in L2; asks for answers only",
    start: |start| Box::new(Bumps::new(&start)),
    ..square::ATTACK
};

/// Keeps divisions by a size of zero away.
const TINY: f32 = 1e-12;

#[derive(Debug)]
struct Bumps {
    case: Case,
    epsilon: f32,
    search: Search,
    best: Vec<f32>,
    stream: Stream,
}

/// A square window of the picture.
#[derive(Debug, Clone, Copy)]
struct Window {
    row: usize,
    column: usize,
    side: usize,
}

impl Bumps {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    fn new(start: &Start<'_>) -> Bumps {
        let epsilon = start.epsilon as f32;
        let best = tiles(start.case, epsilon, &mut start.luck.stream(START));
        Bumps {
            case: start.case.clone(),
            epsilon,
            search: Search::new(start.settings),
            best,
            stream: start.luck.stream(STEPS),
        }
    }

    fn propose(&mut self) -> Vec<f32> {
        let (width, height) = (self.case.width, self.case.height);
        let x = &self.case.pixels;
        let n = width * height;
        let n_channels = x.len() / n;
        let most = width.min(height);
        let side = self.search.side(n, 3) | 1;
        let side = if side <= most { side } else { (most - 1) | 1 }.min(most);
        let stream = &mut self.stream;
        let mut window = || {
            let row = stream.below(height - side);
            Window { row, column: stream.below(width - side), side }
        };
        let (to, from) = (window(), window());
        let pattern = bumps(side, stream);
        let signs: Vec<f32> = (0..n_channels).map(|_| stream.sign()).collect();

        let mut change: Vec<f32> = self.best.iter().zip(x.iter()).map(|(z, x)| z - x).collect();
        let whole = norm::l2(&change);
        let is_inside = |window: Window, row: usize, column: usize| {
            (window.row..window.row + side).contains(&row)
                && (window.column..window.column + side).contains(&column)
        };
        let in_windows = norm::l2_of(change.iter().enumerate().filter_map(|(idx, &number)| {
            let (row, column) = (idx % n / width, idx % width);
            (is_inside(to, row, column) || is_inside(from, row, column)).then_some(number)
        }));
        #[expect(clippy::cast_precision_loss, reason = "pictures have few channels")]
        let room = (self.epsilon * self.epsilon - whole * whole).max(0.0) / n_channels as f32;
        let size = (room + in_windows * in_windows).sqrt();
        let mut renewed = Vec::with_capacity(n_channels);
        for (channel, sign) in signs.iter().enumerate() {
            let old: Vec<f32> = places(to, channel * n, width).map(|idx| change[idx]).collect();
            let old_size = norm::l2(&old) + TINY;
            let mut new: Vec<f32> =
                pattern.iter().zip(&old).map(|(bump, old)| bump * sign + old / old_size).collect();
            let new_size = norm::l2(&new) + TINY;
            new.iter_mut().for_each(|number| *number *= size / new_size);
            renewed.push(new);
        }
        for (channel, new) in renewed.iter().enumerate() {
            places(from, channel * n, width).for_each(|idx| change[idx] = 0.0);
            places(to, channel * n, width).zip(new).for_each(|(idx, new)| change[idx] = *new);
        }
        scaled(x, &change, self.epsilon)
    }
}

impl Run for Bumps {
    fn step(&mut self, reply: Option<Reply>, _: &mut Memory) -> Move {
        let Some(reply) = reply else {
            return Move::Answer(self.best.clone());
        };
        if let Some(end) = self.search.judge(&self.case, reply, &mut self.best) {
            return Move::End(end);
        }
        if self.search.goes_on() {
            return Move::Answer(self.propose());
        }
        Move::End(self.search.end_in_vain())
    }
}

/// Positions of the pixels in a window, in a plane that begins at `from`.
fn places(window: Window, from: usize, width: usize) -> impl Iterator<Item = usize> {
    let Window { row, column, side } = window;
    (row..row + side)
        .flat_map(move |row| (column..column + side).map(move |column| from + row * width + column))
}

/// The picture with a change of the size ε.
fn scaled(x: &[f32], change: &[f32], epsilon: f32) -> Vec<f32> {
    let factor = epsilon / (norm::l2(change) + TINY);
    x.iter().zip(change).map(|(x, change)| (x + change * factor).clamp(0.0, 1.0)).collect()
}

/// The first change: a tile of bumps beside the other.
fn tiles(case: &Case, epsilon: f32, stream: &mut Stream) -> Vec<f32> {
    let (width, height) = (case.width, case.height);
    let n = width * height;
    let n_channels = case.pixels.len() / n;
    let side = (height / 5).max(1);
    let first = height.saturating_sub(side * 5) / 2;
    let mut change = vec![0.0; case.pixels.len()];
    for down in 0..height / side {
        for across in 0..width / side {
            let pattern = bumps(side, stream);
            let (row, column) = (first + down * side, first + across * side);
            for channel in 0..n_channels {
                let sign = stream.sign();
                for (idx, bump) in pattern.iter().enumerate() {
                    let (row, column) = (row + idx / side, column + idx % side);
                    if row < height && column < width {
                        change[channel * n + row * width + column] += bump * sign;
                    }
                }
            }
        }
    }
    scaled(&case.pixels, &change, epsilon)
}

/// Two opposite bumps, above each other or beside each other by chance, of size one.
fn bumps(side: usize, stream: &mut Stream) -> Vec<f32> {
    let above = side / 2;
    let mut pattern = bump(above, side);
    pattern.extend(bump(side - above, side).iter().map(|number| -number));
    let size = norm::l2(&pattern).max(TINY);
    pattern.iter_mut().for_each(|number| *number /= size);
    if stream.uniform() <= 0.5 {
        return pattern;
    }
    (0..side * side).map(|idx| pattern[idx % side * side + idx / side]).collect()
}

/// One bump of size one: rectangles around the middle, each larger one lower.
fn bump(n_rows: usize, n_columns: usize) -> Vec<f32> {
    let mut heights = vec![0.0_f32; n_rows * n_columns];
    let (middle_row, middle_column) = (n_rows / 2, n_columns / 2);
    for ring in 0..=middle_row.max(middle_column) {
        #[expect(clippy::cast_precision_loss, reason = "sides of pictures are small")]
        let height = 1.0 / ((ring + 1) * (ring + 1)) as f32;
        let rows = middle_row.saturating_sub(ring)..(middle_row + ring + 1).min(n_rows);
        for row in rows {
            let columns =
                middle_column.saturating_sub(ring)..(middle_column + ring + 1).min(n_columns);
            for column in columns {
                heights[row * n_columns + column] += height;
            }
        }
    }
    let size = norm::l2(&heights).max(TINY);
    heights.iter_mut().for_each(|number| *number /= size);
    heights
}
