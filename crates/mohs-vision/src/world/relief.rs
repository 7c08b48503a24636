//! Lights a drawing: every part gets a height, the height gives a normal, the normal gives shade.
//!
//! Parts throw a small shadow on the parts below them, so a flat list of outlines reads as a thing
//! with depth.

use super::camera::Camera;
use super::canvas::{Canvas, Field, Patch, smooth_step};
use super::colour::{Colour, mix, scale};
use super::noise;
use super::pen::{Finish, Form, Part};
use tiny_skia::{LineJoin, Stroke};

/// A far lamp, and the light that comes from everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// Direction towards the lamp: x right, y down, z towards the viewer; length one.
    pub(crate) towards: [f32; 3],
    /// Light from everywhere.
    pub(crate) ambient: f32,
    /// Light from the lamp.
    pub(crate) direct: f32,
    /// Strength of highlights.
    pub(crate) shine: f32,
}

impl Light {
    /// Returns a lamp at an angle (radians in the picture plane) and a height in `[0, 1]`.
    pub(crate) fn at(angle: f32, height: f32, ambient: f32) -> Self {
        let flat = (1.0 - height * height).sqrt();
        Self {
            towards: [flat * angle.cos(), flat * angle.sin(), height],
            ambient,
            direct: (1.0 - ambient) / height,
            shine: 1.0,
        }
    }

    /// Returns how bright a surface with this normal is; a surface facing the viewer has one.
    pub(crate) fn shade(&self, normal: [f32; 3]) -> f32 {
        self.ambient + self.direct * dot(normal, self.towards).max(0.0)
    }

    /// Returns the strength of the highlight.
    fn highlight(&self, normal: [f32; 3], power: f32) -> f32 {
        let [x, y, z] = self.towards;
        let half = normalise([x, y, z + 1.0]);
        self.shine * dot(normal, half).max(0.0).powf(power)
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn normalise(v: [f32; 3]) -> [f32; 3] {
    let length = dot(v, v).sqrt().max(1e-6);
    v.map(|part| part / length)
}

/// What an object looks like from the camera. Colours are multiplied by coverage.
pub(crate) struct Sprite {
    /// As lit.
    pub(crate) lit: Canvas,
    /// The plain colours, without light.
    pub(crate) flat: Canvas,
    /// Lines along the edges of the parts, in `[0, 1]`.
    pub(crate) ink: Field,
    pub(crate) cover: Field,
}

/// The place on an object that is being coloured.
pub(crate) struct Spot {
    pub(crate) part_idx: usize,
    /// In units of the drawing.
    pub(crate) place: (f32, f32),
    /// Index of the canvas pixel.
    pub(crate) pixel: usize,
}

/// How an object is drawn.
pub(crate) struct Brush<'a> {
    pub(crate) camera: Camera,
    pub(crate) light: Light,
    /// Turns the colour of a part into the colour of a place on it.
    pub(crate) skin: &'a dyn Fn(Colour, Spot) -> Colour,
    /// Width of ink lines in pixels; zero for none.
    pub(crate) ink_width: f32,
    pub(crate) mottle_seed: u32,
}

/// Draws parts, back to front, on an empty canvas.
pub(crate) fn draw(parts: &[Part], brush: &Brush, width: usize, height: usize) -> Sprite {
    let mut sprite = Sprite {
        lit: Canvas::filled(width, height, [0.0; 3]),
        flat: Canvas::filled(width, height, [0.0; 3]),
        ink: Field::filled(width, height, 0.0),
        cover: Field::filled(width, height, 0.0),
    };
    for (part_idx, part) in parts.iter().enumerate() {
        draw_part(&mut sprite, part_idx, part, brush);
    }
    sprite
}

fn draw_part(sprite: &mut Sprite, part_idx: usize, part: &Part, brush: &Brush) {
    let (width, height) = (sprite.cover.width, sprite.cover.height);
    let scale_px = brush.camera.pixels_per_unit();
    let radius = match part.form {
        Form::Decal => 0.0,
        Form::Bevel(radius) | Form::Can(radius) | Form::Log(radius) => radius * scale_px,
    };
    let Some(seen) = brush.camera.outline(&part.outline) else { return };
    let Some(patch) = Patch::of(&seen, part.rule, width, height, radius.min(24.0) + 3.0) else {
        return;
    };
    if part.form != Form::Decal {
        throw_shadow(sprite, &patch, brush.light, (scale_px * 1.6).max(1.0));
    }

    let relief = height_of(part, &patch, brush, radius);
    let bounds = part.outline.bounds();
    let (top, tall) = (bounds.top(), bounds.height().max(1e-3));
    for row in 0..patch.cover.height {
        let y = patch.top + row.cast_signed();
        if y < 0 || y >= height.cast_signed() {
            continue;
        }
        for column in 0..patch.cover.width {
            let x = patch.left + column.cast_signed();
            let cover = patch.cover.values[row * patch.cover.width + column];
            if cover <= 0.0 || x < 0 || x >= width.cast_signed() {
                continue;
            }
            let pixel = y.unsigned_abs() * width + x.unsigned_abs();
            let place = brush.camera.point_at(x as f32 + 0.5, y as f32 + 0.5, 0.0);
            let mut colour = part.colour;
            if let Some(foot) = part.foot {
                let share = ((place.1 - top) / tall).clamp(0.0, 1.0);
                colour = mix(colour, foot, share);
            }
            if part.mottle > 0.0 {
                let cloud = noise::cloud(place.0 * 0.35, place.1 * 0.35, 3, brush.mottle_seed);
                colour = scale(colour, 1.0 + part.mottle * (cloud - 0.5) * 2.0);
            }
            let flat = (brush.skin)(colour, Spot { part_idx, place, pixel });
            let lit = match &relief {
                Some(relief) => {
                    let (r, c) = (row.cast_signed(), column.cast_signed());
                    let dx = (relief.at(c + 1, r) - relief.at(c - 1, r)) * 0.5;
                    let dy = (relief.at(c, r + 1) - relief.at(c, r - 1)) * 0.5;
                    lit_colour(flat, normalise([-dx, -dy, 1.0]), part.finish, &brush.light)
                }
                None => lit_colour(flat, [0.0, 0.0, 1.0], part.finish, &brush.light),
            };
            let under = 1.0 - cover;
            let over = |below: Colour, above: Colour| {
                [0, 1, 2].map(|i| below[i] * under + above[i] * cover)
            };
            sprite.lit.pixels[pixel] = over(sprite.lit.pixels[pixel], lit);
            sprite.flat.pixels[pixel] = over(sprite.flat.pixels[pixel], flat);
            sprite.cover.values[pixel] = sprite.cover.values[pixel] * under + cover;
            sprite.ink.values[pixel] *= under;
        }
    }
    if brush.ink_width > 0.0 {
        let stroke = Stroke {
            width: if part.form == Form::Decal { 0.6 } else { 1.0 } * brush.ink_width,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        let line = seen.stroke(&stroke, 1.0);
        let line = line
            .and_then(|line| Patch::of(&line, tiny_skia::FillRule::Winding, width, height, 0.0));
        if let Some(line) = line {
            line.each(width, height, |pixel, cover| {
                let ink = &mut sprite.ink.values[pixel];
                *ink = ink.max(cover);
            });
        }
    }
}

/// Darkens what lies below a part, on the side away from the lamp.
fn throw_shadow(sprite: &mut Sprite, patch: &Patch, light: Light, reach: f32) {
    const DEPTH: f32 = 0.42;
    let mut shadow = patch.cover.clone();
    shadow.blur(reach * 0.7);
    let (width, height) = (sprite.cover.width, sprite.cover.height);
    let left = patch.left - super::canvas::lattice(light.towards[0] * reach + 0.5);
    let top = patch.top - super::canvas::lattice(light.towards[1] * reach + 0.5);
    Patch { left, top, cover: shadow }.each(width, height, |pixel, cover| {
        if sprite.cover.values[pixel] > 0.0 {
            sprite.lit.pixels[pixel] = scale(sprite.lit.pixels[pixel], 1.0 - DEPTH * cover);
        }
    });
}

/// Returns the height of a part in pixels over its patch, or `None` for a flat one.
fn height_of(part: &Part, patch: &Patch, brush: &Brush, radius: f32) -> Option<Field> {
    let mut relief = if radius > 0.7 { dome(&patch.cover, radius) } else { None };
    let axis = match part.form {
        Form::Can(_) => 0,
        Form::Log(_) => 1,
        Form::Decal | Form::Bevel(_) => return relief,
    };
    let bounds = part.outline.bounds();
    let (middle, half) = if axis == 0 {
        (bounds.x() + bounds.width() * 0.5, bounds.width() * 0.5)
    } else {
        (bounds.y() + bounds.height() * 0.5, bounds.height() * 0.5)
    };
    let half_px = half * brush.camera.pixels_per_unit();
    let relief_field =
        relief.get_or_insert_with(|| Field::filled(patch.cover.width, patch.cover.height, 0.0));
    for row in 0..patch.cover.height {
        for column in 0..patch.cover.width {
            let px = (patch.left + column.cast_signed()) as f32 + 0.5;
            let py = (patch.top + row.cast_signed()) as f32 + 0.5;
            let place = brush.camera.point_at(px, py, 0.0);
            let across = ((if axis == 0 { place.0 } else { place.1 }) - middle) / half;
            let across = across.clamp(-1.0, 1.0) * 0.97;
            relief_field.values[row * patch.cover.width + column] +=
                0.8 * half_px * (1.0 - across * across).sqrt();
        }
    }
    relief
}

/// Returns a dome over the covered pixels that rises within `radius` pixels of the edge.
fn dome(cover: &Field, radius: f32) -> Option<Field> {
    let (width, height) = (cover.width, cover.height);
    if width < 3 || height < 3 {
        return None;
    }
    let far = (width + height) as f32;
    let mut distance: Vec<f32> =
        cover.values.iter().map(|&c| if c >= 0.999 { far } else { c }).collect();
    let diagonal = std::f32::consts::SQRT_2;
    for y in 0..height {
        for x in 0..width {
            let i = y * width + x;
            let mut d = distance[i];
            if d < 1.0 {
                continue;
            }
            if x > 0 {
                d = d.min(distance[i - 1] + 1.0);
            }
            if y > 0 {
                d = d.min(distance[i - width] + 1.0);
                if x > 0 {
                    d = d.min(distance[i - width - 1] + diagonal);
                }
                if x + 1 < width {
                    d = d.min(distance[i - width + 1] + diagonal);
                }
            }
            distance[i] = d;
        }
    }
    for y in (0..height).rev() {
        for x in (0..width).rev() {
            let i = y * width + x;
            let mut d = distance[i];
            if d < 1.0 {
                continue;
            }
            if x + 1 < width {
                d = d.min(distance[i + 1] + 1.0);
            }
            if y + 1 < height {
                d = d.min(distance[i + width] + 1.0);
                if x > 0 {
                    d = d.min(distance[i + width - 1] + diagonal);
                }
                if x + 1 < width {
                    d = d.min(distance[i + width + 1] + diagonal);
                }
            }
            distance[i] = d;
        }
    }
    let values = distance
        .iter()
        .map(|d| {
            let t = 1.0 - (d / radius).min(1.0);
            radius * 0.9 * (1.0 - t * t).sqrt()
        })
        .collect();
    let mut dome = Field { width, height, values };
    // The distance has a crease along the middle of a thin part; a thing made by hand has none.
    dome.blur((radius * 0.3).min(6.0));
    Some(dome)
}

/// Returns a colour as lit, with its highlight.
fn lit_colour(colour: Colour, normal: [f32; 3], finish: Finish, light: &Light) -> Colour {
    let shade = light.shade(normal);
    match finish {
        Finish::Matte => scale(colour, shade),
        Finish::Satin => add(scale(colour, shade), 0.16 * light.highlight(normal, 14.0)),
        Finish::Gloss => add(scale(colour, shade), 0.6 * light.highlight(normal, 40.0)),
        Finish::Metal => {
            // Metal mirrors a bright sky above and dark ground below.
            let sky = smooth_step(-0.5, 0.6, -normal[1] - normal[0] * 0.4);
            let mirrored = scale(colour, (0.45 + 0.8 * sky) * (0.4 + 0.6 * shade));
            add(mirrored, 0.55 * light.highlight(normal, 22.0))
        }
        Finish::Glow => scale(colour, 0.75 + 0.25 * shade),
    }
}

fn add(colour: Colour, white: f32) -> Colour {
    colour.map(|channel| channel + white)
}
