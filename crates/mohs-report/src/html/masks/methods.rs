//! How the numbers about masks were computed, in plain words.

use mohs_score::human::object_masks::{Connectivity, ObjectMasks};

use crate::html::section::Section;
use crate::number::{count, fixed};
use crate::outlined;

pub(super) fn section(found: &ObjectMasks) -> Section {
    let method = &found.method;
    let percent = |share: f64| fixed(share * 100.0, 1).trim_end_matches(".0").to_owned();
    let touching = match method.connectivity {
        Connectivity::Four => "a side (4-connectivity)",
        Connectivity::Eight => "a side or a corner (8-connectivity)",
    };
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>Overlap</h3>\n\
         <pre>IoU(A, B) = |A ∩ B| / |A ∪ B|</pre>\n\
         <p>All outlines one person drew of one object are taken together. Work is done on run \
         lengths, so every pixel counts and none is resampled.</p>\n\
         <h3>Vote</h3>\n\
         <pre>voted(pixel)  ⇔  2 · people who mark it &gt; people</pre>\n\
         <p>Strictly more than half; with an even number of people a tie is background. A person is \
         judged by the vote of the others, because a drawing resembles a vote it took part in.</p>\n\
         <h3>Exam and attention checks</h3>\n\
         <p>The exam is passed with a mean IoU of at least {exam} % over its objects, as in Moayeri \
         et al. (2022); an attention check with at least {check} %.</p>\n\
         <h3>Place</h3>\n\
         <pre>size     = area / (height · width)\n\
         distance = |centroid − centre| / half the diagonal\n\
         lost     = 1 − area inside the crop / area</pre>\n\
         <p>The crop ({crop}) is a rectangle in the original picture; pixels it cuts count by the \
         part inside. Pieces are pixels that share {touching}; a piece below {speck} % of the \
         largest is a speck and no instance.</p>\n\
         <h3>Intervals</h3>\n\
         <p>{confidence} %, from {resamples} draws with seed {seed}. Distributions redraw people and \
         stimuli (pigeonhole bootstrap, Owen 2007); numbers about one object redraw its people and \
         vote anew, and need three of them; numbers about one person redraw objects. Shares of \
         people, checks and objects have Wilson’s interval.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>M. Moayeri, S. Singla, S. Feizi (2022). Hard ImageNet: segmentations for objects with \
         strong spurious cues. <i>NeurIPS Datasets and Benchmarks</i>.</li>\n\
         <li>A. B. Owen (2007). The pigeonhole bootstrap. <i>Annals of Applied Statistics</i> 1(2), \
         386–411.</li>\n\
         </ul>\n</div>\n",
        exam = percent(method.exam_iou),
        check = percent(method.check_iou),
        crop = outlined::crop(found),
        speck = percent(method.speck_share),
        confidence = percent(method.confidence),
        resamples = count(method.n_resamples),
        seed = method.seed,
    );
    let title = "How masks were scored".into();
    Section { id: "masks-methods", nav: "Methods", title, body }
}
