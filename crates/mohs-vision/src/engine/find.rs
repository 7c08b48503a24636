//! Where a library of ONNX Runtime may lie, in the order in which it is looked for.
//!
//! An explicit path first, then `ORT_DYLIB_PATH`, beside the program, the Python packages
//! `onnxruntime` and `onnxruntime-gpu`, and the folders in which systems keep libraries. No program
//! is started to find out: Python's folders follow a pattern.

use std::path::{Path, PathBuf};

use super::{EngineError, library};

/// What the surroundings say about where things lie; the command line fills it in.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// A library named by the user; nothing else is looked at.
    pub explicit: Option<PathBuf>,
    /// What `ORT_DYLIB_PATH` says; nothing else is looked at.
    pub variable: Option<PathBuf>,
    /// The folder of the program.
    pub beside_program: Option<PathBuf>,
    /// Python environments that are switched on (`VIRTUAL_ENV`, `CONDA_PREFIX`).
    pub environments: Vec<PathBuf>,
    /// Folders in which programs are looked for (`PATH`); Pythons among them are considered.
    pub programs: Vec<PathBuf>,
    /// The user's own folder.
    pub home: Option<PathBuf>,
    /// Folders in which the system keeps libraries.
    pub system: Vec<PathBuf>,
}

impl Places {
    /// Folders in which systems usually keep libraries.
    pub fn usual_system_folders() -> Vec<PathBuf> {
        let folders: &[&str] = if cfg!(target_os = "macos") {
            &["/opt/homebrew/lib", "/usr/local/lib", "/opt/onnxruntime/lib"]
        } else if cfg!(windows) {
            &["C:\\Program Files\\onnxruntime\\lib"]
        } else {
            &[
                "/usr/local/lib",
                "/usr/lib",
                "/usr/lib64",
                "/usr/lib/x86_64-linux-gnu",
                "/usr/lib/aarch64-linux-gnu",
                "/opt/onnxruntime/lib",
            ]
        };
        folders.iter().map(PathBuf::from).collect()
    }
}

/// A usable library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// The version it says it is.
    pub version: String,
}

/// Everything that was looked at, and what came of it.
#[derive(Clone, Debug)]
pub struct Search {
    /// The first usable library, or why there is none.
    pub found: Result<Found, EngineError>,
    /// Files and folders in the order in which they were looked at.
    pub looked_in: Vec<PathBuf>,
}

/// The oldest usable version of ONNX Runtime: `1.x`.
pub const OLDEST_MINOR: u32 = ort::MINOR_VERSION;

/// What the library is called on this system.
pub fn example_name() -> &'static str {
    if cfg!(windows) {
        "onnxruntime.dll"
    } else if cfg!(target_os = "macos") {
        "libonnxruntime.dylib"
    } else {
        "libonnxruntime.so"
    }
}

/// Looks for a usable library.
pub fn onnxruntime(places: &Places) -> Search {
    if let Some(path) = places.explicit.as_ref().or(places.variable.as_ref()) {
        // Whoever names a file wants that file; another one instead would be a surprise.
        return Search { found: inspect(path), looked_in: vec![path.clone()] };
    }
    let mut looked_in = Vec::new();
    let mut first_problem = None;
    for folder in folders(places) {
        if looked_in.contains(&folder) {
            continue;
        }
        for path in libraries_in(&folder) {
            match inspect(&path) {
                Ok(found) => {
                    looked_in.push(folder);
                    return Search { found: Ok(found), looked_in };
                }
                Err(problem) => first_problem = first_problem.or(Some(problem)),
            }
        }
        looked_in.push(folder);
    }
    let problem =
        first_problem.unwrap_or_else(|| EngineError::NotFound { looked_in: looked_in.clone() });
    Search { found: Err(problem), looked_in }
}

/// Asks a file for its version, and whether that is enough.
fn inspect(path: &Path) -> Result<Found, EngineError> {
    // `ort` takes a path that is not absolute as one beside the program.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let version = library::version(&path)
        .map_err(|problem| EngineError::NotALibrary { path: path.clone(), problem })?;
    if is_enough(&version) {
        return Ok(Found { path, version });
    }
    Err(EngineError::TooOld { path, found: version, needed: format!("1.{OLDEST_MINOR}") })
}

/// Whether a version such as `1.20.1` is one that can be used.
fn is_enough(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    matches!((parts.next(), parts.next()), (Some(1), Some(minor)) if OLDEST_MINOR <= minor)
}

/// Folders that may hold the library, in order; some may not exist.
fn folders(places: &Places) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = places.beside_program.iter().cloned().collect();
    if let Some(folder) = &places.beside_program {
        folders.push(folder.join("lib"));
    }
    let mut prefixes = places.environments.clone();
    prefixes.extend(places.programs.iter().filter_map(|folder| python_prefix(folder)));
    if let Some(home) = &places.home {
        prefixes.push(home.join(".local"));
        prefixes.extend(folders_in(&home.join(".pyenv/versions")));
        // What `pip install --user` uses on other systems.
        prefixes.extend(folders_in(&home.join("Library/Python")));
        prefixes.extend(folders_in(&home.join("AppData/Roaming/Python")));
        prefixes.extend(folders_in(&home.join("AppData/Local/Programs/Python")));
    }
    folders.extend(prefixes.iter().flat_map(|prefix| packages_of(prefix)));
    folders.push(PathBuf::from("/usr/lib/python3/dist-packages/onnxruntime/capi"));
    folders.extend(places.system.iter().cloned());
    folders
}

/// The prefix of the Python in a folder of programs, if there is one.
fn python_prefix(programs: &Path) -> Option<PathBuf> {
    if ["python.exe", "python3.exe"].iter().any(|name| programs.join(name).is_file()) {
        return Some(programs.to_owned());
    }
    let has_python = ["python3", "python"].iter().any(|name| programs.join(name).exists());
    has_python.then(|| programs.parent().map(Path::to_owned)).flatten()
}

/// Where a Python at this prefix keeps the package `onnxruntime`, which both packages install.
fn packages_of(prefix: &Path) -> Vec<PathBuf> {
    let mut sites = Vec::new();
    for library in ["lib", "lib64"] {
        let mut pythons = folders_in(&prefix.join(library));
        pythons.retain(|folder| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3"))
        });
        // The newest first: 3.12 before 3.9.
        pythons.sort_by_key(|folder| std::cmp::Reverse(minor_version(folder)));
        for python in pythons {
            sites.push(python.join("site-packages"));
            sites.push(python.join("dist-packages"));
        }
    }
    sites.push(prefix.join("Lib/site-packages"));
    sites.push(prefix.join("site-packages"));
    sites.retain(|site| site.is_dir());
    sites.into_iter().map(|site| site.join("onnxruntime").join("capi")).collect()
}

fn minor_version(folder: &Path) -> u32 {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit('.').next().and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

/// Folders in a folder, sorted; none if it is not there.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        entries(folder).into_iter().filter(|path| path.is_dir()).collect();
    found.sort_unstable();
    found
}

/// Files in a folder that are called like the library, the plain name first, then new before old.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (stem, ending) = match example_name().rsplit_once('.') {
            Some(parts) => parts,
            None => return false,
        };
        match name.strip_prefix(stem) {
            // libonnxruntime.so, libonnxruntime.so.1.20.1, libonnxruntime.1.20.1.dylib
            Some(rest) => {
                let rest = rest.replace(ending, "");
                rest.chars().all(|c| c == '.' || c.is_ascii_digit()) && path.is_file()
            }
            None => false,
        }
    };
    let mut found: Vec<PathBuf> = entries(folder).into_iter().filter(is_library).collect();
    found.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbers: Vec<u32> = name.split('.').filter_map(|part| part.parse().ok()).collect();
        (name != example_name(), std::cmp::Reverse(numbers))
    });
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder);
    entries.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "no library").unwrap();
    }

    #[test]
    fn a_version_counts_by_its_second_number() {
        for (version, expected) in
            [("1.16.3", false), ("1.17.0", true), ("1.31.1", true), ("1.9.0", false), ("x", false)]
        {
            assert_eq!(is_enough(version), expected, "{version}");
        }
    }

    #[test]
    fn an_environment_goes_before_programs_and_the_newest_python_before_others() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        touch(&at("venv/lib/python3.9/site-packages/onnxruntime/capi/libonnxruntime.so.1.19.2"));
        touch(&at("venv/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.1"));
        touch(&at("usr/bin/python3"));
        touch(&at("usr/lib/python3.11/site-packages/x"));
        let places = Places {
            environments: vec![at("venv")],
            programs: vec![at("usr/bin")],
            system: vec![at("lib")],
            ..Places::default()
        };
        let expected = [
            at("venv/lib/python3.12/site-packages/onnxruntime/capi"),
            at("venv/lib/python3.9/site-packages/onnxruntime/capi"),
            at("usr/lib/python3.11/site-packages/onnxruntime/capi"),
            PathBuf::from("/usr/lib/python3/dist-packages/onnxruntime/capi"),
            at("lib"),
        ];
        assert_eq!(folders(&places), expected);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_files_called_like_the_library_are_tried() {
        let place = tempfile::tempdir().unwrap();
        for name in [
            "libonnxruntime.so.1.9.0",
            "libonnxruntime.so.1.20.1",
            "libonnxruntime.so",
            "libonnxruntime_providers_shared.so",
            "libonnx.so",
        ] {
            touch(&place.path().join(name));
        }
        let names: Vec<String> = libraries_in(place.path())
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        let expected = ["libonnxruntime.so", "libonnxruntime.so.1.20.1", "libonnxruntime.so.1.9.0"];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(example_name());
        touch(&path);
        let places = Places { variable: Some(path.clone()), ..Places::default() };
        let error = onnxruntime(&places).found.unwrap_err();
        assert!(matches!(&error, EngineError::NotALibrary { path: found, .. } if *found == path));
        assert!(error.remedy().unwrap().contains("pip install onnxruntime"));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_looked_up_elsewhere() {
        let places = Places { variable: Some("no/such/libm.so.6".into()), ..Places::default() };
        let error = onnxruntime(&places).found.unwrap_err();
        assert!(error.to_string().ends_with("there is no such file"), "{error}");
    }

    #[test]
    fn a_library_that_is_not_there_is_looked_for_everywhere() {
        let place = tempfile::tempdir().unwrap();
        let system = vec![place.path().to_owned()];
        let search = onnxruntime(&Places { system, ..Places::default() });
        if Path::new("/usr/lib/python3/dist-packages/onnxruntime").exists() {
            return;
        }
        assert!(matches!(search.found, Err(EngineError::NotFound { looked_in })
            if looked_in == search.looked_in && looked_in.contains(&place.path().to_owned())));
    }
}
