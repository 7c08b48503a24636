//! The style attribute: from painting over cartoon and pixel art to sketch, silhouette and dots.
//!
//! Each manner goes over a range of strengths, and leaves less of the scene the further it goes.

use super::canvas::{Canvas, Field, smooth_step};
use super::colour::{Colour, hsv, luma, mix, rgb, scale, to_hsv};
use super::dice::Dice;
use super::noise;
use super::quality::blocks;

#[derive(Clone, Copy, Debug)]
enum Manner {
    Painting,
    Cartoon,
    PixelArt,
    Sketch,
    Silhouette,
    Dots,
}

/// How a scene is rendered.
pub(crate) struct Style {
    manner: Option<Manner>,
    /// How far the manner goes, from 0 to 1 over its range of strengths.
    share: f32,
    seed: u32,
    paper: Colour,
}

/// Where cartoons and pixels begin, and where sketches, silhouettes and dots do.
const BOUNDS: [f32; 2] = [0.37, 0.72];

/// The layers of a finished scene, before it is shown in a style.
pub(crate) struct Layers<'a> {
    pub(crate) flat: &'a Canvas,
    pub(crate) ink: &'a Field,
    /// Where something lies on the background.
    pub(crate) things: &'a Field,
    /// Where the object is seen.
    pub(crate) object: &'a Field,
}

impl Style {
    /// Returns the style for a strength in `[0, 1]`; zero is photo-like.
    pub(crate) fn new(strength: f32, dice: &mut Dice) -> Self {
        let manner = if strength <= 0.0 {
            None
        } else if strength < BOUNDS[0] {
            Some(Manner::Painting)
        } else if strength < BOUNDS[1] {
            Some(dice.pick(&[Manner::Cartoon, Manner::PixelArt]))
        } else {
            Some(dice.pick(&[Manner::Sketch, Manner::Silhouette, Manner::Dots]))
        };
        let (low, high) = match manner {
            None | Some(Manner::Painting) => (0.0, BOUNDS[0]),
            Some(Manner::Cartoon | Manner::PixelArt) => (BOUNDS[0], BOUNDS[1]),
            Some(Manner::Sketch | Manner::Silhouette | Manner::Dots) => (BOUNDS[1], 1.0),
        };
        let share = ((strength - low) / (high - low)).clamp(0.0, 1.0);
        let paper = dice.pick(&[rgb(244, 240, 230), rgb(236, 232, 220), rgb(226, 230, 232)]);
        Self { manner, share, seed: dice.word(), paper }
    }

    /// Returns the width of ink lines as a share of the frame; zero for none.
    pub(crate) fn ink_width(&self) -> f32 {
        match self.manner {
            Some(Manner::Painting) => along(self.share, 0.005, 0.011),
            Some(Manner::Cartoon) => along(self.share, 0.011, 0.017),
            Some(Manner::Sketch) => 0.0085,
            _ => 0.0,
        }
    }

    /// Returns whether the picture is finished like a photograph.
    pub(crate) fn is_photo(&self) -> bool {
        self.manner.is_none()
    }

    /// Changes a lit scene into the style.
    pub(crate) fn apply(&self, scene: &mut Canvas, layers: &Layers) {
        match self.manner {
            None => {}
            Some(Manner::Painting) => painting(scene, layers, self.share),
            Some(Manner::Cartoon) => cartoon(scene, layers, self.share),
            Some(Manner::PixelArt) => pixel_art(scene, along(self.share, 48.0, 23.0)),
            Some(Manner::Sketch) => self.sketch(scene, layers),
            Some(Manner::Silhouette) => self.silhouette(scene, layers),
            Some(Manner::Dots) => self.dots(scene, layers),
        }
    }

    /// Pencil lines on paper: the edges of things, and fainter edges of the background.
    fn sketch(&self, scene: &mut Canvas, layers: &Layers) {
        let grey = Field {
            width: scene.width,
            height: scene.height,
            values: scene.pixels.iter().map(|pixel| luma(*pixel)).collect(),
        };
        let width = scene.width;
        let unit = 1.0 / width as f32;
        let (away, hatched) = (along(self.share, 0.22, 0.36), along(self.share, 0.55, 0.25));
        let faint = along(self.share, 0.7, 0.4);
        for y in 0..scene.height {
            for x in 0..width {
                let (sx, sy) = (x.cast_signed(), y.cast_signed());
                let dx = grey.at(sx + 2, sy) - grey.at(sx - 2, sy);
                let dy = grey.at(sx, sy + 2) - grey.at(sx, sy - 2);
                let edge = smooth_step(0.1, 0.45, (dx * dx + dy * dy).sqrt());
                let (u, v) = (x as f32 * unit, y as f32 * unit);
                // The pencil leaves the paper now and then.
                let press = noise::cloud(u * 13.0, v * 13.0, 2, self.seed);
                let press = smooth_step(away, away + 0.32, press);
                let tooth = noise::smooth(u * 190.0, v * 190.0, self.seed ^ 1);
                let i = y * width + x;
                // Hatching where the scene is dark, on the object only.
                let hatch = smooth_step(0.3, 0.9, ((u + v) * 250.0).sin())
                    * smooth_step(0.5, 0.15, grey.values[i])
                    * layers.object.values[i];
                let ink =
                    (layers.ink.values[i] * press).max(edge * faint * press).max(hatch * hatched);
                let ink = ink * (0.65 + 0.5 * tooth);
                let paper = scale(self.paper, 0.96 + 0.07 * tooth);
                scene.pixels[i] = mix(paper, rgb(52, 50, 54), ink.min(1.0));
            }
        }
    }

    /// The object as one dark shape before a washed background.
    fn silhouette(&self, scene: &mut Canvas, layers: &Layers) {
        let wash = scene.mean();
        let washed = along(self.share, 0.0, 0.3);
        let pale = along(self.share, 0.55, 0.95);
        for (i, pixel) in scene.pixels.iter_mut().enumerate() {
            let back = mix(mix(*pixel, wash, washed), [1.0, 0.98, 0.94], 0.12);
            let tone =
                0.98 + 0.03 * noise::speck((i % 7).cast_signed(), i.cast_signed(), self.seed);
            let shape = scale(mix(rgb(24, 24, 30), scale(wash, 0.55), pale), tone);
            *pixel = mix(back, shape, layers.object.values[i]);
        }
    }

    /// Black dots on paper, larger where the scene is darker.
    fn dots(&self, scene: &mut Canvas, layers: &Layers) {
        lift_background(scene, layers.things);
        let n_dots = along(self.share, 60.0, 46.0);
        let width = scene.width;
        let pitch = width as f32 / n_dots;
        let mut grey = scene.clone();
        grey.blur(pitch * 0.3);
        let (sin, cos) = 0.5_f32.sin_cos();
        let original = scene.clone();
        for y in 0..scene.height {
            for x in 0..width {
                let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                let (a, b) = ((px * cos - py * sin) / pitch, (px * sin + py * cos) / pitch);
                let (ca, cb) = (a.floor() + 0.5, b.floor() + 0.5);
                let (cx, cy) = ((ca * cos + cb * sin) * pitch, (cb * cos - ca * sin) * pitch);
                let at = (super::canvas::lattice(cx), super::canvas::lattice(cy));
                let tone = smooth_step(0.08, 0.82, luma(grey.at(at.0, at.1)));
                let reach = 0.66 * (1.0 - tone).sqrt();
                let distance = ((a - ca).powi(2) + (b - cb).powi(2)).sqrt();
                let dot = smooth_step(0.08, -0.08, distance - reach);
                let ink = mix(rgb(28, 26, 32), original.pixels[y * width + x], 0.12);
                scene.pixels[y * width + x] = mix(self.paper, ink, dot);
            }
        }
    }
}

/// Returns the value at a share of the way.
fn along(share: f32, from: f32, to: f32) -> f32 {
    from + (to - from) * share
}

/// Fewer tones and a thin line, as in an illustrated book.
fn painting(scene: &mut Canvas, layers: &Layers, share: f32) {
    scene.blur(scene.width as f32 * along(share, 0.001, 0.005));
    let n_tones = along(share, 8.0, 4.5);
    let plain = along(share, 0.5, 0.9);
    for (i, pixel) in scene.pixels.iter_mut().enumerate() {
        let [hue, saturation, value] = to_hsv(pixel.map(|channel| channel.clamp(0.0, 1.0)));
        let stepped = (value * n_tones + 0.5).floor() / n_tones;
        let toned = hsv(hue, (saturation * 1.15).min(1.0), along(plain, value, stepped));
        *pixel = mix(toned, rgb(40, 32, 34), layers.ink.values[i] * 0.7);
    }
}

/// Plain colours, no shade, thick lines, an almost empty background.
fn cartoon(scene: &mut Canvas, layers: &Layers, share: f32) {
    let mean = scene.mean();
    let mut soft = scene.clone();
    soft.blur(scene.width as f32 * 0.03);
    let n_tones = along(share, 6.5, 3.5);
    let kept = along(share, 0.85, 0.35);
    for (i, pixel) in scene.pixels.iter_mut().enumerate() {
        let step = ((luma(soft.pixels[i]) - luma(mean)) * 9.0).round() / 9.0;
        let back = mix(mean, [1.0; 3], 0.35).map(|channel| channel + step * kept);
        let [hue, saturation, value] = to_hsv(layers.flat.pixels[i]);
        let stepped = ((value * n_tones).round() / n_tones).clamp(0.1, 1.0);
        let plain = hsv(hue, (saturation * 1.2).min(1.0), stepped);
        let colour = mix(back, plain, layers.things.values[i]);
        *pixel = mix(colour, rgb(22, 20, 26), layers.ink.values[i]);
    }
}

/// Large squares in few colours.
fn pixel_art(scene: &mut Canvas, n_blocks: f32) {
    blocks(scene, n_blocks);
    for pixel in &mut scene.pixels {
        let [hue, saturation, value] = to_hsv(pixel.map(|channel| channel.clamp(0.0, 1.0)));
        let step = |share: f32, n: f32| (share * n).round() / n;
        *pixel = hsv(step(hue, 24.0), step(saturation, 5.0), step(value, 6.0));
    }
}

/// Makes the background lighter and calmer, so that things stand out in few tones.
fn lift_background(scene: &mut Canvas, things: &Field) {
    let mean = scene.mean();
    for (pixel, thing) in scene.pixels.iter_mut().zip(&things.values) {
        let calm = mix(*pixel, mean, 0.3);
        let lifted = mix(calm, [1.0; 3], 0.34 + 0.22 * (1.0 - luma(mean)));
        *pixel = mix(lifted, scale(*pixel, 0.8), *thing);
    }
}
