//! Colours: an ordered palette for bands from easy to hard, and distinct colours for data sets.
//!
//! Charts name CSS variables (`var(--band-2)`); [`theme_css`] gives them values for a light and a
//! dark page. The ordered palette runs over lightness as well as hue, so that its order survives
//! colour blindness and grey printing; harder is always further from the background.

/// The colour of what has no colour of its own.
pub(crate) const ACCENT: &str = "var(--accent)";

/// Anchors of the ordered palette on white, easy to hard.
const BANDS_LIGHT: [Rgb; 5] =
    [Rgb(178, 223, 207), Rgb(99, 185, 190), Rgb(58, 130, 176), Rgb(72, 76, 150), Rgb(59, 24, 89)];

/// Anchors of the ordered palette on near-black, easy to hard.
const BANDS_DARK: [Rgb; 5] =
    [Rgb(36, 84, 84), Rgb(46, 125, 138), Rgb(84, 156, 205), Rgb(163, 160, 233), Rgb(244, 200, 240)];

/// Okabe and Ito's colours, darkened on white and lightened on black until they can be read.
const SETS: [(&str, &str); 8] = [
    ("#0b6aa8", "#5db4ee"),
    ("#c4581a", "#f0934f"),
    ("#0a8a68", "#3fc79f"),
    ("#a84a86", "#e08fc2"),
    ("#8a6d00", "#e3c23c"),
    ("#4d4d4d", "#bdbdbd"),
    ("#2e8fb8", "#8fd3f0"),
    ("#7a4fc0", "#b79bf0"),
];

#[derive(Debug, Clone, Copy, PartialEq)]
struct Rgb(u8, u8, u8);

/// Returns the colour of a band.
pub(crate) fn band(idx: usize) -> String {
    format!("var(--band-{idx})")
}

/// Returns the colour of a data set or another unordered group; colours repeat after eight.
pub(crate) fn set(idx: usize) -> String {
    format!("var(--set-{})", idx % SETS.len())
}

/// Returns the style that gives the colours their values, for `n_bands` bands.
///
/// Dark values appear twice, for readers whose system is dark and for readers who chose it.
pub(crate) fn theme_css(n_bands: usize) -> String {
    let light = variables(n_bands, &BANDS_LIGHT, |(light, _)| light);
    let dark = variables(n_bands, &BANDS_DARK, |(_, dark)| dark);
    format!(
        ":root{{{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
}

fn variables(
    n_bands: usize,
    anchors: &[Rgb; 5],
    pick: fn((&'static str, &'static str)) -> &'static str,
) -> String {
    let mut css = String::new();
    for idx in 0..n_bands {
        let (fill, ink) = band_colours(idx, n_bands, anchors);
        css += &format!("--band-{idx}:{fill};--on-band-{idx}:{ink};");
    }
    for (idx, colours) in SETS.into_iter().enumerate() {
        css += &format!("--set-{idx}:{};", pick(colours));
    }
    css
}

/// Returns the fill of a band and the colour of text on it.
#[expect(clippy::cast_precision_loss, reason = "there are a handful of bands")]
fn band_colours(idx: usize, n_bands: usize, anchors: &[Rgb; 5]) -> (String, &'static str) {
    let along = if n_bands < 2 { 0.5 } else { idx as f64 / (n_bands - 1) as f64 };
    let Rgb(r, g, b) = between(anchors, along);
    let luma = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    let ink = if luma < 135.0 { "#fff" } else { "#111" };
    (format!("#{r:02x}{g:02x}{b:02x}"), ink)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "mixes of bytes are bytes, and positions lie within the anchors"
)]
fn between(anchors: &[Rgb; 5], along: f64) -> Rgb {
    let place = along.clamp(0.0, 1.0) * 4.0;
    let idx = (place.floor() as usize).min(3);
    let share = place - f64::from(idx as u32);
    let mix = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8
    };
    let (Rgb(r0, g0, b0), Rgb(r1, g1, b1)) = (anchors[idx], anchors[idx + 1]);
    Rgb(mix(r0, r1), mix(g0, g1), mix(b0, b1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luma(Rgb(r, g, b): Rgb) -> f64 {
        0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)
    }

    #[test]
    fn harder_bands_are_further_from_the_background() {
        let steps: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
        for pair in steps.windows(2) {
            assert!(luma(between(&BANDS_LIGHT, pair[1])) < luma(between(&BANDS_LIGHT, pair[0])));
            assert!(luma(between(&BANDS_DARK, pair[0])) < luma(between(&BANDS_DARK, pair[1])));
        }
    }

    #[test]
    fn every_band_has_a_colour_in_both_themes() {
        let css = theme_css(7);
        assert_eq!(css.matches("--band-6:").count(), 3);
        assert!(!css.contains("--band-7"));
    }
}
