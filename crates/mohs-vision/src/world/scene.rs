//! Puts a picture together: background, clutter, shadow, object, occluders, light, style, quality.
//!
//! A pure function from a recipe to a picture. Each step takes its own dice.

use super::attribute::{Attribute, Strengths};
use super::background;
use super::camera::{Camera, Pose};
use super::canvas::{Canvas, Field, byte, lattice, whole};
use super::class::Class;
use super::clutter;
use super::colour::{Colour, scale};
use super::dice::{Aspect, Dice};
use super::lighting::Lighting;
use super::occluder;
use super::pen::Part;
use super::picture::{Mask, Picture};
use super::quality;
use super::recipe::Recipe;
use super::relief::{self, Brush, Light, Sprite};
use super::shapes;
use super::skin::Skin;
use super::style::{Layers, Style};
use crate::pixels::Rgb8;

/// Length of the object in a plain picture, as a share of the frame.
const PLAIN_LENGTH: (f32, f32) = (0.64, 0.74);

/// Length of the object at full strength of the size attribute.
const SMALLEST_LENGTH: f32 = 0.115;

/// Returns the picture a recipe describes. The same recipe gives the same bytes.
pub fn draw(recipe: &Recipe) -> Picture {
    let fine = match recipe.size {
        ..=96 => 3,
        97..=400 => 2,
        _ => 1,
    };
    let side = recipe.size as usize * fine;
    let dice = |aspect| Dice::new(recipe.seed, recipe.picture_idx, aspect);
    let strength = |attribute| narrow(recipe.strengths.of(attribute));

    let lighting = Lighting::new(strength(Attribute::Lighting), &mut dice(Aspect::Light));
    let style = Style::new(strength(Attribute::Style), &mut dice(Aspect::Style));
    let mut coat =
        Dice::new(recipe.seed ^ recipe.coat.rotate_left(32), recipe.picture_idx, Aspect::Coat);
    let parts = shapes::parts_of(recipe.class, &mut dice(Aspect::Shape), &mut coat);
    let camera = place(recipe, &recipe.strengths, &parts, side as f32);
    let seen_box = box_of(&camera, &parts);

    let mut stage = Stage::new(
        background::paint(recipe.background, side, &mut dice(Aspect::Background), &lighting.lamp),
        lighting.lamp,
        side as f32 * style.ink_width(),
        !recipe.background.is_far(),
    );
    let bare = stage.lit.clone();
    let mut clutter_dice = dice(Aspect::Clutter);
    let n_things = if recipe.background.is_far() { 0 } else { 2 + clutter_dice.below(3) };
    let others = recipe.clear_at.iter().map(|strengths| {
        let camera = place(recipe, strengths, &parts, side as f32);
        box_of(&camera, &parts)
    });
    let clearings: Vec<_> = std::iter::once(seen_box).chain(others).collect();
    let things = clutter::scatter(side as f32, n_things, &clearings, &mut clutter_dice);
    stage.lay_things(&things, 0.012 * side as f32);

    let skin = Skin::new(
        &bare,
        strength(Attribute::Colour),
        strength(Attribute::Texture),
        &mut dice(Aspect::Skin),
    );
    let brush = Brush {
        camera,
        light: lighting.lamp,
        skin: &|colour, spot| skin.colour_at(colour, spot),
        ink_width: stage.ink_width,
        mottle_seed: dice(Aspect::Shape).word(),
    };
    let mut sprite = relief::draw(&parts, &brush, side, side);
    thicken(&mut sprite, &camera, seen_box);
    let lift = 0.035 * camera.pose.scale;
    stage.lay(&sprite, lift);
    let whole_cover = sprite.cover;

    let mut object = whole_cover.clone();
    let hidden_share = strength(Attribute::Occlusion);
    if hidden_share > 0.0 {
        let hidden = 0.05 + 0.75 * hidden_share;
        let occluders = occluder::hide(&whole_cover, hidden, &mut dice(Aspect::Occluder));
        let cover = stage.lay_things(&occluders, 0.03 * side as f32);
        for (visible, cover) in object.values.iter_mut().zip(&cover.values) {
            *visible *= 1.0 - cover;
        }
    }

    lighting.apply(&mut stage.lit, &object);
    let layers =
        Layers { flat: &stage.flat, ink: &stage.ink, things: &stage.things, object: &object };
    style.apply(&mut stage.lit, &layers);
    let mut canvas = stage.lit.shrunk(fine);
    if style.is_photo() {
        quality::develop(&mut canvas, &mut dice(Aspect::Grain));
    }
    quality::spoil(&mut canvas, strength(Attribute::Quality), &mut dice(Aspect::Quality));
    picture(recipe, &canvas, &object, &whole_cover, out_of_frame(&camera, &parts, side), fine)
}

/// Lays parts, given in pixels, over a picture that is there already; returns the picture and what
/// they cover.
pub(crate) fn covered(picture: Canvas, parts: &[Part], light: Light, lift: f32) -> (Canvas, Field) {
    let mut stage = Stage::new(picture, light, 0.0, true);
    let cover = stage.lay_things(parts, lift);
    (stage.lit, cover)
}

/// Returns a strength as the drawing code wants it.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a strength")]
fn narrow(strength: f64) -> f32 {
    strength as f32
}

fn picture(
    recipe: &Recipe,
    canvas: &Canvas,
    object: &Field,
    whole_cover: &Field,
    share_out_of_frame: f32,
    fine: usize,
) -> Picture {
    let bytes = canvas.pixels.iter().flat_map(|pixel| pixel.map(byte)).collect();
    let pixels = Rgb8::new(recipe.size, recipe.size, bytes)
        .expect("because the canvas is shrunk to the size of the recipe");
    let mask = mask_of(object, recipe.size, fine);
    let whole_mask = mask_of(whole_cover, recipe.size, fine);
    let bounding_box =
        mask.bounding_box().expect("because a mask keeps at least its most covered pixel");
    let total = |field: &Field| field.values.iter().map(|value| f64::from(*value)).sum::<f64>();
    let (seen, all) = (total(object), total(whole_cover).max(1e-9));
    Picture {
        pixels,
        mask,
        whole_mask,
        bounding_box,
        share_occluded: (1.0 - seen / all).clamp(0.0, 1.0),
        share_out_of_frame: f64::from(share_out_of_frame),
        share_of_frame: all / whole_cover.values.len() as f64,
    }
}

/// Returns the pixels at least a third covered; the most covered one if none is.
///
/// A third and not a half, because spokes and blade tips are thinner than a pixel.
fn mask_of(cover: &Field, size: u32, fine: usize) -> Mask {
    let side = size as usize;
    let share = 1.0 / (fine * fine) as f32;
    let shrunk = Field::from_fn(side, side, |x, y| {
        let mut sum = 0.0;
        for dy in 0..fine {
            let row = (y * fine + dy) * cover.width + x * fine;
            sum += cover.values[row..row + fine].iter().sum::<f32>();
        }
        sum * share
    });
    let most = shrunk.values.iter().copied().fold(0.0_f32, f32::max);
    let enough = most.min(1.0 / 3.0);
    let bits = shrunk.values.iter().map(|value| *value >= enough).collect();
    Mask::new(size, size, bits).expect("because the field has the size of the picture")
}

/// Decides where the object stands and from where it is seen, at some strengths.
fn place(recipe: &Recipe, strengths: &Strengths, parts: &[Part], side: f32) -> Camera {
    let mut dice = Dice::new(recipe.seed, recipe.picture_idx, Aspect::Pose);
    let strength = |attribute| narrow(strengths.of(attribute));
    let (position, viewpoint) = (strength(Attribute::Position), strength(Attribute::Viewpoint));
    let (rotation, size) = (strength(Attribute::Rotation), strength(Attribute::Size));

    let plain = dice.between(PLAIN_LENGTH.0, PLAIN_LENGTH.1);
    let length = plain * (SMALLEST_LENGTH / plain).powf(size);
    let turn = dice.sign();
    let roll = dice.between(-0.09, 0.09) + turn * rotation.powf(1.2) * std::f32::consts::PI;
    let (mut yaw, mut pitch) = (dice.between(-0.14, 0.14), dice.between(-0.1, 0.1));
    let tilt = 1.25 * viewpoint.powf(0.85);
    let (yaw_sign, pitch_sign) = (dice.sign(), dice.sign());
    match dice.below(4) {
        0 | 1 => yaw += yaw_sign * tilt,
        2 => pitch += pitch_sign * tilt,
        _ => {
            yaw += yaw_sign * tilt * 0.8;
            pitch += pitch_sign * tilt * 0.55;
        }
    }
    let bounds = outline_bounds(parts);
    let middle = ((bounds.0 + bounds.2) * 0.5, (bounds.1 + bounds.3) * 0.5);
    let long = (bounds.2 - bounds.0).max(bounds.3 - bounds.1);
    let mut pose = Pose {
        centre: (0.0, 0.0),
        scale: length * side,
        roll,
        yaw,
        pitch,
        // A mirrored dial has mirrored figures.
        mirrored: dice.chance(0.5) && recipe.class != Class::Clock,
    };
    let (left, top, right, bottom) = box_of(&Camera::new(pose, middle, long), parts);
    let (wide, tall) = (right - left, bottom - top);
    // A small thing may be anywhere near the middle; a large one has less room.
    let room = 0.05 + 0.12 * size;
    let mut x = side * (0.5 + dice.between(-room, room));
    let mut y = side * (0.5 + dice.between(-room, room));
    let (sx, sy) = (dice.sign(), dice.sign());
    let corner = dice.chance(0.6);
    let sideways = dice.chance(0.5);
    if position > 0.0 {
        // Share of the box that is cut off along an axis; negative leaves a margin.
        let cut = -0.1 + 0.5 * position;
        let along = |cut: f32, extent: f32, sign: f32| {
            side * 0.5 + sign * (side * 0.5 + (cut - 0.5) * extent)
        };
        if corner {
            (x, y) = (along(cut, wide, sx), along(cut, tall, sy));
        } else {
            let cut = if cut < 0.0 { cut } else { 1.0 - (1.0 - cut).powi(2) };
            if sideways {
                x = along(cut, wide, sx);
            } else {
                y = along(cut, tall, sy);
            }
        }
    }
    pose.centre = (x - (left + right) * 0.5, y - (top + bottom) * 0.5);
    Camera::new(pose, middle, long)
}

fn outline_bounds(parts: &[Part]) -> (f32, f32, f32, f32) {
    let mut bounds = (f32::MAX, f32::MAX, f32::MIN, f32::MIN);
    for part in parts {
        let b = part.outline.bounds();
        bounds = (
            bounds.0.min(b.left()),
            bounds.1.min(b.top()),
            bounds.2.max(b.right()),
            bounds.3.max(b.bottom()),
        );
    }
    bounds
}

/// Returns the box the object is seen in: left, top, right, bottom in pixels.
fn box_of(camera: &Camera, parts: &[Part]) -> (f32, f32, f32, f32) {
    let mut bounds = (f32::MAX, f32::MAX, f32::MIN, f32::MIN);
    for part in parts {
        for point in part.outline.points() {
            let (x, y) = camera.project(point.x, point.y, 0.0);
            bounds = (bounds.0.min(x), bounds.1.min(y), bounds.2.max(x), bounds.3.max(y));
        }
    }
    bounds
}

/// Returns the share of the object outside the frame, measured on a coarse, larger canvas.
fn out_of_frame(camera: &Camera, parts: &[Part], side: usize) -> f32 {
    const COARSE: f32 = 4.0;
    let (left, top, right, bottom) = box_of(camera, parts);
    let far = side as f32;
    if left >= 0.0 && top >= 0.0 && right <= far && bottom <= far {
        return 0.0;
    }
    let mut wider = *camera;
    wider.pose.scale /= COARSE;
    wider.pose.centre =
        ((camera.pose.centre.0 + far) / COARSE, (camera.pose.centre.1 + far) / COARSE);
    let frame = whole(far / COARSE);
    let wide = frame * 3;
    let mut seen = Field::filled(wide, wide, 0.0);
    for part in parts {
        let patch = wider
            .outline(&part.outline)
            .and_then(|outline| super::canvas::Patch::of(&outline, part.rule, wide, wide, 0.0));
        if let Some(patch) = patch {
            patch.each(wide, wide, |pixel, cover| {
                seen.values[pixel] = seen.values[pixel].max(cover);
            });
        }
    }
    let (mut inside, mut all) = (0.0, 0.0);
    for (i, cover) in seen.values.iter().enumerate() {
        all += cover;
        let (x, y) = (i % wide, i / wide);
        if (frame..2 * frame).contains(&x) && (frame..2 * frame).contains(&y) {
            inside += cover;
        }
    }
    if all > 0.0 { (1.0 - inside / all).clamp(0.0, 1.0) } else { 0.0 }
}

/// Gives a plate its sides: what the camera sees of them when it looks from an angle.
fn thicken(sprite: &mut Sprite, camera: &Camera, seen_box: (f32, f32, f32, f32)) {
    const THICKNESS: f32 = 0.07;
    const SIDE_SHADE: f32 = 0.55;
    let tilt = camera.pose.yaw.abs() + camera.pose.pitch.abs();
    let shift = THICKNESS * camera.pose.scale * tilt.min(1.0);
    let n_layers = whole(shift).min(20);
    if n_layers == 0 {
        return;
    }
    let (width, height) = (sprite.cover.width, sprite.cover.height);
    let reach = shift + 2.0;
    let bound = |value: f32, far: usize| lattice(value).clamp(0, far.cast_signed()).unsigned_abs();
    let (x0, x1) = (bound(seen_box.0 - reach, width), bound(seen_box.2 + reach, width));
    let (y0, y1) = (bound(seen_box.1 - reach, height), bound(seen_box.3 + reach, height));
    let front = sprite.cover.clone();
    let front_flat = sprite.flat.clone();
    for y in y0..y1 {
        for x in x0..x1 {
            let pixel = y * width + x;
            for layer in 1..=n_layers {
                let room = 1.0 - sprite.cover.values[pixel];
                if room < 0.02 {
                    break;
                }
                let depth = THICKNESS * layer as f32 / n_layers as f32;
                let (px, py) = camera.point_at(x as f32 + 0.5, y as f32 + 0.5, depth);
                let (fx, fy) = camera.project(px, py, 0.0);
                let cover = front.sample(fx - 0.5, fy - 0.5);
                if cover > 0.5 {
                    let source = front_flat.at(lattice(fx), lattice(fy));
                    let strong = front.at(lattice(fx), lattice(fy)).max(0.2);
                    let colour = scale(source, room * SIDE_SHADE / strong);
                    let add = |below: Colour| [0, 1, 2].map(|i| below[i] + colour[i]);
                    sprite.lit.pixels[pixel] = add(sprite.lit.pixels[pixel]);
                    sprite.flat.pixels[pixel] = add(sprite.flat.pixels[pixel]);
                    sprite.cover.values[pixel] = 1.0;
                }
            }
        }
    }
}

/// The layers of the scene while it grows.
struct Stage {
    lit: Canvas,
    flat: Canvas,
    ink: Field,
    /// Where something lies on the background.
    things: Field,
    light: Light,
    ink_width: f32,
    catches_shadows: bool,
}

impl Stage {
    fn new(background: Canvas, light: Light, ink_width: f32, catches_shadows: bool) -> Self {
        let ink = Field::filled(background.width, background.height, 0.0);
        Self {
            flat: background.clone(),
            lit: background,
            things: ink.clone(),
            ink,
            light,
            ink_width,
            catches_shadows,
        }
    }

    /// Draws parts given in canvas pixels and returns what they cover.
    fn lay_things(&mut self, parts: &[Part], lift: f32) -> Field {
        if parts.is_empty() {
            return Field::filled(self.lit.width, self.lit.height, 0.0);
        }
        let brush = Brush {
            camera: Camera::still(),
            light: self.light,
            skin: &|colour, _| colour,
            ink_width: self.ink_width,
            mottle_seed: 11,
        };
        let sprite = relief::draw(parts, &brush, self.lit.width, self.lit.height);
        self.lay(&sprite, lift);
        sprite.cover
    }

    /// Lays a sprite over the scene, with its shadow `lift` pixels away.
    fn lay(&mut self, sprite: &Sprite, lift: f32) {
        const CONTACT: f32 = 0.38;
        const SOFT: f32 = 0.4;
        if self.catches_shadows {
            let (lx, ly) = (self.light.towards[0], self.light.towards[1]);
            for (reach, depth) in [(0.45, CONTACT), (1.5, SOFT)] {
                let mut shadow = sprite.cover.clone();
                shadow.blur(lift * reach * 0.5);
                let (dx, dy) = (lattice(lx * lift * reach), lattice(ly * lift * reach));
                let width = self.lit.width;
                for (y, row) in self.lit.pixels.chunks_exact_mut(width).enumerate() {
                    for (x, pixel) in row.iter_mut().enumerate() {
                        let dark = shadow.at(x.cast_signed() + dx, y.cast_signed() + dy);
                        if dark > 0.001 {
                            *pixel = scale(*pixel, 1.0 - depth * dark);
                        }
                    }
                }
            }
        }
        for (i, cover) in sprite.cover.values.iter().enumerate() {
            if *cover > 0.0 {
                let under = 1.0 - cover;
                let over =
                    |below: Colour, above: Colour| [0, 1, 2].map(|c| below[c] * under + above[c]);
                self.lit.pixels[i] = over(self.lit.pixels[i], sprite.lit.pixels[i]);
                self.flat.pixels[i] = over(self.flat.pixels[i], sprite.flat.pixels[i]);
                self.ink.values[i] *= under;
                self.things.values[i] = self.things.values[i] * under + cover;
            }
            self.ink.values[i] = self.ink.values[i].max(sprite.ink.values[i]);
        }
    }
}
