//! Where an object stands and from where it is seen.
//!
//! An object is a plate in the plane `z = 0`, one unit long. The camera turns it (roll in the
//! picture, yaw about the vertical, pitch about the horizontal) and projects it with perspective.

use tiny_skia::{Path, PathBuilder, PathSegment, Point};

/// Distance of the eye from the object, in object lengths. Near enough to see perspective.
const EYE_DISTANCE: f32 = 2.6;

/// How an object is placed, in canvas pixels and radians.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    pub(crate) centre: (f32, f32),
    /// Pixels per unit.
    pub(crate) scale: f32,
    pub(crate) roll: f32,
    pub(crate) yaw: f32,
    pub(crate) pitch: f32,
    pub(crate) mirrored: bool,
}

/// Maps object coordinates to canvas pixels and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub(crate) pose: Pose,
    // Columns of the rotation that the object's x, y and z axes are turned into.
    axes: [[f32; 3]; 3],
    // The middle of the drawing and one over its length: drawings come in any units.
    middle: (f32, f32),
    unit: f32,
}

impl Camera {
    /// Returns the camera for a drawing with the given middle and length.
    pub(crate) fn new(pose: Pose, middle: (f32, f32), length: f32) -> Self {
        let (sr, cr) = pose.roll.sin_cos();
        let (sy, cy) = pose.yaw.sin_cos();
        let (sp, cp) = pose.pitch.sin_cos();
        let flip = if pose.mirrored { -1.0 } else { 1.0 };
        // Roll first (in the plane of the object), then yaw, then pitch.
        let turn = |x: f32, y: f32, z: f32| {
            let (x, y) = (cr * x - sr * y, sr * x + cr * y);
            let (x, z) = (cy * x + sy * z, -sy * x + cy * z);
            let (y, z) = (cp * y - sp * z, sp * y + cp * z);
            [x, y, z]
        };
        let axes = [turn(flip, 0.0, 0.0), turn(0.0, 1.0, 0.0), turn(0.0, 0.0, 1.0)];
        Self { pose, axes, middle, unit: 1.0 / length }
    }

    /// Returns a camera that leaves canvas coordinates as they are.
    pub(crate) fn still() -> Self {
        let pose = Pose {
            centre: (0.0, 0.0),
            scale: 1.0,
            roll: 0.0,
            yaw: 0.0,
            pitch: 0.0,
            mirrored: false,
        };
        Self::new(pose, (0.0, 0.0), 1.0)
    }

    /// Returns pixels per drawing unit, seen straight on.
    pub(crate) fn pixels_per_unit(&self) -> f32 {
        self.pose.scale * self.unit
    }

    fn is_flat(&self) -> bool {
        self.axes[0][2].abs() + self.axes[1][2].abs() < 1e-6
    }

    /// Returns where a point of the drawing, `depth` object lengths behind its face, is seen.
    pub(crate) fn project(&self, x: f32, y: f32, depth: f32) -> (f32, f32) {
        let (x, y) = ((x - self.middle.0) * self.unit, (y - self.middle.1) * self.unit);
        let turned = |i: usize| self.axes[0][i] * x + self.axes[1][i] * y + self.axes[2][i] * depth;
        let near = if self.is_flat() { 1.0 } else { EYE_DISTANCE / (EYE_DISTANCE + turned(2)) };
        let scale = self.pose.scale * near;
        (self.pose.centre.0 + scale * turned(0), self.pose.centre.1 + scale * turned(1))
    }

    /// Returns the point of the drawing seen at a pixel, on the plane `depth` behind the face.
    pub(crate) fn point_at(&self, px: f32, py: f32, depth: f32) -> (f32, f32) {
        let (u, v) = (
            (px - self.pose.centre.0) / self.pose.scale,
            (py - self.pose.centre.1) / self.pose.scale,
        );
        // Solve  turned_xy · E / (E + turned_z) = (u, v)  for x and y: two linear equations.
        let [ax, ay, az] = self.axes;
        let flat = if self.is_flat() { 0.0 } else { 1.0 / EYE_DISTANCE };
        let row = |i: usize, t: f32| {
            (
                ax[i] - t * flat * ax[2],
                ay[i] - t * flat * ay[2],
                t - depth * (az[i] - t * flat * az[2]),
            )
        };
        let (a, b, e) = row(0, u);
        let (c, d, f) = row(1, v);
        let determinant = a * d - b * c;
        let determinant =
            if determinant.abs() < 1e-6 { 1e-6_f32.copysign(determinant) } else { determinant };
        let (x, y) = ((e * d - b * f) / determinant, (a * f - e * c) / determinant);
        (x / self.unit + self.middle.0, y / self.unit + self.middle.1)
    }

    /// Returns an outline as it is seen. Curves become short lines, which perspective maps exactly.
    pub(crate) fn outline(&self, path: &Path) -> Option<Path> {
        const N_STEPS: u16 = 10;
        let mut seen = PathBuilder::new();
        let mut last = Point::zero();
        for segment in path.segments() {
            let from = last;
            let mut curve = |at: &dyn Fn(f32) -> (f32, f32)| {
                for step in 1..=N_STEPS {
                    let (x, y) = at(f32::from(step) / f32::from(N_STEPS));
                    let (x, y) = self.project(x, y, 0.0);
                    seen.line_to(x, y);
                }
            };
            match segment {
                PathSegment::MoveTo(p) => {
                    let (x, y) = self.project(p.x, p.y, 0.0);
                    seen.move_to(x, y);
                    last = p;
                }
                PathSegment::LineTo(p) => {
                    let (x, y) = self.project(p.x, p.y, 0.0);
                    seen.line_to(x, y);
                    last = p;
                }
                PathSegment::QuadTo(c, p) => {
                    curve(&|t| {
                        let s = 1.0 - t;
                        let blend =
                            |a: f32, b: f32, c: f32| s * s * a + 2.0 * s * t * b + t * t * c;
                        (blend(from.x, c.x, p.x), blend(from.y, c.y, p.y))
                    });
                    last = p;
                }
                PathSegment::CubicTo(c, d, p) => {
                    curve(&|t| {
                        let s = 1.0 - t;
                        let blend = |a: f32, b: f32, c: f32, d: f32| {
                            s * s * s * a
                                + 3.0 * s * s * t * b
                                + 3.0 * s * t * t * c
                                + t * t * t * d
                        };
                        (blend(from.x, c.x, d.x, p.x), blend(from.y, c.y, d.y, p.y))
                    });
                    last = p;
                }
                PathSegment::Close => seen.close(),
            }
        }
        seen.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projected_point_is_found_again() {
        let pose = Pose {
            centre: (60.0, 50.0),
            scale: 80.0,
            roll: 0.4,
            yaw: 0.9,
            pitch: -0.3,
            mirrored: true,
        };
        let camera = Camera::new(pose, (50.0, 40.0), 100.0);
        for depth in [0.0, 0.1] {
            let (px, py) = camera.project(20.0, 70.0, depth);
            let (x, y) = camera.point_at(px, py, depth);
            assert!((x - 20.0).abs() < 1e-2 && (y - 70.0).abs() < 1e-2, "found {x}, {y}");
        }
    }
}
