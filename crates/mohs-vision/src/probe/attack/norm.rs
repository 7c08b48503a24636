//! Sizes of changes, and bringing pixels back to where they are allowed.

/// −1, 0 or 1; not a number has no sign.
#[inline]
pub(super) fn sign(number: f32) -> f32 {
    // Two choices without a branch: processors guess signs of slopes wrong half of the time.
    let up = if 0.0 < number { 1.0 } else { 0.0 };
    let down = if number < 0.0 { 1.0 } else { 0.0 };
    up - down
}

/// Brings a change of one number back to ε and into [0, 1]; says whether ε held it back.
#[inline]
pub(super) fn bounded(x: f32, z: f32, epsilon: f32) -> (f32, bool) {
    let change = z - x;
    let held = change.clamp(-epsilon, epsilon);
    ((x + held).clamp(0.0, 1.0), change < -epsilon || epsilon < change)
}

/// Brings all numbers back to ε and into [0, 1], one after the other; says whether ε held any back.
pub(super) fn bound_linf(x: &[f32], z: &mut [f32], epsilon: f32) -> bool {
    let mut is_held = false;
    for (z, &x) in z.iter_mut().zip(x) {
        let (inside, held) = bounded(x, *z, epsilon);
        *z = inside;
        is_held |= held;
    }
    is_held
}

/// Shortens the change as a whole to ε and brings it into [0, 1]; says whether ε held it back.
pub(super) fn bound_l2(x: &[f32], z: &mut [f32], epsilon: f32) -> bool {
    let size = l2_of(z.iter().zip(x).map(|(z, x)| z - x));
    let factor = if 0.0 < size { (epsilon / size).min(1.0) } else { 1.0 };
    for (z, &x) in z.iter_mut().zip(x) {
        *z = (x + (*z - x) * factor).clamp(0.0, 1.0);
    }
    factor < 1.0
}

/// The root of the sum of squares.
pub(super) fn l2(numbers: &[f32]) -> f32 {
    l2_of(numbers.iter().copied())
}

/// The root of the sum of squares.
#[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
pub(super) fn l2_of(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.map(|number| f64::from(number) * f64::from(number)).sum::<f64>().sqrt() as f32
}

/// The sum of absolute numbers.
#[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
pub(super) fn l1(numbers: &[f32]) -> f32 {
    numbers.iter().map(|number| f64::from(number.abs())).sum::<f64>() as f32
}

/// The largest change of any number.
pub fn linf_distance(x: &[f32], z: &[f32]) -> f32 {
    x.iter().zip(z).fold(0.0, |most: f32, (x, z)| most.max((z - x).abs()))
}

/// The root of the sum of squared changes.
pub fn l2_distance(x: &[f32], z: &[f32]) -> f32 {
    l2_of(x.iter().zip(z).map(|(x, z)| z - x))
}
