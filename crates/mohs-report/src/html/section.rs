//! A section: heading, caveats that weaken it, and its content.

/// A part of the report with its place in the table of contents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// Anchor, unique in the report.
    pub(super) id: &'static str,
    /// Short name in the table of contents.
    pub(super) nav: &'static str,
    /// Heading; empty when the content brings its own, as the overview does.
    pub(super) title: String,
    /// What follows the heading, as HTML.
    pub(super) body: String,
}

impl Section {
    pub(super) fn nav_item(&self) -> String {
        format!("<li><a href=\"#{}\">{}</a></li>", self.id, self.nav)
    }

    pub(super) fn html(&self) -> String {
        let Self { id, title, body, .. } = self;
        let heading = match title.is_empty() {
            true => String::new(),
            false => format!("<h2 id=\"{id}-title\">{title}</h2>\n"),
        };
        format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n{heading}{body}</section>\n")
    }
}
