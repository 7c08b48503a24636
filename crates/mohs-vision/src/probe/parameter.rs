//! Parameters of probes: what they may be, and reading them.
//!
//! Nothing is guessed and nothing ignored: a name that is not known, a number outside its range or
//! a word where a number belongs is an error that says what there is.

use std::collections::BTreeMap;
use std::fmt;

use mohs_data::{Parameter, ProbeEntry};

use super::{Kind, ProbeError, quoted};

/// The name of the parameter that asks for another draw of the same noise.
const DRAW: &str = "draw";

/// A parameter of a kind of probe.
#[derive(Debug)]
pub struct ParameterInfo {
    /// Its name in `eval.toml`.
    pub name: &'static str,
    /// What it is where it is not given; `None` if it must be.
    pub default: Option<&'static str>,
    /// What it may be.
    pub allowed: Allowed,
    /// What it means, in a few words.
    pub about: &'static str,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
pub enum Allowed {
    /// A number between two others, both included.
    Number(f64, f64),
    /// A number between two others, or this word.
    NumberOr(f64, f64, &'static str),
    /// A whole number between two others.
    Whole(u32, u32),
    /// An odd number between two others, or this word.
    OddOr(u32, u32, &'static str),
    /// `true` or `false`.
    YesNo,
    /// One of these numbers.
    OneOf(&'static [u32]),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Allowed::Number(low, high) => write!(f, "a number from {low} to {high}"),
            Allowed::NumberOr(low, high, word) => {
                write!(f, "a number from {low} to {high}, or `{word}`")
            }
            Allowed::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Allowed::OddOr(low, high, word) => {
                write!(f, "an odd number from {low} to {high}, or `{word}`")
            }
            Allowed::YesNo => write!(f, "true or false"),
            Allowed::OneOf(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(f, "one of {}", numbers.join(", "))
            }
        }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Word(&'static str),
    Switch(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Word(word) => word.fmt(f),
            Value::Switch(switch) => switch.fmt(f),
        }
    }
}

/// The values of all parameters of a kind, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Values(BTreeMap<&'static str, Value>);

impl Values {
    pub(super) fn parse(entry: &ProbeEntry, kind: &'static Kind) -> Result<Values, ProbeError> {
        let probe = || entry.name.clone();
        let is_known = |name: &str| kind.parameters.iter().any(|info| info.name == name);
        if let Some(found) = entry.parameters.keys().find(|name| !is_known(name)) {
            let known = quoted(kind.parameters.iter().map(|info| info.name));
            let found = found.clone();
            let (probe, kind) = (probe(), kind.name);
            return Err(ProbeError::UnknownParameter { probe, kind, known, found });
        }
        let mut values = BTreeMap::new();
        for info in kind.parameters {
            let given = match (entry.parameters.get(info.name), info.default) {
                (Some(given), _) => given.clone(),
                (None, Some(default)) => Parameter::Text(default.to_owned()),
                (None, None) => {
                    return Err(ProbeError::MissingParameter {
                        probe: probe(),
                        kind: kind.name,
                        parameter: info.name,
                        expected: info.allowed.to_string(),
                    });
                }
            };
            let value = read(&given, info.allowed).ok_or_else(|| ProbeError::BadParameter {
                probe: probe(),
                kind: kind.name,
                parameter: info.name,
                expected: info.allowed.to_string(),
                found: match &given {
                    Parameter::Number(number) => number.to_string(),
                    Parameter::Text(text) => text.clone(),
                    Parameter::Switch(switch) => switch.to_string(),
                },
            })?;
            values.insert(info.name, value);
        }
        Ok(Values(values))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(&name, value)| (name, value))
    }

    /// The number of a parameter; `None` if it is a word.
    pub(super) fn number_or_word(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number of a parameter that has no word.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.number_or_word(name).expect("because the list of kinds says that it is a number")
    }

    /// The whole number of a parameter that is one and has no word.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "read as a whole number of 32 bits"
    )]
    pub(super) fn whole(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// Whether a parameter is switched on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Value::Switch(true)))
    }

    /// Which draw of the same noise is wanted.
    pub(super) fn draw(&self) -> u64 {
        self.number_or_word(DRAW).map_or(0, f64::to_bits)
    }
}

/// Returns the value if it is allowed.
fn read(given: &Parameter, allowed: Allowed) -> Option<Value> {
    let number = || match given {
        Parameter::Number(number) => Some(*number),
        Parameter::Text(text) => fraction(text),
        Parameter::Switch(_) => None,
    };
    let within = |low: f64, high: f64| number().filter(|number| (low..=high).contains(number));
    let whole = |low: u32, high: u32| {
        within(low.into(), high.into()).filter(|number| number.fract() == 0.0)
    };
    let is_word = |word: &str| matches!(given, Parameter::Text(text) if text == word);
    match allowed {
        Allowed::NumberOr(_, _, word) | Allowed::OddOr(_, _, word) if is_word(word) => {
            Some(Value::Word(word))
        }
        Allowed::Number(low, high) | Allowed::NumberOr(low, high, _) => {
            within(low, high).map(Value::Number)
        }
        Allowed::Whole(low, high) => whole(low, high).map(Value::Number),
        Allowed::OddOr(low, high, _) => {
            whole(low, high).filter(|number| number % 2.0 != 0.0).map(Value::Number)
        }
        Allowed::YesNo => match given {
            Parameter::Switch(switch) => Some(Value::Switch(*switch)),
            Parameter::Text(text) => match text.as_str() {
                "true" | "yes" => Some(Value::Switch(true)),
                "false" | "no" => Some(Value::Switch(false)),
                _ => None,
            },
            Parameter::Number(_) => None,
        },
        Allowed::OneOf(numbers) => {
            let number = number()?;
            let mut allowed = numbers.iter().map(|&one| f64::from(one));
            allowed.find(|one| one.total_cmp(&number).is_eq()).map(Value::Number)
        }
    }
}

/// A finite number, or two of them with a stroke between: `8/255`.
fn fraction(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    };
    // Zero without a sign, so that the same probe has one signature.
    value.is_finite().then_some(value + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_numbers() {
        assert_eq!(fraction("8/255"), Some(8.0 / 255.0));
        assert_eq!(fraction(" 1 / 4 "), Some(0.25));
        assert_eq!(fraction("0.5"), Some(0.5));
        assert_eq!([fraction("1/0"), fraction("a/2"), fraction(""), fraction("inf")], [None; 4]);
    }

    #[test]
    fn words_and_numbers_keep_to_their_rules() {
        let text = |text: &str| Parameter::Text(text.to_owned());
        let odd = Allowed::OddOr(1, 9, "auto");
        assert_eq!(read(&Parameter::Number(3.0), odd), Some(Value::Number(3.0)));
        assert_eq!(read(&text("auto"), odd), Some(Value::Word("auto")));
        for wrong in [4.0, 3.5, 11.0, -1.0, f64::NAN] {
            assert_eq!(read(&Parameter::Number(wrong), odd), None, "{wrong}");
        }
        assert_eq!(read(&Parameter::Switch(true), Allowed::YesNo), Some(Value::Switch(true)));
        assert_eq!(read(&Parameter::Number(1.0), Allowed::YesNo), None);
        assert_eq!(read(&text("180"), Allowed::OneOf(&[90, 180])), Some(Value::Number(180.0)));
        assert_eq!(read(&text("45"), Allowed::OneOf(&[90, 180])), None);
    }
}
