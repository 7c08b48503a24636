//! The HTML page.

use mohs_data::{Caveats, Label, StimulusId};
use mohs_report::{Pictures, Summary, Thumbnail, render_html, stimuli_for_gallery};

use crate::fixture::{self, Shape, TINY, USUAL};

/// What a hostile or careless user may call things.
pub(crate) const HOSTILE: [&str; 5] = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "</title></svg><!-- ]]>",
    "'; alert(1); // \u{2028} \u{0} 椅子",
];

fn page(shape: Shape) -> String {
    render_html(&fixture::summary(shape), &pictures(&fixture::summary(shape)))
}

pub(crate) fn pictures(summary: &Summary) -> Pictures {
    let picture = |stimulus: StimulusId| {
        let bytes = b"not really a picture".to_vec();
        (stimulus, Thumbnail { mime: "image/png", bytes, width: 8, height: 8 })
    };
    stimuli_for_gallery(summary).into_iter().map(picture).collect()
}

/// Returns the names of start and end tags outside scripts and styles, in order.
fn tags(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("every tag ends");
        let tag = &rest[..end];
        let name: String =
            tag.chars().take_while(|c| !c.is_whitespace()).collect::<String>().replace('/', "");
        if !tag.starts_with('!') && !tag.ends_with('/') {
            let is_end = tag.starts_with('/');
            tags.push(if is_end { format!("/{name}") } else { name.clone() });
            if matches!(name.as_str(), "script" | "style") && !is_end {
                let close = format!("</{name}>");
                rest = &rest[rest.find(&close).expect("scripts and styles end")..];
                continue;
            }
        }
        rest = &rest[end + 1..];
    }
    tags
}

pub(crate) fn assert_balanced(html: &str) {
    const VOID: [&str; 4] = ["meta", "img", "input", "br"];
    let mut open: Vec<String> = Vec::new();
    for tag in tags(html) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "inside {open:?}"),
            None if VOID.contains(&tag.as_str()) => {}
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Returns the page without its script and style, which are ours and are read by eye.
pub(crate) fn markup(html: &str) -> String {
    let mut markup = String::new();
    let mut rest = html;
    while let Some(start) = ["<script", "<style"].iter().filter_map(|tag| rest.find(tag)).min() {
        markup += &rest[..start];
        let end = rest[start..].find("</s").map(|end| start + end).expect("they end");
        rest = &rest[end..];
    }
    markup + rest
}

#[test]
fn every_element_is_closed_in_order() {
    assert_balanced(&page(USUAL));
    assert_balanced(&page(TINY));
    assert_balanced(&render_html(
        &Summary { viewing_time: None, ..fixture::summary(TINY) },
        &Pictures::new(),
    ));
}

#[test]
fn a_report_loads_nothing() {
    let html = page(USUAL);
    // The one address in the page is a name: the namespace of SVG.
    assert_eq!(html.matches("http").count(), 1 + html.matches("http-equiv").count());
    assert!(html.contains("\"http://www.w3.org/2000/svg\""));
    for loader in ["<link", "@import", "url(", "srcset", "<iframe", "fetch(", "XMLHttp", "import("]
    {
        assert!(!html.contains(loader), "{loader}");
    }
    assert!(html.contains("default-src 'none'"));
    for source in html.split(" src=\"").skip(1) {
        assert!(source.starts_with("data:image/png;base64,"), "{}", &source[..40]);
    }
    for target in html.split(" href=\"").skip(1) {
        assert!(target.starts_with('#'), "{}", &target[..40]);
    }
}

#[test]
fn every_link_leads_somewhere() {
    let html = page(USUAL);
    for target in html.split(" href=\"#").skip(1) {
        let id = target.split('"').next().unwrap();
        assert!(html.contains(&format!(" id=\"{id}\"")), "{id}");
    }
}

#[test]
fn ids_are_unique() {
    let html = page(USUAL);
    let mut ids: Vec<&str> =
        html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let n = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), n);
}

#[test]
fn the_same_summary_gives_the_same_bytes() {
    assert_eq!(page(USUAL), page(USUAL));
}

#[test]
fn hostile_names_are_only_names() {
    let mut summary = fixture::summary(USUAL);
    summary.title = HOSTILE.join(" ");
    summary.mohs_version = HOSTILE[1].into();
    let found = summary.viewing_time.as_mut().unwrap();
    for (idx, finding) in found.stimuli.iter_mut().enumerate() {
        let name = HOSTILE[idx % HOSTILE.len()];
        finding.stimulus = StimulusId::new(format!("{idx} {name}"));
        finding.label = Some(Label::new(name));
        finding.dataset = Some(name.into());
        finding.attribute = Some(name.into());
        finding.caveats = vec![name.into()];
    }
    let groups = found.by_dataset.iter_mut().chain(&mut found.by_label).chain(&mut found.by_level);
    for (idx, group) in groups.enumerate() {
        group.name = HOSTILE[idx % HOSTILE.len()].into();
    }
    found.exclusions[0].rule = HOSTILE[0].into();
    found.exclusions[0].meaning = HOSTILE[1].into();

    let html = render_html(&summary, &pictures(&summary));
    assert_balanced(&html);
    // As many scripts and pictures as in an honest report, and no handler at all.
    assert_eq!(html.matches("<script").count(), page(USUAL).matches("<script").count());
    assert_eq!(html.matches("<img").count(), page(USUAL).matches("<img").count());
    let markup = markup(&html);
    assert!(!markup.contains("<img src=x"));
    assert!(!markup.contains("\" onmouseover="));
    assert!(!markup.contains("<!--"));
}

#[test]
fn a_study_with_nothing_in_it_still_has_a_report() {
    let mut bare = fixture::summary(USUAL);
    let found = bare.viewing_time.as_mut().unwrap();
    found.by_dataset.clear();
    found.by_label.clear();
    found.by_level.clear();
    found.stimuli.clear();
    found.participants.clear();
    found.exclusions.clear();
    found.bands.clear();
    found.exposures.clear();
    found.accuracy_by_exposure.clear();
    found.difficulty_histogram.clear();
    found.caveats = Caveats::default();

    let no_findings = Summary { viewing_time: None, ..fixture::summary(TINY) };
    let one_exposure = fixture::summary(Shape { exposures: &[100.0], ..USUAL });
    let no_sets = fixture::summary(Shape { datasets: &[], levels: &[], ..USUAL });
    for summary in [bare, no_findings, one_exposure, no_sets, fixture::summary(TINY)] {
        let html = render_html(&summary, &Pictures::new());
        assert_balanced(&html);
        for word in markup(&html).split(|c: char| !c.is_alphanumeric()) {
            assert!(!["NaN", "inf", "infinity", "undefined", "null"].contains(&word), "{word}");
        }
    }
}

#[test]
fn the_gallery_is_sampled_from_every_band() {
    let summary = fixture::summary(USUAL);
    let chosen = stimuli_for_gallery(&summary);
    let found = summary.viewing_time.as_ref().unwrap();
    let expected: usize = found.bands.iter().map(|band| band.n_stimuli.min(6)).sum();
    assert_eq!(chosen.len(), expected);
    let html = render_html(&summary, &pictures(&summary));
    assert_eq!(html.matches("data-stimulus=").count(), expected);
}

#[test]
fn caveats_stand_beside_the_numbers_they_weaken() {
    let html = page(USUAL);
    let bands = section(&html, "bands");
    assert!(bands.contains("#caveat-bands-from-same-trials"));
    assert!(!bands.contains("#caveat-few-participants"));
}

#[test]
fn a_mean_of_thresholds_says_how_many_are_extrapolated() {
    let beyond = |n: usize| {
        let mut summary = fixture::summary(Shape { datasets: &[], ..USUAL });
        let found = summary.viewing_time.as_mut().unwrap();
        for (idx, finding) in found.stimuli.iter_mut().enumerate() {
            finding.threshold_ms.value = if idx < n { 70_000.0 } else { 60.0 };
        }
        section(&render_html(&summary, &Pictures::new()), "answer").to_owned()
    };
    assert!(beyond(0).contains("<dt>Typical threshold</dt>"));
    assert!(!beyond(0).contains("extrapolated"));
    assert!(beyond(1).contains("1 stimulus beyond 10 s is extrapolated"));
    assert!(beyond(9).contains("<dt>Typical threshold (geometric mean)</dt>"));
    assert!(beyond(9).contains("9 stimuli beyond 10 s are extrapolated"));
}

#[test]
fn a_long_name_is_whole_in_its_title() {
    const LONG: &str = "a class whose name goes on and on, much longer than a card is wide";
    let html = page(Shape { labels: &[LONG], ..USUAL });
    for id in ["gallery", "stimuli"] {
        assert!(section(&html, id).contains(&format!("title=\"{LONG}\"")), "{id}");
    }
}

#[test]
fn paper_says_how_many_participants_it_leaves_out() {
    assert!(page(USUAL).contains("Printed are 20 rows; 14 more are in the file."));
    assert!(!page(Shape { n_participants: 20, ..USUAL }).contains("Printed are"));
}

#[test]
fn a_study_of_thousands_stays_small() {
    let html = page(Shape { n_stimuli: 5_000, ..USUAL });
    assert!(html.len() < 2_500_000, "{} bytes", html.len());
}

/// Returns one section of a page.
pub(crate) fn section<'a>(html: &'a str, id: &str) -> &'a str {
    let start = html.find(&format!("<section id=\"{id}\"")).expect("the section is there");
    let end = html[start..].find("</section>").expect("sections end");
    &html[start..start + end]
}

#[test]
fn a_report_has_these_headings() {
    let html = page(USUAL);
    let headings: Vec<&str> = html
        .split("<h")
        .filter(|part| part.starts_with(['1', '2', '3']))
        .map(|part| part.split("</h").next().unwrap())
        .collect();
    insta::assert_snapshot!(headings.join("\n"));
}

#[test]
fn the_answer_of_a_tiny_study_looks_like_this() {
    insta::assert_snapshot!(section(&page(TINY), "answer"));
}
