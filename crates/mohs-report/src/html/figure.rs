//! A figure: a chart in two widths, its caption, its numbers, and buttons to take both away.
//!
//! A plot is a figure whose numbers stand in a table of their own beside it.

use crate::chart::Canvas;
use crate::escape::esc;

use super::sheet::Sheet;

/// A chart with everything around it.
pub(super) struct Figure<'a> {
    /// Anchor and name of downloaded files.
    pub(super) id: &'a str,
    /// Heading, as text.
    pub(super) title: &'a str,
    /// What is shown and how to read it, as HTML.
    pub(super) caption: String,
    /// The numbers.
    pub(super) sheet: Sheet,
}

impl Figure<'_> {
    /// Returns the figure; `draw` makes the chart for a canvas.
    pub(super) fn html(&self, draw: impl Fn(Canvas) -> String) -> String {
        let Self { id, caption, sheet, .. } = self;
        let title = esc(self.title);
        format!(
            "<figure id=\"{id}\" data-csv=\"{csv}\">\n\
             <figcaption><h3>{title}</h3><p>{caption}</p></figcaption>\n\
             <div class=\"wide\">{wide}</div>\n\
             <div class=\"narrow\">{narrow}</div>\n\
             <div class=\"tools\"><details><summary>Numbers</summary>\n{table}</details>\
             <span class=\"buttons\">\
             <button type=\"button\" data-download=\"svg\" hidden aria-label=\"Download SVG of {title}\">SVG</button>\
             <button type=\"button\" data-download=\"csv\" hidden aria-label=\"Download CSV of {title}\">CSV</button>\
             </span></div>\n\
             </figure>\n",
            csv = esc(&sheet.csv()),
            wide = draw(Canvas::Wide),
            narrow = draw(Canvas::Narrow),
            table = sheet.table(self.title),
        )
    }
}

/// A chart whose numbers stand beside it.
pub(super) struct Plot<'a> {
    /// Anchor and name of the downloaded file.
    pub(super) id: &'static str,
    /// Heading, as text.
    pub(super) title: &'a str,
    /// What is shown and how to read it, as HTML.
    pub(super) caption: String,
}

impl Plot<'_> {
    /// Returns the figure; `draw` makes the chart for a canvas.
    pub(super) fn html(&self, draw: impl Fn(Canvas) -> String) -> String {
        let Self { id, caption, .. } = self;
        let title = esc(self.title);
        format!(
            "<figure id=\"{id}\">\n\
             <figcaption><h3>{title}</h3><p>{caption}</p></figcaption>\n\
             <div class=\"wide\">{wide}</div>\n\
             <div class=\"narrow\">{narrow}</div>\n\
             <div class=\"tools\"><span></span><span class=\"buttons\">\
             <button type=\"button\" data-download=\"svg\" hidden aria-label=\"Download SVG of {title}\">SVG</button>\
             </span></div>\n\
             </figure>\n",
            wide = draw(Canvas::Wide),
            narrow = draw(Canvas::Narrow),
        )
    }
}
