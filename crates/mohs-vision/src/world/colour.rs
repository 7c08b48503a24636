//! Colours as three numbers in `[0, 1]` (display red, green, blue) and the little arithmetic on them.

use super::dice::Dice;

/// Red, green and blue in `[0, 1]`, as shown on a display.
pub(crate) type Colour = [f32; 3];

/// Returns the colour a share of the way from `a` to `b`.
pub(crate) fn mix(a: Colour, b: Colour, share: f32) -> Colour {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * share)
}

/// Returns the colour made brighter or darker by a factor.
pub(crate) fn scale(colour: Colour, factor: f32) -> Colour {
    colour.map(|channel| channel * factor)
}

/// Returns the brightness of a colour (Rec. 601 weights).
pub(crate) fn luma(colour: Colour) -> f32 {
    0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
}

/// Returns a colour from bytes, the way it is written in a drawing program.
pub(crate) fn rgb(red: u8, green: u8, blue: u8) -> Colour {
    [red, green, blue].map(|byte| f32::from(byte) / 255.0)
}

/// Returns a colour from hue in turns, saturation and value.
pub(crate) fn hsv(hue: f32, saturation: f32, value: f32) -> Colour {
    [5.0, 3.0, 1.0].map(|n: f32| {
        let k = (n + hue.rem_euclid(1.0) * 6.0) % 6.0;
        value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0)
    })
}

/// Returns hue in turns, saturation and value of a colour.
pub(crate) fn to_hsv(colour: Colour) -> [f32; 3] {
    let [r, g, b] = colour;
    let value = r.max(g).max(b);
    let chroma = value - r.min(g).min(b);
    if chroma <= f32::EPSILON {
        return [0.0, 0.0, value];
    }
    let sector = if value <= r {
        ((g - b) / chroma).rem_euclid(6.0)
    } else if value <= g {
        (b - r) / chroma + 2.0
    } else {
        (r - g) / chroma + 4.0
    };
    [sector / 6.0, chroma / value, value]
}

/// Paints that look like painted, dyed or glazed things, not like pure display colours.
const PAINTS: [(u8, u8, u8); 14] = [
    (196, 52, 44),
    (214, 96, 40),
    (228, 170, 48),
    (92, 142, 62),
    (38, 110, 92),
    (44, 132, 160),
    (40, 86, 158),
    (72, 62, 140),
    (140, 62, 128),
    (206, 96, 120),
    (222, 214, 198),
    (120, 74, 50),
    (60, 66, 78),
    (150, 178, 190),
];

/// Returns a paint, a little different each time.
pub(crate) fn paint(coat: &mut Dice) -> Colour {
    let (red, green, blue) = coat.pick(&PAINTS);
    jitter(rgb(red, green, blue), coat)
}

/// Returns a strong paint: never white, grey or brown.
pub(crate) fn vivid_paint(coat: &mut Dice) -> Colour {
    let (red, green, blue) = PAINTS[coat.below(10)];
    jitter(rgb(red, green, blue), coat)
}

/// Returns almost the same colour.
pub(crate) fn jitter(colour: Colour, coat: &mut Dice) -> Colour {
    let [hue, saturation, value] = to_hsv(colour);
    hsv(
        hue + coat.between(-0.02, 0.02),
        (saturation * coat.between(0.88, 1.12)).clamp(0.0, 1.0),
        (value * coat.between(0.9, 1.1)).clamp(0.0, 1.0),
    )
}
