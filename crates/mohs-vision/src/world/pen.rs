//! What shapes are drawn with: outlines, and parts made of an outline, a colour and a form.
//!
//! A shape is a list of parts from back to front, in any units with y pointing down. How a part is
//! lit is decided later, in `relief`.

use super::colour::Colour;
use tiny_skia::{FillRule, LineCap, LineJoin, Path, PathBuilder, Rect, Stroke};

/// How the surface of a part bulges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// A print on the part below: no thickness and no shadow.
    Decal,
    /// A plate whose edges are rounded over this many units.
    Bevel(f32),
    /// A plate that is also round like a standing can (bulging towards the viewer along its middle).
    Can(f32),
    /// Round like a lying log.
    Log(f32),
}

/// How a part reflects light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Finish {
    Matte,
    Satin,
    Gloss,
    Metal,
    /// Shines by itself.
    Glow,
}

/// One piece of a shape.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) outline: Path,
    pub(crate) rule: FillRule,
    pub(crate) colour: Colour,
    /// The colour at the lower end of the part; `None` if it is the same all over.
    pub(crate) foot: Option<Colour>,
    pub(crate) form: Form,
    pub(crate) finish: Finish,
    /// Strength of fine mottling, as of bark or leaves.
    pub(crate) mottle: f32,
}

impl Part {
    /// Sets how the surface bulges.
    pub(crate) fn form(&mut self, form: Form) -> &mut Self {
        self.form = form;
        self
    }

    /// Rounds the edges over this many units.
    pub(crate) fn bevel(&mut self, radius: f32) -> &mut Self {
        self.form(Form::Bevel(radius))
    }

    /// Makes the part a print on the part below.
    pub(crate) fn decal(&mut self) -> &mut Self {
        self.form(Form::Decal)
    }

    /// Sets how the part reflects light.
    pub(crate) fn finish(&mut self, finish: Finish) -> &mut Self {
        self.finish = finish;
        self
    }

    /// Lets the colour run into another one towards the lower end.
    pub(crate) fn fade(&mut self, foot: Colour) -> &mut Self {
        self.foot = Some(foot);
        self
    }

    /// Cuts holes where outlines overlap.
    pub(crate) fn holes(&mut self) -> &mut Self {
        self.rule = FillRule::EvenOdd;
        self
    }

    /// Mottles the colour.
    pub(crate) fn mottle(&mut self, strength: f32) -> &mut Self {
        self.mottle = strength;
        self
    }
}

/// Collects parts, back to front.
#[derive(Default)]
pub(crate) struct Pen {
    pub(crate) parts: Vec<Part>,
}

impl Pen {
    /// Adds a filled outline.
    pub(crate) fn fill(&mut self, outline: Outline, colour: Colour) -> &mut Part {
        let path = outline.finish();
        self.add(path, colour, Form::Bevel(2.0))
    }

    /// Adds a line with round ends, as thick as `width`.
    pub(crate) fn line(&mut self, outline: Outline, width: f32, colour: Colour) -> &mut Part {
        self.stroke(outline, width, colour, LineCap::Round)
    }

    /// Adds a line with square ends.
    pub(crate) fn bar(&mut self, outline: Outline, width: f32, colour: Colour) -> &mut Part {
        self.stroke(outline, width, colour, LineCap::Butt)
    }

    fn stroke(
        &mut self,
        outline: Outline,
        width: f32,
        colour: Colour,
        line_cap: LineCap,
    ) -> &mut Part {
        let stroke = Stroke { width, line_cap, line_join: LineJoin::Round, ..Stroke::default() };
        let path = outline.finish();
        // Shapes are drawn in about a hundred units and shown at up to a thousand pixels.
        let path = path.stroke(&stroke, 10.0).unwrap_or(path);
        self.add(path, colour, Form::Bevel(width * 0.5))
    }

    fn add(&mut self, outline: Path, colour: Colour, form: Form) -> &mut Part {
        self.parts.push(Part {
            outline,
            rule: FillRule::Winding,
            colour,
            foot: None,
            form,
            finish: Finish::Satin,
            mottle: 0.0,
        });
        self.parts.last_mut().expect("because a part was just added")
    }
}

/// An outline under construction.
pub(crate) struct Outline(PathBuilder);

impl Outline {
    /// Starts at a point.
    pub(crate) fn from(x: f32, y: f32) -> Self {
        Self::empty().jump(x, y)
    }

    /// Starts with nothing.
    pub(crate) fn empty() -> Self {
        Self(PathBuilder::new())
    }

    /// Lifts the pen and goes on at a point.
    pub(crate) fn jump(mut self, x: f32, y: f32) -> Self {
        self.0.move_to(x, y);
        self
    }

    /// Draws a straight line.
    pub(crate) fn line(mut self, x: f32, y: f32) -> Self {
        self.0.line_to(x, y);
        self
    }

    /// Draws a curve with one control point.
    pub(crate) fn quad(mut self, cx: f32, cy: f32, x: f32, y: f32) -> Self {
        self.0.quad_to(cx, cy, x, y);
        self
    }

    /// Draws a curve with two control points.
    pub(crate) fn cubic(mut self, a: (f32, f32), b: (f32, f32), end: (f32, f32)) -> Self {
        self.0.cubic_to(a.0, a.1, b.0, b.1, end.0, end.1);
        self
    }

    /// Closes the current loop.
    pub(crate) fn close(mut self) -> Self {
        self.0.close();
        self
    }

    /// Adds a circle.
    pub(crate) fn circle(self, x: f32, y: f32, radius: f32) -> Self {
        self.oval(x, y, radius, radius)
    }

    /// Adds an ellipse.
    pub(crate) fn oval(mut self, x: f32, y: f32, rx: f32, ry: f32) -> Self {
        if let Some(rect) = Rect::from_ltrb(x - rx, y - ry, x + rx, y + ry) {
            self.0.push_oval(rect);
        }
        self
    }

    /// Adds a rectangle.
    pub(crate) fn rect(mut self, left: f32, top: f32, right: f32, bottom: f32) -> Self {
        if let Some(rect) = Rect::from_ltrb(left, top, right, bottom) {
            self.0.push_rect(rect);
        }
        self
    }

    /// Adds a rectangle with rounded corners.
    pub(crate) fn rounded(self, left: f32, top: f32, right: f32, bottom: f32, r: f32) -> Self {
        self.jump(left + r, top)
            .line(right - r, top)
            .quad(right, top, right, top + r)
            .line(right, bottom - r)
            .quad(right, bottom, right - r, bottom)
            .line(left + r, bottom)
            .quad(left, bottom, left, bottom - r)
            .line(left, top + r)
            .quad(left, top, left + r, top)
            .close()
    }

    /// Adds a closed loop of straight lines.
    pub(crate) fn polygon(mut self, points: &[(f32, f32)]) -> Self {
        for (i, &(x, y)) in points.iter().enumerate() {
            self = if i == 0 { self.jump(x, y) } else { self.line(x, y) };
        }
        self.close()
    }

    /// Adds a closed smooth loop through the points.
    pub(crate) fn blob(mut self, points: &[(f32, f32)]) -> Self {
        let n = points.len();
        self = self.jump(points[0].0, points[0].1);
        for i in 0..n {
            let [before, a, b, after] = [i + n - 1, i, i + 1, i + 2].map(|index| points[index % n]);
            self = self.spline(before, a, b, after);
        }
        self.close()
    }

    /// Adds an open smooth line through the points.
    pub(crate) fn through(mut self, points: &[(f32, f32)]) -> Self {
        let n = points.len();
        self = self.jump(points[0].0, points[0].1);
        for i in 0..n - 1 {
            let before = points[i.saturating_sub(1)];
            let after = points[(i + 2).min(n - 1)];
            self = self.spline(before, points[i], points[i + 1], after);
        }
        self
    }

    // Catmull–Rom: the tangent at a point is half the way between its neighbours.
    fn spline(self, before: (f32, f32), a: (f32, f32), b: (f32, f32), after: (f32, f32)) -> Self {
        self.cubic(
            (a.0 + (b.0 - before.0) / 6.0, a.1 + (b.1 - before.1) / 6.0),
            (b.0 - (after.0 - a.0) / 6.0, b.1 - (after.1 - a.1) / 6.0),
            b,
        )
    }

    /// Returns the finished path.
    pub(crate) fn finish(self) -> Path {
        self.0.finish().expect("because every outline in the world has at least one line")
    }
}
