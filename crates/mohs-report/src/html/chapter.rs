//! A chapter: what one kind of data says, with its answer, its front matter and its sections.

use super::section::Section;
use crate::escape::esc;

/// The findings of one kind of data.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chapter {
    /// Anchor, unique in the report; sections of the chapter begin theirs with it.
    pub(super) id: &'static str,
    /// Its name in the table of contents and as heading.
    pub(super) name: &'static str,
    /// The answer in a sentence or two, as text.
    pub(super) answer: String,
    /// What stands right below the answer, as HTML: what it rests on, caveats, the main picture.
    pub(super) front: String,
    /// The rest, in order.
    pub(super) sections: Vec<Section>,
}

impl Chapter {
    /// Returns the answer and the front matter.
    pub(super) fn opening(&self) -> String {
        format!("<p class=\"answer\">{}</p>\n{}", esc(&self.answer), self.front)
    }

    /// Returns the chapter with its heading, for a report of several.
    pub(super) fn html(&self) -> String {
        let Self { id, name, .. } = self;
        let opening = format!(
            "<section id=\"{id}\" class=\"chapter\" aria-labelledby=\"{id}-title\">\n\
             <h2 id=\"{id}-title\">{name}</h2>\n{}</section>\n",
            self.opening()
        );
        opening + &self.sections.iter().map(Section::html).collect::<String>()
    }

    /// Returns the chapter and its sections as an item of the table of contents.
    pub(super) fn nav_item(&self) -> String {
        let Self { id, name, .. } = self;
        let sections: String = self.sections.iter().map(Section::nav_item).collect();
        let sections = match sections.is_empty() {
            true => String::new(),
            false => format!("<ol>{sections}</ol>"),
        };
        format!("<li class=\"chapter\"><a href=\"#{id}\">{name}</a>{sections}</li>")
    }

    /// Returns the answer as an item of the overview of several chapters.
    pub(super) fn answer_item(&self) -> String {
        let Self { id, name, .. } = self;
        format!("<li><a href=\"#{id}\">{name}</a> <span>{}</span></li>\n", esc(&self.answer))
    }
}
