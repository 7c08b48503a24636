//! How the speed–accuracy numbers were computed, in plain words.

use mohs_score::human::speed_accuracy::steepness::Scaling;
use mohs_score::human::speed_accuracy::weibull::Criterion;
use mohs_score::human::speed_accuracy::{SpeedAccuracy, TimeOuts};

use crate::escape::esc;
use crate::html::section::Section;
use crate::number::{count, counted, fixed};

pub(super) fn section(found: &SpeedAccuracy) -> Section {
    let method = &found.method;
    let beeps: Vec<String> = found.beeps.iter().map(ToString::to_string).collect();
    let time_outs = match method.time_outs {
        TimeOuts::Errors => {
            "Trials without an answer count as errors, and with the time at which they ended where \
             the file says it"
        }
        TimeOuts::Excluded => "Trials without an answer are set aside",
    };
    let dropped = match method.drop_first {
        0 => String::new(),
        n => format!(" The first {} of each block are dropped.", counted(n, "trial", "trials")),
    };
    let floor = match method.chance_floor {
        true => format!(
            "<i>g</i> is guessing, {} %{}",
            fixed(method.guess_rate * 100.0, 1),
            match method.time_outs {
                TimeOuts::Errors => {
                    ", times the share answered in the first block: who does not answer cannot guess"
                }
                TimeOuts::Excluded => "",
            }
        ),
        false => "<i>g</i> is 0".into(),
    };
    let asymptote = match method.free_asymptote {
        true => "the asymptote <i>A</i> is fitted; what it lacks to 1 is the lapse rate",
        false => "the asymptote <i>A</i> is fixed at 1",
    };
    let criterion = match method.criterion {
        Criterion::MaximumLikelihood => "by binomial maximum likelihood",
        Criterion::LeastSquares => "by least squares",
    };
    let axes = match method.scaling {
        Scaling::Normalised => {
            "Time is scaled to run from 0 at the first block to 1 at the last; accuracy runs from 0 \
             to 1 by nature"
        }
        Scaling::Paper => {
            "As printed: time in ms, on the curve with <i>g</i> = 0 and <i>A</i> = 1 fitted by \
             least squares"
        }
    };
    let redraws = match method.redraws_answers {
        true => " There are so few of them that each draw also redraws their answers.",
        false => "",
    };
    Section {
        id: "speed-accuracy-methods",
        nav: "Methods",
        title: "Methods".into(),
        body: format!(
            "<div class=\"prose\">\n\
             <h3>The task</h3>\n\
             <p>A stimulus is shown and a beep asks for the answer; the time to the beep is the same \
             within a block. Beeps: {beeps}. {window}. {time_outs}.{dropped}</p>\n\
             <h3>Curves</h3>\n\
             <p>A participant’s accuracy and mean time in each block; the average curve is the mean \
             over participants, each counting the same, on both axes. Standard errors are the \
             standard deviation over participants (with <i>n</i> − 1) over √<i>n</i>.</p>\n\
             <h3>Fit</h3>\n\
             <pre>p(t) = g + (A − g) (1 − exp(−(t / λ)^k))</pre>\n\
             <p>Fitted to the blocks {criterion}, within bounds. {floor}; {asymptote}.</p>\n\
             <h3>Steepness</h3>\n\
             <pre>κ = |x″y′ − x′y″| / (x′² + y′²)^1.5     mean over 20 points</pre>\n\
             <p>{axes}. Derivatives are differences between neighbouring points.</p>\n\
             <h3>Distances and ceilings</h3>\n\
             <pre>rmse = mean over conditions of √(mean over blocks of (y₁ − y₂)²)</pre>\n\
             <p>Spearman’s ρ is taken over all pairs of category and block. <i>Average of the \
             others</i> leaves the participant out.</p>\n\
             <h3>Intervals</h3>\n\
             <p>Participants are drawn anew, with replacement, {resamples} times, and everything is \
             computed again; percentiles are taken further out the fewer participants there are \
             (Hesterberg 2015).{redraws} A single participant’s intervals redraw that participant’s \
             answers; accuracies of one participant have Wilson’s interval. The draws come from seed \
             {seed}.</p>\n\
             <h3>References</h3>\n\
             <ul class=\"references\">\n\
             <li>A. Subramanian, S. Price, O. Kumbhar, E. Sizikova, N. J. Majaj, D. G. Pelli (2022). \
             SATBench: benchmarking the speed-accuracy tradeoff in object recognition by humans and \
             dynamic neural networks.</li>\n\
             <li>B. McElree, M. Carrasco (1999). The temporal dynamics of visual search. <i>Journal \
             of Experimental Psychology: Human Perception and Performance</i> 25(6), 1517–1539.</li>\n\
             <li>T. C. Hesterberg (2015). What teachers should know about the bootstrap. <i>The \
             American Statistician</i> 69(4), 371–386.</li>\n\
             </ul>\n</div>\n",
            beeps = esc(&beeps.join(", ")),
            window = capitalised(&esc(&method.window.meaning())),
            resamples = count(method.n_resamples),
            seed = method.seed,
        ),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
