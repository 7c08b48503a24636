//! Which engine, on what, with how many threads: the flags that every verb that runs models shares,
//! and what the surroundings say about where engines lie.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use mohs_vision::engine::{Device, Engine, EngineChoice, EngineError, OpenOptions, Places};

use crate::error::CliError;
use crate::ui::Ui;

/// Which engine runs the model, and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EngineArgs {
    /// What runs the model; `mohs engines` lists what there is
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    pub(crate) engine: Choice,
    /// What it computes on: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_name = "DEVICE")]
    device: Device,
    /// Threads to compute with [default: as many as the machine offers]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<NonZeroUsize>,
}

/// No machine has more processors than this.
const MAX_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MAX_THREADS);
    threads.ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}, found `{text}`"))
}

/// The engines by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// onnxruntime if it is found, else rten
    Auto,
    /// ONNX Runtime: fast; pip install onnxruntime
    Onnxruntime,
    /// rten: always there
    Rten,
}

impl EngineArgs {
    /// The flags as the engines take them.
    pub(crate) fn options(&self) -> OpenOptions {
        OpenOptions {
            choice: match self.engine {
                Choice::Auto => EngineChoice::Auto,
                Choice::Onnxruntime => EngineChoice::OnnxRuntime,
                Choice::Rten => EngineChoice::Rten,
            },
            device: self.device,
            threads: self.threads,
            places: places(),
        }
    }

    /// Chooses the engine, and says so when `auto` could not take a library that is there.
    pub(crate) fn choose(&self, ui: &Ui) -> Result<Engine, CliError> {
        let engine = Engine::choose(&self.options())?;
        match engine.passed_over() {
            Some(EngineError::NotFound { .. }) | None => {}
            Some(error) => ui.say(&format!("onnxruntime is passed over: {error}")),
        }
        Ok(engine)
    }
}

/// Where the library of ONNX Runtime may lie on this machine.
pub(crate) fn places() -> Places {
    let path =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let programs = std::env::var_os("PATH").unwrap_or_default();
    Places {
        explicit: None,
        variable: path("ORT_DYLIB_PATH"),
        beside_program: program.and_then(|program| Some(program.parent()?.to_owned())),
        environments: ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(path).collect(),
        programs: std::env::split_paths(&programs).collect(),
        home: path("HOME").or_else(|| path("USERPROFILE")),
        system: Places::usual_system_folders(),
    }
}
