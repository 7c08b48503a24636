//! The list of kinds of probes, with their parameters.
//!
//! Reading `eval.toml`, errors and `docs/formats/probes.md` all follow this list.

use super::parameter::{Allowed, ParameterInfo, Values};
use super::random::Random;
use super::{blur, colour, noise, pass, rotation};
use crate::pixels::{Clamped, Pixels};

/// A kind of probe.
pub struct Kind {
    /// Its name in `eval.toml`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterInfo],
    pub(super) apply: fn(&Pixels, &Values, &mut Random) -> Clamped,
    /// What is expected of the picture's size, if it does not have it.
    pub(super) fits: fn(&Values, u32, u32) -> Result<(), String>,
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Kind({})", self.name)
    }
}

impl Kind {
    /// Says whether it draws random numbers.
    pub fn is_random(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == DRAW.name)
    }
}

/// Returns the kind of that name.
pub(super) fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

const DRAW: ParameterInfo = ParameterInfo {
    name: "draw",
    default: Some("0"),
    allowed: Allowed::Whole(0, 1_000_000),
    about: "another number, other noise",
};

const GREY: ParameterInfo = ParameterInfo {
    name: "grey",
    default: Some("false"),
    allowed: Allowed::YesNo,
    about: "makes the picture grey first (0.2125 R + 0.7154 G + 0.0721 B)",
};

const MONO: ParameterInfo = ParameterInfo {
    name: "mono",
    default: Some("false"),
    allowed: Allowed::YesNo,
    about: "the same noise in all three channels",
};

const LEVEL: ParameterInfo = ParameterInfo {
    name: "contrast",
    default: Some("1"),
    allowed: Allowed::Number(0.0, 1.0),
    about: "pulls towards 0.5 first: c · x + (1 − c) / 2",
};

const BACKGROUND: ParameterInfo = ParameterInfo {
    name: "background",
    default: Some("0.4423"),
    allowed: Allowed::Number(0.0, 1.0),
    about: "what lies around the picture, and the mean after a high-pass",
};

const WIDTH_IN_PIXELS: ParameterInfo = ParameterInfo {
    name: "sd",
    default: None,
    allowed: Allowed::Number(0.0, 1000.0),
    about: "the filter's standard deviation in pixels",
};

const NOISE_SD: ParameterInfo = ParameterInfo {
    name: "sd",
    default: None,
    allowed: Allowed::Number(0.0, 10.0),
    about: "the standard deviation; black is 0 and white 1",
};

const fn truncated(default: &'static str) -> ParameterInfo {
    ParameterInfo {
        name: "truncated",
        default: Some(default),
        allowed: Allowed::NumberOr(0.1, 10.0, "none"),
        about: "draws again what is more than so many sd away",
    }
}

fn any_size(_: &Values, _: u32, _: u32) -> Result<(), String> {
    Ok(())
}

/// All kinds, in the order in which they are shown.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "none",
        about: "leaves pictures as they are",
        parameters: &[],
        apply: |pixels, _, _| Clamped { pixels: pixels.clone(), share: 0.0 },
        fits: any_size,
    },
    Kind {
        name: "grayscale",
        about: "takes the colour away, as Pillow's mode L",
        parameters: &[],
        apply: |pixels, _, _| colour::grayscale(pixels),
        fits: any_size,
    },
    Kind {
        name: "contrast",
        about: "pulls towards the mean luminance, as torchvision's adjust_contrast",
        parameters: &[ParameterInfo {
            name: "factor",
            default: None,
            allowed: Allowed::Number(0.0, 100.0),
            about: "0 is flat, 1 changes nothing, more is stronger",
        }],
        apply: colour::contrast,
        fits: any_size,
    },
    Kind {
        name: "gaussian-noise",
        about: "adds normal noise",
        parameters: &[NOISE_SD, MONO, truncated("none"), DRAW],
        apply: noise::gaussian,
        fits: any_size,
    },
    Kind {
        name: "satbench-noise",
        about: "grey, mean 0.5, low contrast, truncated noise, as SATBench",
        parameters: &[
            NOISE_SD,
            ParameterInfo {
                name: "contrast",
                default: Some("0.1"),
                allowed: Allowed::Number(0.0, 1.0),
                about: "the factor of the contrast",
            },
            truncated("2"),
            DRAW,
        ],
        apply: noise::satbench,
        fits: any_size,
    },
    Kind {
        name: "uniform-noise",
        about: "adds noise between −width and width, as model-vs-human",
        parameters: &[
            ParameterInfo {
                name: "width",
                default: None,
                allowed: Allowed::Number(0.0, 10.0),
                about: "how far noise goes to each side",
            },
            LEVEL,
            GREY,
            MONO,
            DRAW,
        ],
        apply: noise::uniform,
        fits: any_size,
    },
    Kind {
        name: "salt-and-pepper",
        about: "turns a share of the pixels black or white, as model-vs-human",
        parameters: &[
            ParameterInfo {
                name: "share",
                default: None,
                allowed: Allowed::Number(0.0, 1.0),
                about: "how many pixels; half of them white, half black",
            },
            LEVEL,
            GREY,
            DRAW,
        ],
        apply: noise::salt_and_pepper,
        fits: any_size,
    },
    Kind {
        name: "gaussian-blur",
        about: "blurs with a kernel of fixed size, as torchvision's gaussian_blur",
        parameters: &[
            ParameterInfo {
                name: "sigma",
                default: None,
                allowed: Allowed::Number(0.0, 1000.0),
                about: "the standard deviation in pixels; 0 changes nothing",
            },
            ParameterInfo {
                name: "kernel",
                default: Some("auto"),
                allowed: Allowed::OddOr(1, 9_999, "auto"),
                about: "the side of the kernel in pixels; `auto` is three sigma to each side",
            },
        ],
        apply: blur::gaussian,
        fits: blur::fits,
    },
    Kind {
        name: "low-pass",
        about: "keeps what is coarse, as model-vs-human",
        parameters: &[WIDTH_IN_PIXELS, BACKGROUND, GREY],
        apply: pass::low,
        fits: any_size,
    },
    Kind {
        name: "high-pass",
        about: "keeps what is fine, as model-vs-human",
        parameters: &[WIDTH_IN_PIXELS, BACKGROUND, GREY],
        apply: pass::high,
        fits: any_size,
    },
    Kind {
        name: "rotation",
        about: "turns the picture counter-clockwise",
        parameters: &[ParameterInfo {
            name: "degrees",
            default: None,
            allowed: Allowed::OneOf(&[90, 180, 270]),
            about: "by how much",
        }],
        apply: rotation::turn,
        fits: rotation::fits,
    },
];

/// The table of `docs/formats/probes.md`.
#[cfg(test)]
pub(super) fn page_table() -> String {
    let mut table =
        String::from("| kind | what it does | parameter | may be | default | meaning |\n");
    table.push_str("|---|---|---|---|---|---|\n");
    for kind in KINDS {
        let about = format!("| `{}` | {} |", kind.name, kind.about);
        if kind.parameters.is_empty() {
            table.push_str(&format!("{about} | | | |\n"));
        }
        for (idx, parameter) in kind.parameters.iter().enumerate() {
            let about = if idx == 0 { about.as_str() } else { "| | |" };
            let default =
                parameter.default.map_or("must be given".to_owned(), |text| format!("`{text}`"));
            let (name, allowed) = (parameter.name, parameter.allowed);
            let meaning = parameter.about;
            table.push_str(&format!("{about} `{name}` | {allowed} | {default} | {meaning} |\n"));
        }
    }
    table
}
