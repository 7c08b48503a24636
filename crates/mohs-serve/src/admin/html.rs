//! Admin pages as HTML.

use std::fmt::Write;

use mohs_data::Task;

use super::overview::Overview;
use super::trial_run::TrialRun;
use crate::hosted::Hosted;
use crate::routes::page::escape;
use crate::store::cell::CellRow;
use crate::token::Role;

/// The style of admin pages.
pub(crate) const STYLE: &str = "\
:root { color-scheme: light; --ink: #1d2733; --soft: #5b6b7c; --line: #d9e0e7; --back: #f6f8fa; \
  --mark: #1a5fd0; }\n\
* { box-sizing: border-box; }\n\
body { margin: 0; background: var(--back); color: var(--ink); \
  font: 16px/1.5 system-ui, sans-serif; }\n\
header, main { max-width: 70rem; margin: 0 auto; padding: 1rem 1.25rem; }\n\
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; }\n\
header a { color: var(--mark); }\n\
h1 { font-size: 1.5rem; margin: 0; }\n\
h2 { font-size: 1.1rem; margin: 0 0 .75rem; }\n\
section { background: #fff; border: 1px solid var(--line); border-radius: .5rem; \
  padding: 1rem 1.25rem; margin: 0 0 1rem; }\n\
.scroll { overflow-x: auto; margin: 0 0 .75rem; \
  background: linear-gradient(90deg, #fff 2rem, #fff0) 0 / 3rem 100% local no-repeat, \
  linear-gradient(270deg, #fff 2rem, #fff0) 100% / 3rem 100% local no-repeat, \
  linear-gradient(90deg, #1d273340, #1d273300) 0 / .75rem 100% no-repeat, \
  linear-gradient(270deg, #1d273340, #1d273300) 100% / .75rem 100% no-repeat; }\n\
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; margin: 0 0 1rem; }\n\
dt { color: var(--soft); font-size: .85rem; }\n\
dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }\n\
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n\
th, td { padding: .25rem .75rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line); \
  white-space: nowrap; }\n\
th { color: var(--soft); font-weight: 600; font-size: .85rem; }\n\
td.n, th.n { text-align: right; }\n\
.heat td { padding: .2rem .5rem; text-align: center; border: 1px solid #fff; }\n\
.fill-0 { background: #eef1f4; } .fill-1 { background: #d3e4fb; } .fill-2 { background: #9cc4f7; }\n\
.fill-3 { background: #5b9ceb; } .fill-4 { background: #1f6feb; color: #fff; }\n\
form { display: inline-flex; flex-wrap: wrap; max-width: 100%; gap: .5rem; margin: 0 .75rem .5rem 0; align-items: center; }\n\
button, .button { display: inline-block; margin: 0 0 .4rem; font: inherit; padding: .4rem .9rem; border: 1px solid var(--mark); \
  border-radius: .4rem; background: #fff; color: var(--mark); text-decoration: none; cursor: pointer; }\n\
button:hover, .button:hover { background: #eaf2fe; }\n\
input { font: inherit; padding: .35rem .5rem; width: 6rem; border: 1px solid var(--line); \
  border-radius: .4rem; }\n\
input.id { width: 20rem; max-width: 100%; box-sizing: border-box; } label { max-width: 100%; }\n\
input[type=checkbox] { width: auto; }\n\
p { margin: 0 0 .75rem; max-width: 46rem; } .soft { color: var(--soft); }\n\
code { overflow-wrap: anywhere; }\n";

/// Bots in a trial run, at most.
pub(crate) const MOST_BOTS: usize = 500;

fn document(title: &str, links: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>{title}</title>\
         <link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/admin/style.css\"></head>\
         <body><header><h1>{title}</h1>{links}</header><main>{body}</main></body></html>"
    )
}

/// A page with one message.
pub(crate) fn message(title: &str, text: &str) -> String {
    document(title, "", &format!("<section><p>{}</p></section>", escape(text)))
}

/// The list of studies.
pub(crate) fn studies<'a>(studies: impl Iterator<Item = &'a Hosted>) -> String {
    let rows: String = studies
        .map(|hosted| {
            let (title, name) = (escape(&hosted.info.title), &hosted.name);
            let task = &hosted.info.task;
            format!("<tr><td><a href=\"/admin/{name}\">{title}</a></td><td>{task}</td></tr>")
        })
        .collect();
    let head = "<tr><th>study</th><th>task</th></tr>";
    let table = table("Studies", "", &format!("{head}{rows}"));
    document("Studies", "", &format!("<section>{table}</section>"))
}

/// The page of a study.
pub(crate) fn study(hosted: &Hosted, overview: &Overview, role: Role, preview: &str) -> String {
    let name = &hosted.name;
    let links = format!(
        "<a href=\"/admin\">All studies</a><a href=\"/s/{name}\">Participants' page</a>\
         <span class=\"soft\">{}</span>",
        role.as_str()
    );
    let mut body = String::new();
    body += &section("Progress", &(numbers(hosted, overview) + &heat(hosted, overview)));
    body += &section("Data quality", &quality(hosted, overview));
    if hosted.study.task == Task::Flash {
        body += &section("Timing", &timing(overview));
    }
    body += &section("Exclusions and conflicts", &exclusions(overview));
    body += &section("Data", &downloads(hosted));
    if role == Role::Owner {
        body += &section("Owner", &owner(hosted, overview, preview));
    }
    body += &section("Sessions", &sessions(hosted, overview));
    document(&hosted.info.title, &links, &body)
}

/// A table that scrolls by itself where it is wider than the page; the keyboard reaches it, too.
fn table(name: &str, class: &str, rows: &str) -> String {
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\
         <table class=\"{class}\">{rows}</table></div>"
    )
}

fn section(title: &str, body: &str) -> String {
    format!("<section><h2>{title}</h2>{body}</section>")
}

fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".into();
    }
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let percent = 100.0 * part as f64 / whole as f64;
    format!("{percent:.0} %")
}

fn count(n: i64) -> usize {
    usize::try_from(n).unwrap_or_default()
}

fn numbers(hosted: &Hosted, overview: &Overview) -> String {
    let total = |of: fn(&CellRow) -> i64| count(overview.cells.iter().map(of).sum());
    let (done, target) = (total(|cell| cell.n_done), total(|cell| cell.target));
    let fills = overview.cells.iter().filter(|cell| 0 < cell.target).map(|cell| cell.n_done);
    let spread = match (fills.clone().min(), fills.max()) {
        (Some(least), Some(most)) => (most - least).to_string(),
        _ => "–".into(),
    };
    let in_state = |word: &str| overview.n_by_state.get(word).copied().unwrap_or(0);
    let done_of_wanted = format!("{} done of wanted", cell_words(hosted).0);
    let numbers = [
        (done_of_wanted.as_str(), format!("{done} / {target}")),
        ("share", share(done, target)),
        ("promised now", total(|cell| cell.n_leased).to_string()),
        ("fullest − emptiest cell", spread),
        ("agreed to take part", overview.n_agreed.to_string()),
        ("complete", in_state("complete").to_string()),
        ("stopped early", in_state("early").to_string()),
        ("found nothing left for them", in_state("nothing-left").to_string()),
        ("withdrew", overview.study.n_withdrawn.to_string()),
        ("study", if overview.study.is_open { "open" } else { "closed" }.into()),
    ];
    let cells: String =
        numbers.iter().map(|(what, n)| format!("<div><dt>{what}</dt><dd>{n}</dd></div>")).collect();
    format!("<dl>{cells}</dl>")
}

/// How many cells are how full, by exposure.
fn heat(hosted: &Hosted, overview: &Overview) -> String {
    let most = overview.cells.iter().map(|cell| cell.target.max(cell.n_done)).max().unwrap_or(0);
    if most == 0 || 60 < most {
        return String::new();
    }
    let mut exposures: Vec<i64> = overview.cells.iter().map(|cell| cell.exposure_idx).collect();
    exposures.sort_unstable();
    exposures.dedup();
    let names: Vec<String> = exposures.iter().map(|idx| group_name(hosted, *idx)).collect();
    let mut rows = format!("<tr><th>{}</th>", cell_words(hosted).1);
    for name in &names {
        let _ = write!(rows, "<th class=\"n\">{}</th>", escape(name));
    }
    rows += "</tr>";
    for n in 0..=most {
        let _ = write!(rows, "<tr><th>{n}</th>");
        for exposure in &exposures {
            let of = |cell: &&CellRow| cell.exposure_idx == *exposure && 0 < cell.target;
            let all = overview.cells.iter().filter(of).count();
            let here = overview.cells.iter().filter(of).filter(|cell| cell.n_done == n).count();
            let class = if all == 0 { 0 } else { (4 * here).div_ceil(all) };
            let _ = write!(rows, "<td class=\"fill-{class}\">{here}</td>");
        }
        rows += "</tr>";
    }
    format!(
        "<p class=\"soft\">How many {}; the darker, the more.</p>{}",
        cell_words(hosted).2,
        table("Progress", "heat", &rows)
    )
}

/// What is wanted, in a plural; what a row of the table of progress stands for; and the table itself,
/// each in words of the task.
fn cell_words(hosted: &Hosted) -> (&'static str, &'static str, &'static str) {
    match (hosted.study.task, hosted.study.flash.design) {
        (Task::Beep, _) => (
            "participants",
            "participants",
            "orders of blocks, from early beeps to late ones or back, have how many participants who \
             finished",
        ),
        (Task::Pairs, _) => {
            ("judgements", "judgements of a pair", "pairs have how many judgements")
        }
        (Task::Flash, mohs_data::Allocation::Balanced) => (
            "trials",
            "trials of a picture",
            "pictures have how many trials that count, by exposure",
        ),
        _ => ("trials", "trials of a picture", "pictures have how many trials that count"),
    }
}

fn group_name(hosted: &Hosted, idx: i64) -> String {
    let study = &hosted.study;
    let exposure = usize::try_from(idx).ok().and_then(|idx| study.flash.exposures_ms.get(idx));
    match (study.task, study.flash.design, exposure) {
        (Task::Flash, mohs_data::Allocation::Balanced, Some(ms)) => ms.to_string(),
        (Task::Flash, _, _) | (Task::Rate, _, _) => "stimuli".into(),
        (Task::Pairs, _, _) => "pairs".into(),
        (Task::Beep, _, _) if idx == 0 => "ascending".into(),
        (Task::Beep, _, _) => "descending".into(),
        _ => idx.to_string(),
    }
}

fn quality(hosted: &Hosted, overview: &Overview) -> String {
    let rt = |share| overview.rt_ms(share).map_or("–".into(), |ms| format!("{ms:.0} ms"));
    let void = match overview.n_void {
        0 => String::new(),
        n => format!(", {n} void"),
    };
    let mut html = format!(
        "<p>{} trials count{void}; rt: half below {}, nine in ten below {}.</p>",
        overview.n_trials - overview.n_void,
        rt(0.5),
        rt(0.9)
    );
    if hosted.study.task == Task::Pairs {
        return html;
    }
    let what = match hosted.study.task {
        Task::Flash => "exposure",
        Task::Beep => "beep",
        _ => "pictures",
    };
    let mut rows =
        format!("<tr><th>{what}</th><th class=\"n\">trials</th><th class=\"n\">right</th></tr>");
    for (exposure, counts) in &overview.by_exposure {
        let _ = write!(
            rows,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            exposure_text(*exposure),
            counts.n,
            share(counts.n_right, counts.n)
        );
    }
    html += &table("Data quality", "", &rows);
    html
}

fn exposure_text(micros: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let ms = micros as f64 / 1_000.0;
    if micros == 0 { "all".into() } else { format!("{ms} ms") }
}

fn timing(overview: &Overview) -> String {
    let words = ["ok", "long", "short", "dropped", "unknown"];
    let mut rows = String::from("<tr><th>exposure</th>");
    for word in words {
        let _ = write!(rows, "<th class=\"n\">{word}</th>");
    }
    rows += "<th class=\"n\">with a late frame</th></tr>";
    for (exposure, counts) in &overview.by_exposure {
        let all: usize = counts.verdicts.values().sum();
        let _ = write!(rows, "<tr><td>{}</td>", exposure_text(*exposure));
        for word in words {
            let n = counts.verdicts.get(word).copied().unwrap_or(0);
            let _ = write!(rows, "<td class=\"n\">{n}</td>");
        }
        let _ = write!(rows, "<td class=\"n\">{}</td></tr>", share(counts.n_late, all));
    }
    let html = table("Timing", "", &rows)
        + "<p class=\"soft\">Only trials that are ok fill a cell; the others are void, are exported \
           with their verdict, and their place goes to somebody else.</p>\
           <p class=\"soft\">Trials by the refresh rate of their screen: ";
    let rates: Vec<String> =
        overview.by_refresh.iter().map(|(hertz, n)| format!("{hertz} Hz: {n}")).collect();
    html + &rates.join(", ") + ".</p>"
}

fn exclusions(overview: &Overview) -> String {
    let mut html = String::new();
    if overview.exclusions.is_empty() {
        html += "<p>No rule of [exclusions] in study.toml applies.</p>";
    } else {
        let mut rows =
            String::from("<tr><th>rule</th><th>takes</th><th class=\"n\">set aside</th></tr>");
        for (rule, meaning, n) in &overview.exclusions {
            let (rule, meaning) = (escape(rule), escape(meaning));
            let _ =
                write!(rows, "<tr><td>{rule}</td><td>{meaning}</td><td class=\"n\">{n}</td></tr>");
        }
        html += &table("Exclusions", "", &rows);
    }
    if overview.conflicts.is_empty() {
        return html + "<p>No two events claim the same place.</p>";
    }
    html += "<p>Events that came twice with different content; both are kept:</p><ul>";
    for (session, epoch, seq) in overview.conflicts.iter().take(20) {
        let _ =
            write!(html, "<li><code>{}</code>, epoch {epoch}, event {seq}</li>", escape(session));
    }
    html + "</ul>"
}

fn downloads(hosted: &Hosted) -> String {
    let noun = if hosted.study.task == Task::Pairs { "comparisons" } else { "trials" };
    let files = [format!("{noun}.csv"), format!("{noun}.parquet"), "events.jsonl".into()];
    let links = files.iter().map(|file| {
        format!("<a class=\"button\" href=\"/admin/{}/export/{file}\">{file}</a> ", hosted.name)
    });
    let links = links.collect::<String>();
    // Judgements have no form there.
    if hosted.study.task == Task::Pairs {
        return format!("<p>{links}</p>");
    }
    format!(
        "<p>{links}</p><p class=\"soft\">BIDS and Psych-DS: <code>mohs export STUDY --to bids</code>.</p>"
    )
}

fn owner(hosted: &Hosted, overview: &Overview, preview: &str) -> String {
    let name = &hosted.name;
    let (verb, word) =
        if overview.study.is_open { ("close", "Close study") } else { ("open", "Open study") };
    format!(
        "<form method=\"post\" action=\"/admin/{name}/{verb}\"><button>{word}</button></form>\
         <form method=\"post\" action=\"/admin/{name}/trial-run\"><label>Bots \
         <input name=\"bots\" type=\"number\" min=\"1\" max=\"{MOST_BOTS}\" value=\"30\"></label>\
         <button>Simulate</button></form>\
         <p class=\"soft\">Bots take part in a copy of the study that is thrown away; your data stay \
         as they are.</p>\
         <p><a class=\"button\" href=\"/admin/{name}/export/sessions.csv\">sessions.csv</a> \
         <span class=\"soft\">Every session with its completion code, to pay by.</span></p>\
         <p><a class=\"button\" href=\"/s/{name}?preview={preview}\">Preview as participant</a> \
         <span class=\"soft\">Nothing is counted; the link is good for a week.</span></p>\
         <form method=\"post\" action=\"/admin/{name}/withdraw\"><label>Session or code \
         <input class=\"id\" name=\"whose\" required maxlength=\"64\" autocomplete=\"off\"></label>\
         <label><input type=\"checkbox\" name=\"sure\" value=\"yes\" required> for good</label>\
         <button>Delete data</button></form>\
         <p class=\"soft\">For participants who ask you to, and cannot do it on their own page any \
         more: everything of the session is deleted, as when they withdraw.</p>"
    )
}

fn sessions(hosted: &Hosted, overview: &Overview) -> String {
    // A judgement of a pair is neither right nor wrong.
    let right = match hosted.study.task {
        Task::Pairs => "",
        Task::Flash => "<th class=\"n\">right at longest</th>",
        _ => "<th class=\"n\">right</th>",
    };
    let mut rows = format!(
        "<tr><th>session</th><th>state</th><th class=\"n\">trials</th><th class=\"n\">good</th>{right}\
         <th>browser</th><th>system</th><th class=\"n\">epochs</th></tr>",
    );
    for session in &overview.sessions {
        let n_good = overview.n_good_by_session.get(&session.session).unwrap_or(&0);
        let share_right = overview.share_right_by_session.get(&session.session);
        let share_right = share_right.map_or("–".into(), |(n, n_right)| share(*n_right, *n));
        let right = match right {
            "" => String::new(),
            _ => format!("<td class=\"n\">{share_right}</td>"),
        };
        let _ = write!(
            rows,
            "<tr><td><code>{}</code></td><td>{}</td><td class=\"n\">{} / {}</td>\
             <td class=\"n\">{n_good}</td>{right}<td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            escape(session.session.get(..8).unwrap_or(&session.session)),
            session.state.as_str(),
            session.n_done,
            session.n_total,
            escape(&session.browser),
            escape(&session.system),
            session.epoch,
        );
    }
    let n: usize = overview.n_by_state.values().sum();
    let shown = overview.sessions.len();
    let more = if shown < n { format!("The {shown} newest of {n}. ") } else { String::new() };
    format!(
        "{}<p class=\"soft\">{more}<b>good</b>: trials that are not void. <code>nothing-left</code>: a person for whom there was no picture: \
         those they had not seen in other studies had all their answers; no trial was shown and no code given.</p>",
        table("Sessions", "", &rows)
    )
}

/// What bots made of a study.
pub(crate) fn trial_run(hosted: &Hosted, run: &TrialRun) -> String {
    let noun = cell_words(hosted).0;
    let numbers = [
        ("bots", run.n_bots.to_string()),
        ("did everything", run.n_complete.to_string()),
        ("left on the way", run.n_left.to_string()),
        ("came when the study was full", run.n_turned_away.to_string()),
        ("met an error", run.n_failed.to_string()),
        ("trials shown, with practice", run.n_trials.to_string()),
        ("done of wanted", format!("{} / {} {noun}", run.n_done, run.n_wanted)),
        ("fullest − emptiest cell", run.spread.to_string()),
    ];
    let cells: String =
        numbers.iter().map(|(what, n)| format!("<div><dt>{what}</dt><dd>{n}</dd></div>")).collect();
    let link = format!("<a href=\"/admin/{}\">Back to the study</a>", hosted.name);
    let frames = match hosted.study.task {
        Task::Flash => ", and one flash in twenty was shown a frame too long and is void",
        _ => "",
    };
    let words = format!(
        "<p class=\"soft\">Simulated people answered, twenty at a time; three in ten left on the \
         way{frames}. Their data are thrown away; the study itself is as it was.</p>"
    );
    let body = section("What bots made of this study", &format!("<dl>{cells}</dl>{words}"));
    document(&hosted.info.title, &link, &body)
}
