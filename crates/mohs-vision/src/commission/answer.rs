//! Understanding what the writer answered: JSON, wherever it stands in the text, of exactly the
//! form that was asked for. The error says what is wrong, in words that the writer understands, too.

use mohs_data::DrawPlan;
use serde_json::Value;

/// Longer prompts are refused by most painters.
const LONGEST: usize = 3_800;

/// Names and descriptions of `n` attributes.
pub(super) fn attributes(text: &str, n: usize) -> Result<Vec<(String, String)>, String> {
    let found = list(&value(text)?["attributes"], "attributes")?
        .iter()
        .map(|one| {
            let name = one["name"].as_str().or_else(|| one.as_str()).unwrap_or_default();
            let about = one["about"].as_str().unwrap_or_default();
            Ok((sound(name, "a name")?.to_lowercase(), about.trim().to_owned()))
        })
        .collect::<Result<Vec<_>, String>>()?;
    exactly(found.len(), n, "attributes")?;
    // What a plan refuses is asked for again now: it would be found when all levels are paid.
    DrawPlan::check_attributes(found.iter().map(|(name, _)| name)).map_err(
        |(_, expected, found)| format!("attributes should be {expected}, not `{found}`"),
    )?;
    Ok(found)
}

/// Three values of each level.
pub(super) fn levels(text: &str) -> Result<[Vec<String>; 3], String> {
    let value = value(text)?;
    let level = |name: &str| {
        let values = strings(&value[name], name)?;
        exactly(values.len(), 3, &format!("values in `{name}`"))?;
        Ok::<_, String>(values)
    };
    Ok([level("easy")?, level("medium")?, level("hard")?])
}

/// So many prompts for each of so many steps.
pub(super) fn prompts(
    text: &str,
    n_steps: usize,
    per_step: usize,
) -> Result<Vec<Vec<String>>, String> {
    let value = value(text)?;
    let steps = list(&value["prompts"], "prompts")?;
    exactly(steps.len(), n_steps, "lists of prompts")?;
    steps
        .iter()
        .map(|step| {
            let texts = match step.as_str() {
                // One prompt without a list around it.
                Some(text) => vec![sound(text, "a prompt")?.to_owned()],
                None => strings(step, "prompts of a step")?,
            };
            exactly(texts.len(), per_step, "prompts of a step")?;
            Ok(texts)
        })
        .collect()
}

/// The JSON in a text: all of it, or what stands between its first and last bracket.
fn value(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return Ok(value);
    }
    let (Some(first), Some(last)) = (text.find(['{', '[']), text.rfind(['}', ']'])) else {
        return Err("no JSON".to_owned());
    };
    let inside = text.get(first..=last).unwrap_or_default();
    serde_json::from_str(inside).map_err(|error| format!("JSON with a mistake ({error})"))
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("no list `{what}`"))
}

fn strings(value: &Value, what: &str) -> Result<Vec<String>, String> {
    let text = |one: &Value| sound(one.as_str().unwrap_or_default(), what).map(ToOwned::to_owned);
    list(value, what)?.iter().map(text).collect()
}

fn sound<'a>(text: &'a str, what: &str) -> Result<&'a str, String> {
    let text = text.trim();
    match text.len() {
        0 => Err(format!("an empty text in {what}")),
        n if LONGEST < n => Err(format!("a text of {n} letters in {what}")),
        _ => Ok(text),
    }
}

fn exactly(found: usize, wanted: usize, what: &str) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{found} {what} instead of {wanted}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: &str =
        r#"{"easy": ["a", "b", "c"], "medium": ["d", "e", "f"], "hard": ["g", "h", "i"]}"#;

    #[test]
    fn json_is_found_in_fences_and_between_words() {
        for text in [
            LEVELS.to_owned(),
            format!("```json\n{LEVELS}\n```"),
            format!("Gladly! Here it is:\n{LEVELS}\nAnything else?"),
        ] {
            assert_eq!(levels(&text).unwrap()[2], ["g", "h", "i"]);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("I cannot do that.", "no JSON"),
            (&LEVELS[..40], "JSON with a mistake"),
            (&LEVELS.replace("\"h\", ", ""), "2 values in `hard` instead of 3"),
            (&LEVELS.replace("\"d\"", "\" \""), "an empty text in medium"),
            (&LEVELS.replace("medium", "middle"), "no list `medium`"),
        ] {
            let found = levels(text).unwrap_err();
            assert!(found.starts_with(why), "{found}");
        }
    }

    #[test]
    fn attributes_are_counted_and_differ() {
        let text = r#"{"attributes": [{"name": "Size", "about": "how large"}, "colour"]}"#;
        let found = attributes(text, 2).unwrap();
        assert_eq!(found[0], ("size".to_owned(), "how large".to_owned()));
        assert_eq!(found[1].0, "colour");
        assert_eq!(attributes(text, 3).unwrap_err(), "2 attributes instead of 3");
        let twice = text.replace("colour", "size");
        let why = "attributes should be names that differ in letters and digits, not";
        assert_eq!(attributes(&twice, 2).unwrap_err(), format!("{why} `size, size`"));
        let same = text.replace("Size", "odd light").replace("colour", "odd-light");
        assert_eq!(attributes(&same, 2).unwrap_err(), format!("{why} `odd light, odd-light`"));
        let signs = text.replace("colour", "?!");
        assert!(attributes(&signs, 2).unwrap_err().contains("a letter or a digit"));
    }

    #[test]
    fn prompts_come_per_step_with_or_without_a_list_around_one() {
        let found = prompts(r#"{"prompts": [["a"], "b"]}"#, 2, 1).unwrap();
        assert_eq!(found, [["a"], ["b"]]);
        let few = prompts(r#"{"prompts": [["a"]]}"#, 2, 1).unwrap_err();
        assert_eq!(few, "1 lists of prompts instead of 2");
        let two = prompts(r#"{"prompts": [["a"], ["b", "c"]]}"#, 2, 2).unwrap_err();
        assert_eq!(two, "1 prompts of a step instead of 2");
    }
}
