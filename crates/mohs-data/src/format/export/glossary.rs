//! What our columns mean, for files that ask for a description of each.

/// Returns what a column of trials means, and its unit.
pub(super) fn meaning(column: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match column {
        "trial" => ("Id of the trial, unique within the data set", None),
        "session" => ("Id of the sitting", None),
        "participant" => ("Id of the person", None),
        "idx" => ("Position of the trial within the session, from 0", None),
        "block" => ("Run of trials within the session", None),
        "task" => (
            "What the participant had to do: flash (name what was flashed), beep (answer at a \
             beep), rate (name what is shown)",
            None,
        ),
        "stimulus" => ("Id of what was shown", None),
        "label" => ("The right answer", None),
        "exposure_ms" => ("Time the stimulus was meant to be on screen", Some("ms")),
        "beep_ms" => ("Time after onset at which a beep asked for the answer", Some("ms")),
        "condition" => ("What was done to the stimulus", None),
        "response" => ("The answer; empty when there was none", None),
        "correct" => ("The source's own word on whether the answer was right: 1 or 0", None),
        "onset_ms" => ("Clock of the participant's machine when the stimulus appeared", Some("ms")),
        "offset_ms" => ("Clock when the stimulus left", Some("ms")),
        "response_ms" => ("Clock when the answer came", Some("ms")),
        "timing" => (
            "What the presentation log says about the exposure: ok, long, short, dropped, unknown",
            None,
        ),
        "trials_version" => ("Version of this table's format", None),
        _ => return None,
    })
}
