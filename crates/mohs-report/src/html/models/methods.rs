//! How the numbers about models were computed, in plain words.

use mohs_score::model::{Cluster, ModelFindings};

use super::super::section::Section;
use crate::escape::esc;
use crate::headline::models as headline;
use crate::number::{count, fixed};

/// Returns what the bootstrap draws, in words.
pub(super) fn drawn(found: &ModelFindings) -> &'static str {
    match found.method.cluster {
        Cluster::Label => "classes with all their stimuli",
        Cluster::LabelThenStimulus => "classes, then stimuli within them",
        Cluster::Stimulus => "stimuli",
    }
}

pub(super) fn section(found: &ModelFindings) -> Section {
    let method = &found.method;
    let bands = match found.bands.is_empty() {
        true => "There is no difficulty, and so there are no bands.".to_owned(),
        false => format!("Bands are {}.", esc(&headline::bands_from(found))),
    };
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>What counts</h3>\n\
         <p>An answer is right when the file says so, or when it is the label of the stimulus. Rows \
         without an answer are counted and never averaged; rows whose right answer nothing says are \
         left out ({unjudged} of {rows}). {bands}</p>\n\
         <h3>Accuracy and its two intervals</h3>\n\
         <pre>accuracy = right answers / answers</pre>\n\
         <p>Wilson’s interval takes stimuli for independent. Stimuli of one class are not: a model \
         that knows the class knows most of them. The other interval draws {drawn} anew, with \
         replacement, {resamples} times ({clusters} are drawn), and answers what other classes of \
         the same kind would give; it is never narrower than Wilson’s.</p>\n\
         <h3>Pairs of models</h3>\n\
         <pre>difference = (only first right − only second right) / both answered</pre>\n\
         <p>Only stimuli on which the two differ say which is better. McNemar’s test asks whether a \
         fair coin explains how they are shared out; its mid-p value is used. Over all pairs, Holm’s \
         correction keeps the chance of any false claim at {level} %, Benjamini and Hochberg’s the \
         share of false ones in the list. The smallest difference that would show is stated for a \
         power of {power} %.</p>\n\
         <h3>Calibration</h3>\n\
         <pre>ECE = Σ bins (answers in bin / answers) · |accuracy − mean confidence|</pre>\n\
         <p>Bins hold equally many answers. The debiased error is the root of the mean squared \
         difference after the part that chance adds in each bin is taken off. The Brier score of the \
         first answer is split into reliability − resolution + uncertainty.</p>\n\
         <h3>Error consistency</h3>\n\
         <pre>κ = (both right or both wrong − expected of chance) / (1 − expected of chance)</pre>\n\
         <p>Expected is what two independent observers with the same accuracies would share.</p>\n\
         <h3>Learning speed</h3>\n\
         <p>The share of epochs in which a stimulus is right: a stand-in for the consistency score \
         that needs one training instead of thousands.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>D. Mayo, J. Cummings, X. Lin, D. Gutfreund, B. Katz, A. Barbu (2023). How hard are \
         computer vision datasets? Calibrating dataset difficulty to viewing time. <i>NeurIPS \
         Datasets and Benchmarks</i>.</li>\n\
         <li>Q. McNemar (1947). Note on the sampling error of the difference between correlated \
         proportions or percentages. <i>Psychometrika</i> 12(2), 153–157.</li>\n\
         <li>S. Holm (1979). A simple sequentially rejective multiple test procedure. \
         <i>Scandinavian Journal of Statistics</i> 6(2), 65–70.</li>\n\
         <li>Y. Benjamini, Y. Hochberg (1995). Controlling the false discovery rate. <i>Journal of \
         the Royal Statistical Society B</i> 57(1), 289–300.</li>\n\
         <li>A. Kumar, P. Liang, T. Ma (2019). Verified uncertainty calibration. <i>NeurIPS</i>.</li>\n\
         <li>R. Geirhos, K. Meding, F. A. Wichmann (2020). Beyond accuracy: quantifying trial-by-trial \
         behaviour of CNNs and humans by measuring error consistency. <i>NeurIPS</i>.</li>\n\
         <li>Z. Jiang, C. Zhang, K. Talwar, M. C. Mozer (2021). Characterizing structural \
         regularities of labeled data in overparameterized models. <i>ICML</i>.</li>\n\
         </ul>\n\
         <h3>To compute it again</h3>\n\
         <dl class=\"pairs\"><div><dt>seed of the draws</dt><dd>{seed}</dd></div>\
         <div><dt>draws</dt><dd>{resamples}</dd></div></dl>\n\
         </div>\n",
        unjudged = count(found.n_unjudged),
        rows = count(found.n_predictions),
        drawn = drawn(found),
        clusters = count(method.n_clusters),
        resamples = count(method.n_resamples),
        level = fixed((1.0 - method.confidence) * 100.0, 0),
        power = fixed(method.power * 100.0, 0),
        seed = method.seed,
    );
    Section { id: "models-methods", nav: "Methods", title: "How it was computed".into(), body }
}
