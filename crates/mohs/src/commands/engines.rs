//! `mohs engines`: what there is to run models with, where it lies, and how to get more.

use std::fmt::Write as _;

use mohs_vision::engine::{Engine, EngineChoice, OpenOptions, find};

use crate::args::Format;
use crate::engine_args::places;
use crate::error::CliError;
use crate::ui::Ui;

/// List what there is to run models with
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs engines
  ORT_DYLIB_PATH=/opt/onnxruntime/lib/libonnxruntime.so mohs engines

onnxruntime is looked for in ORT_DYLIB_PATH, beside mohs, in Python packages and in library folders.")]
pub(crate) struct EnginesArgs {
    /// How to print the list
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &EnginesArgs, ui: &Ui) -> Result<(), CliError> {
    let places = places();
    let search = find::onnxruntime(&places);
    let options = |choice| OpenOptions { choice, places: places.clone(), ..OpenOptions::default() };
    let rten = Engine::choose(&options(EngineChoice::Rten))?;
    let onnxruntime = Engine::choose(&options(EngineChoice::OnnxRuntime));
    if args.format == Format::Json {
        let looked_in: Vec<_> =
            search.looked_in.iter().map(|path| path.display().to_string()).collect();
        let found = match &onnxruntime {
            Ok(engine) => serde_json::json!({
                "name": engine.name(),
                "found": true,
                "version": engine.version(),
                "library": engine.library().map(|path| path.display().to_string()),
                "devices": engine.devices(),
                "looked_in": looked_in,
            }),
            Err(error) => serde_json::json!({
                "name": "onnxruntime",
                "found": false,
                "problem": error.to_string(),
                "remedy": error.remedy(),
                "looked_in": looked_in,
            }),
        };
        let rten = serde_json::json!({
            "name": rten.name(),
            "found": true,
            "version": rten.version(),
            "devices": rten.devices(),
        });
        let json = serde_json::json!({ "version": 1, "engines": [found, rten] });
        return ui.data(format!("{json:#}\n").as_bytes());
    }
    let mut text = String::new();
    match &onnxruntime {
        Ok(engine) => {
            let _ = writeln!(text, "onnxruntime  {}", engine.version());
            if let Some(library) = engine.library() {
                let _ = writeln!(text, "  library    {}", library.display());
            }
            let _ = writeln!(text, "  devices    {}", engine.devices().join(", "));
        }
        Err(error) => {
            let _ = writeln!(text, "onnxruntime  not usable\n  problem    {error}");
            if let Some(remedy) = error.remedy() {
                let _ = writeln!(text, "  remedy     {remedy}");
            }
            for path in &search.looked_in {
                let _ = writeln!(text, "  looked in  {}", path.display());
            }
        }
    }
    let _ = writeln!(text, "rten         {}", rten.version());
    let _ = writeln!(text, "  library    part of mohs");
    let _ = writeln!(text, "  devices    {}", rten.devices().join(", "));
    ui.data(text.as_bytes())
}
