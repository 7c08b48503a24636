//! How the numbers about a ladder were computed, in plain words.

use mohs_score::model::hierarchy::LadderFindings;

use super::super::section::Section;
use super::headline;
use crate::escape::esc;
use crate::number::count;

pub(super) fn section(found: &LadderFindings) -> Section {
    let method = &found.method;
    let body = format!(
        "<div class=\"prose\">\n\
         <h3>What counts</h3>\n\
         <p>Levels come from {levels}. A cell is the stimuli of {cells}; only cells with a stimulus at \
         every level have chains ({complete} of {n_cells}). Rows without an answer are counted and \
         never averaged; rows whose right answer nothing says are left out.</p>\n\
         <h3>Hierarchical learning score</h3>\n\
         <pre>H = Σ k = 0…K  p₁ … p_k · (1 − p_(k+1)) … (1 − p_K)</pre>\n\
         <p>with p the share of right answers at each of K levels of a cell: the share of all chains \
         that are right up to some level and wrong from there on; the mean over cells is told. The \
         published form draws chains instead, which adds luck and nothing else.</p>\n\
         <h3>Baseline and excess</h3>\n\
         <pre>H₀ = H of the mean shares over all cells of an attribute\nexcess = (H − H₀) / (1 − H₀)</pre>\n\
         <p>A model that is right on nearly all easy and on few hard stimuli has a high score by chance \
         alone. The baseline is what its accuracies give if answers at one level say nothing about \
         those at another. An excess above 0 says that what is solved at a hard level is solved at \
         easier ones, too, more than that.</p>\n\
         <h3>Weighted score</h3>\n\
         <pre>score = Σ weight of a level · accuracy at that level / Σ weights</pre>\n\
         <p>Weights are {weights}, from easy to hard.</p>\n\
         <h3>Intervals</h3>\n\
         <p>{drawn} are drawn anew, with replacement, {resamples} times ({clusters} are drawn). Those of \
         accuracies and weighted scores are never narrower than Wilson’s; where draws do not vary, \
         a score over cells has Wilson’s interval, too.</p>\n\
         <h3>References</h3>\n\
         <ul class=\"references\">\n\
         <li>Can vision models mirror human understanding of increasing task difficulty? (paper under \
         review).</li>\n\
         <li>A. C. Davison, D. V. Hinkley (1997). <i>Bootstrap methods and their application</i>.</li>\n\
         <li>R. A. Bradley, M. E. Terry (1952). Rank analysis of incomplete block designs I. \
         <i>Biometrika</i> 39(3/4), 324–345.</li>\n\
         <li>G. Y. Zou, A. Donner (2008). Construction of confidence limits about effect measures. \
         <i>Statistics in Medicine</i> 27(10), 1693–1702.</li>\n\
         </ul>\n\
         <h3>To compute it again</h3>\n\
         <dl class=\"pairs\"><div><dt>seed of the draws</dt><dd>{seed}</dd></div>\
         <div><dt>draws</dt><dd>{resamples}</dd></div></dl>\n\
         </div>\n",
        levels = esc(&headline::levels_from(found)),
        cells = headline::cells(found),
        complete = count(found.n_complete_cells),
        n_cells = count(found.n_cells),
        weights = esc(&headline::weights(found)),
        drawn = capitalised(headline::drawn(found)),
        resamples = count(method.n_resamples),
        clusters = count(method.n_clusters),
        seed = method.seed,
    );
    Section { id: "ladder-methods", nav: "Methods", title: "How it was computed".into(), body }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
