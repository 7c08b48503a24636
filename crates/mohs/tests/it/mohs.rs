//! Running the binary in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A folder with a path that has spaces and letters beyond ASCII, and the binary run in it.
pub(crate) struct Place {
    _temporary: TempDir,
    folder: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().expect("because tests may write temporary files");
        let folder = temporary.path().join("größe & mut 測試");
        std::fs::create_dir(&folder).expect("because the parent was just made");
        Self { _temporary: temporary, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("because the folder is ours");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of what the folder holds, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(&self.folder)
    }

    /// Runs `mohs` with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_where(args, |_| {})
    }

    /// Starts a run and kills it (−9) as soon as it has come far enough; false if it was done before.
    #[track_caller]
    pub(crate) fn kill_when(
        &self,
        args: &[&str],
        (variable, value): (&str, &str),
        is_far: impl Fn() -> bool,
    ) -> bool {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mohs"))
            .args(args)
            .current_dir(&self.folder)
            .env(variable, value)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("because the binary was built for this test");
        let started = Instant::now();
        while !is_far() {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing is kept");
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_at_work = child.try_wait().expect("because it is ours").is_none();
        child.kill().expect("because it is ours");
        child.wait().expect("because it is ours");
        is_at_work
    }

    /// Runs `mohs` with these arguments in surroundings that the test prepares.
    pub(crate) fn run_where(&self, args: &[&str], prepare: impl Fn(&mut Command)) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mohs"));
        command.args(args).current_dir(&self.folder).env_remove("NO_COLOR");
        prepare(&mut command);
        let output = command.output().expect("because the binary was built for this test");
        Ran(output)
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("because the folder is ours");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("because it was listed").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

/// What a run left behind.
pub(crate) struct Ran(Output);

impl Ran {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Exit code and everything said, for snapshots.
    pub(crate) fn all(&self) -> String {
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code(), self.stdout(), self.stderr())
    }

    /// Stops the test with everything said unless the run ended well.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code(), 0, "{}", self.all());
        self
    }
}
