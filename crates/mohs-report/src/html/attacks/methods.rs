//! How the numbers about attacks were computed, in plain words.

use mohs_score::model::robustness::AttackFindings;

use super::super::section::Section;
use crate::escape::esc;
use crate::headline::attacks as headline;
use crate::number::{count, fixed};

pub(super) fn section(found: &AttackFindings) -> Section {
    let method = &found.method;
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>What counts</h3>\n\
         <p>Of a stimulus that a model gets right, the smallest ε whose attack makes it wrong. A \
         stimulus that no ε fools was <i>survived</i>: all that is known is that its ε is larger than \
         the largest one tried, and it is counted so, neither dropped nor given a number. Norms, \
         goals, and grids and bounds stand in tables of their own. {bands}</p>\n\
         <h3>Survival</h3>\n\
         <pre>S(e) = product over ε ≤ e of (1 − fooled at ε / at risk at ε)\n\
         area = ∫ from 0 to E of S(e) de = mean of min(ε, E)</pre>\n\
         <p>Kaplan and Meier’s curve, with Greenwood’s variance on the log-log scale. <i>E</i> is the \
         horizon: the largest ε up to which every band of every model and attack of the table is \
         known.</p>\n\
         <h3>Intervals of means, areas and differences</h3>\n\
         <p>Stimuli of one class are fooled alike, so the bootstrap draws {drawn} anew, with \
         replacement, {resamples} times ({clusters} are drawn); intervals are never narrower than \
         those that take stimuli for independent. Models are compared on the same stimuli and the \
         same draws.</p>\n\
         <h3>Tests</h3>\n\
         <p>The log-rank test compares how many stimuli of each band are fooled at each ε with how \
         many would be if bands did not matter; its trend version gives bands their place as a score. \
         Holm’s correction over all models and attacks of a table keeps the chance of any false claim \
         at {level} %.</p>\n\
         <h3>Correlation with difficulty</h3>\n\
         <pre>τ = Σ a·b / √(Σ a² · Σ b²)</pre>\n\
         <p>Over pairs of stimuli; <i>a</i> is the order of ε where it is known, <i>b</i> that of \
         difficulty. Without survivors this is Kendall’s τ-b.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>D. Mayo, J. Cummings, X. Lin, B. Katz, A. Barbu (2022). Image recognition time for humans \
         predicts adversarial vulnerability for models.</li>\n\
         <li>E. L. Kaplan, P. Meier (1958). Nonparametric estimation from incomplete observations. \
         <i>Journal of the American Statistical Association</i> 53, 457–481.</li>\n\
         <li>N. Mantel (1966). Evaluation of survival data and two new rank order statistics arising \
         in its consideration. <i>Cancer Chemotherapy Reports</i> 50(3), 163–170.</li>\n\
         <li>R. E. Tarone (1975). Tests for trend in life table analysis. <i>Biometrika</i> 62(3), \
         679–682.</li>\n\
         <li>B. W. Brown, M. Hollander, R. M. Korwar (1974). Nonparametric tests of independence for \
         censored data, with applications to heart transplant studies. <i>Reliability and \
         Biometry</i>, 327–354.</li>\n\
         <li>F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee, R. A. Rosati (1982). Evaluating the \
         yield of medical tests. <i>JAMA</i> 247(18), 2543–2546.</li>\n\
         <li>P. Royston, M. K. B. Parmar (2013). Restricted mean survival time. <i>BMC Medical \
         Research Methodology</i> 13, 152.</li>\n\
         <li>F. Croce, M. Hein (2020). Reliable evaluation of adversarial robustness with an ensemble \
         of diverse parameter-free attacks. <i>ICML</i>.</li>\n\
         </ul>\n\
         <h3>To compute it again</h3>\n\
         <dl class=\"pairs\"><div><dt>seed of the draws</dt><dd>{seed}</dd></div>\
         <div><dt>draws</dt><dd>{resamples}</dd></div></dl>\n\
         </div>\n",
        bands = esc(&headline::bands_from(found)),
        drawn = headline::drawn(found),
        clusters = count(method.n_clusters),
        resamples = count(method.n_resamples),
        level = fixed((1.0 - method.confidence) * 100.0, 0),
        seed = method.seed,
    );
    Section { id: "attacks-methods", nav: "Methods", title: "How it was computed".into(), body }
}
