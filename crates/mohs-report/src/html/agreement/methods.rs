//! How agreement was computed, and what was set aside.

use mohs_score::human::agreement::Agreement;

use super::super::section::Section;
use crate::escape::esc;
use crate::number::{count, counted, fixed};

pub(super) fn section(found: &Agreement) -> Section {
    let method = &found.method;
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>Set aside</h3>\n\
         <p>{read} read, {counted} counted.</p>\n{aside}\
         <h3>Error consistency</h3>\n\
         <pre>κ = (o − e) / (1 − e)\n\
         e = p₁p₂ + (1 − p₁)(1 − p₂)\n\
         most: o = 1 − |p₁ − p₂|\n\
         least: o = |p₁ + p₂ − 1|</pre>\n\
         <p><i>o</i> is the share of stimuli on which two observers are both right or both wrong, \
         <i>p</i> their shares of right answers. Per pair and condition, then the mean over \
         conditions, then over pairs, then over data sets (Geirhos, Meding and Wichmann 2020). \
         Two observers who never differ have κ = 1. The accuracy difference is (p₁ − p₂)².</p>\n\
         <h3>Shape bias</h3>\n\
         <pre>shape bias = S / (S + T)</pre>\n\
         <p><i>S</i> answers name the shape, <i>T</i> the texture, over stimuli whose two differ \
         (Geirhos et al. 2019).</p>\n\
         <h3>Reliability and ceilings</h3>\n\
         <pre>r = corr(share right in one half, in the other), mean over {splits} random splits\n\
         Spearman–Brown = 2r / (1 + r)\n\
         ceiling = √(Spearman–Brown)</pre>\n\
         <p>The people who saw a stimulus are split anew for each stimulus. One person with the \
         others, and with everybody: mean over people of the correlation with the mean (Nili et \
         al. 2014). Agreement in answers: Cohen’s κ for pairs, Fleiss’ for all.</p>\n\
         <h3>Participants and stimuli</h3>\n\
         <pre>logit P(right) = β(condition) + u(participant) + v(stimulus)\n\
         u ~ N(0, σ²ᵤ)\n\
         v ~ N(0, σ²ᵥ)</pre>\n\
         <p>Maximum likelihood in Laplace’s approximation; intervals of the two σ by profile \
         likelihood.</p>\n\
         <h3>Intervals</h3>\n\
         <p>Stimuli are drawn anew within conditions, {resamples} times; people are left out one \
         at a time (in groups when there are more than forty). The two variances add, and Student’s \
         t with Welch’s degrees of freedom makes the {confidence} % interval, so it is meant for \
         other people and other stimuli of the same kind. Numbers about one pair vary stimuli \
         only. Data sets are taken as fixed, and as independent of each other. Seed {seed}.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>R. Geirhos, K. Meding, F. A. Wichmann (2020). Beyond accuracy: quantifying \
         trial-by-trial behaviour of CNNs and humans by measuring error consistency. \
         <i>NeurIPS</i>.</li>\n\
         <li>R. Geirhos et al. (2019). ImageNet-trained CNNs are biased towards texture. \
         <i>ICLR</i>.</li>\n\
         <li>H. Nili et al. (2014). A toolbox for representational similarity analysis. <i>PLoS \
         Computational Biology</i> 10(4).</li>\n\
         <li>D. Bates, M. Mächler, B. Bolker, S. Walker (2015). Fitting linear mixed-effects \
         models using lme4. <i>Journal of Statistical Software</i> 67(1).</li>\n\
         </ul>\n</div>\n",
        read = counted(found.n_trials_read, "trial", "trials"),
        counted = count(found.n_trials),
        aside = aside(found),
        splits = count(method.n_splits),
        resamples = count(method.n_resamples),
        confidence = fixed(method.confidence * 100.0, 0),
        seed = method.seed,
    );
    let title = "How it was computed".into();
    Section { id: "agreement-methods", nav: "Methods", title, body }
}

fn aside(found: &Agreement) -> String {
    let items: String = found
        .exclusions
        .iter()
        .map(|rule| {
            format!(
                "<li><code>{}</code>: {}; {}</li>\n",
                esc(&rule.rule),
                esc(&rule.meaning),
                counted(rule.n_trials, "trial", "trials")
            )
        })
        .collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("<ul>\n{items}</ul>\n"),
    }
}
