//! The methods: how the numbers were computed, in plain words, with formulas and references.

use mohs_data::MvtRule;
use mohs_score::human::viewing_time::ViewingTime;

use super::section::Section;
use crate::Summary;
use crate::escape::esc;
use crate::number::{Unit, count, fixed};

pub(super) fn section(summary: &Summary, found: &ViewingTime) -> Section {
    let method = &found.method;
    let percent = |share: f64| fixed(share * 100.0, 1).trim_end_matches(".0").to_owned();
    let rule = match method.rule {
        MvtRule::Stays => {
            "<code>stays</code>: the shortest exposure from which the stimulus is recognised at \
             every longer one, so the last failure decides"
        }
        MvtRule::First => {
            "<code>first</code>: the shortest exposure at which the stimulus is recognised at all"
        }
    };
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>The task</h3>\n\
         <p>A stimulus is shown for a fixed time, the exposure, and then masked. The participant \
         names its class. Exposures tested: {exposures}.</p>\n\
         <h3>Difficulty score</h3>\n\
         <pre>difficulty = wrong answers / all answers</pre>\n\
         <p>Over all exposures of a stimulus. Its interval, and that of a participant’s accuracy, is \
         Wilson’s (1927), with <i>p</i> the share, <i>n</i> the trials and <i>z</i> the normal \
         quantile of the confidence, {confidence} %:</p>\n\
         <pre>(p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)</pre>\n\
         <h3>Minimum viewing time: the counting rule</h3>\n\
         <pre>recognised(t)  ⇔  right answers at t ≥ {criterion} % of the trials at t</pre>\n\
         <p>The minimum viewing time follows by the rule {rule}. A stimulus not recognised has none; \
         the report calls it <i>never</i>. The definition is that of Mayo et al. (2023).</p>\n\
         <h3>Threshold: the model</h3>\n\
         <pre>P(right | t) = g + (1 − g − l) · s(b (ln t − h) + k + a)\n\
         s(z) = 1 / (1 + e^−z)\n\
         k = logit((c − g) / (1 − g − l))</pre>\n\
         <p><i>h</i> is a stimulus’s threshold (log exposure at which a typical participant reaches \
         the criterion <i>c</i>), <i>b</i> its slope, <i>a</i> a participant’s ability, <i>g</i> the \
         chance of a right guess, <i>l</i> the chance of a lapse. The distribution of thresholds over \
         stimuli is learned from the data (empirical Bayes), so stimuli with few trials borrow from \
         the others. Thresholds of stimuli are posterior medians with credible intervals; a \
         stimulus’s band by the model is the most probable one. Groups show geometric means.</p>\n\
         {parameters}\
         <h3>Intervals of groups and curves</h3>\n\
         <p>Participants and stimuli are both drawn anew, with replacement, {resamples} times \
         (pigeonhole bootstrap, Owen 2007): the interval answers what other people and other \
         stimuli of the same kind would give. The draws come from seed {seed}.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>D. Mayo, J. Cummings, X. Lin, D. Gutfreund, B. Katz, A. Barbu (2023). How hard are \
         computer vision datasets? Calibrating dataset difficulty to viewing time. <i>NeurIPS \
         Datasets and Benchmarks</i>.</li>\n\
         <li>A. B. Owen (2007). The pigeonhole bootstrap. <i>Annals of Applied Statistics</i> 1(2), \
         386–411.</li>\n\
         <li>B. W. Silverman, M. C. Jones, J. D. Wilson, D. W. Nychka (1990). A smoothed EM approach \
         to indirect estimation problems. <i>Journal of the Royal Statistical Society B</i> 52(2), \
         271–324.</li>\n\
         <li>E. B. Wilson (1927). Probable inference, the law of succession, and statistical \
         inference. <i>Journal of the American Statistical Association</i> 22, 209–212.</li>\n\
         </ul>\n\
         <h3>To compute it again</h3>\n\
         <dl class=\"pairs\"><div><dt>mohs</dt><dd>{version}</dd></div>\
         <div><dt>summary format</dt><dd>{format}</dd></div>\
         <div><dt>seed</dt><dd>{seed}</dd></div>\
         <div><dt>seed of the bootstrap</dt><dd>{bootstrap_seed}</dd></div>\
         <div><dt>draws</dt><dd>{resamples}</dd></div></dl>\n\
         </div>\n",
        exposures =
            esc(&found.exposures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        confidence = percent(method.confidence),
        criterion = percent(method.criterion),
        parameters = parameters(found),
        resamples = count(method.n_resamples),
        seed = summary.seed,
        bootstrap_seed = method.seed,
        version = esc(&summary.mohs_version),
        format = summary.version,
    );
    Section { id: "methods", nav: "Methods", title: "How it was computed".into(), body }
}

fn parameters(found: &ViewingTime) -> String {
    let model = &found.model;
    let rows = [
        ("chance of a right guess, g", Unit::Share.value(model.guess_rate), "fixed"),
        ("chance of a lapse, l", Unit::Share.value(model.lapse_rate), "fitted once"),
        (
            "median growth of log-odds per doubling of exposure",
            Unit::Plain.value(model.slope_per_doubling),
            "fitted once",
        ),
        (
            "spread of ability over participants, log-odds",
            Unit::Plain.value(model.ability_sd),
            "fitted once",
        ),
        ("rounds of fitting", count(model.n_rounds), "a count"),
    ];
    let rows: String = rows
        .iter()
        .map(|(name, value, why)| {
            format!("<div><dt>{name}</dt><dd>{value} <span class=\"n\">{why}</span></dd></div>")
        })
        .collect();
    format!(
        "<dl class=\"pairs\">{rows}</dl>\n\
         <p>These parameters belong to the model as a whole and have no interval: they were fitted \
         once to all trials, and the intervals above are given them.</p>\n"
    )
}
