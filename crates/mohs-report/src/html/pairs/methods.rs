//! How difficulties were computed from pairs, in plain words.

use mohs_score::human::bradley_terry::{PairedJudgements, Prior, Resampled, Ties};

use super::super::section::Section;
use crate::number::{count, fixed};

pub(super) fn section(found: &PairedJudgements) -> Section {
    let method = &found.method;
    let ties = match method.ties {
        Ties::Davidson => {
            "Ties are an answer of their own, as likely as <i>ν</i>&#160;/&#160;2 times either other \
             answer between equals (Davidson 1970)"
        }
        Ties::Half => "A tie counts as half an answer for each",
    };
    let prior = match method.prior {
        Prior::WhenSeparated { sd } => format!(
            "Where some stimuli only won or only lost, the maximum lies at infinity; there, and only \
             there, a Gaussian prior with a standard deviation of {} log-odds keeps it finite",
            fixed(sd, 2)
        ),
        Prior::Always { sd } => format!(
            "A Gaussian prior with a standard deviation of {} log-odds was put on every difficulty",
            fixed(sd, 2)
        ),
        Prior::Never => "No prior was used".to_owned(),
    };
    let position = match method.accounts_for_position {
        true => {
            " An advantage of the left is part of the model, so difficulties are those at none."
        }
        false => "",
    };
    let drawn = match method.resampled {
        Resampled::Participants => "participants, with all their judgements,",
        Resampled::Judgements => "single judgements, because the file names no participants,",
    };
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>The model</h3>\n\
         <pre>P(i is called harder than j) = 1 / (1 + e^−(d_i − d_j))</pre>\n\
         <p>The model of Bradley and Terry (1952); <i>d</i> is the difficulty, which sums to zero in \
         each group. It was fitted by Newton’s method in {rounds} rounds, to a gradient of at most \
         {gradient:.0e} judgements. {ties}. {prior}.{position}</p>\n\
         <h3>Intervals</h3>\n\
         <p>Those of single difficulties come from the curvature of the likelihood (Fisher \
         information), which takes judgements for independent: it works even where two people judged \
         a group. <i>Over people</i> stands what drawing {drawn} anew gives, {resamples} times, with \
         seed {seed}; intervals of correlations, levels and agreement are of this kind. In \
         {separated} of the draws a group was separated that is not so in the data.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>R. A. Bradley, M. E. Terry (1952). Rank analysis of incomplete block designs: I. The \
         method of paired comparisons. <i>Biometrika</i> 39, 324–345.</li>\n\
         <li>R. R. Davidson (1970). On extending the Bradley–Terry model to accommodate ties in paired \
         comparison experiments. <i>Journal of the American Statistical Association</i> 65, \
         317–328.</li>\n\
         <li>L. R. Ford (1957). Solution of a ranking problem from binary comparisons. <i>American \
         Mathematical Monthly</i> 64, 28–33.</li>\n\
         </ul>\n\
         </div>\n",
        rounds = count(found.fit.n_rounds),
        gradient = found.fit.gradient,
        resamples = count(method.n_resamples),
        seed = method.seed,
        separated = count(found.fit.n_separated_draws),
    );
    let title = "How pairs were computed".into();
    Section { id: "pairs-methods", nav: "Methods", title, body }
}
