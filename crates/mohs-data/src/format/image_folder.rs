//! A folder of pictures with one folder per class, as `torchvision` and others read it.
//!
//! `root/mug/a.jpg` shows a mug. Deeper folders belong to the class above them, except that
//! `root/mug/occlusion/hard/a.jpg` also says what varies and how strongly.

use std::path::{Path, PathBuf};

use crate::{Extra, FileError, Label, Problem, Stimulus, StimulusId};

/// Endings of pictures, in lower case.
const ENDINGS: [&str; 8] = ["jpg", "jpeg", "png", "webp", "bmp", "gif", "tif", "tiff"];

/// Reads the stimuli of a folder, sorted by path.
///
/// The id of a stimulus is its path within the folder, with `/`. Hidden files are left out.
pub fn read(folder: &Path) -> Result<Vec<Stimulus>, FileError> {
    let mut stimuli = Vec::new();
    let canonical = folder.canonicalize().map_err(|cause| FileError::cannot_read(folder, cause))?;
    walk(folder, &mut Vec::new(), &mut vec![canonical], &mut stimuli)?;
    if stimuli.is_empty() {
        let problem = Problem::BadValue {
            expected: "a folder with one folder of pictures per class".into(),
            found: "no pictures".into(),
            hint: Some(format!(
                "put pictures into FOLDER/CLASS/ (endings {}), or name a table: stimuli.csv",
                ENDINGS.join(", ")
            )),
        };
        return Err(FileError::new(folder, problem));
    }
    stimuli.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(stimuli)
}

/// Returns whether a file's name ends like a picture's.
pub(crate) fn is_picture(path: &Path) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

/// Collects the pictures below `folder`; `names` leads there from the root, `above` are the
/// canonical folders on the way, so that a link to one of them ends.
fn walk(
    folder: &Path,
    names: &mut Vec<String>,
    above: &mut Vec<PathBuf>,
    stimuli: &mut Vec<Stimulus>,
) -> Result<(), FileError> {
    let cannot_read = |path: &Path| {
        let path = path.to_owned();
        move |cause| FileError::cannot_read(&path, cause)
    };
    for entry in std::fs::read_dir(folder).map_err(cannot_read(folder))? {
        let path = entry.map_err(cannot_read(folder))?.path();
        let file_name = path.file_name().unwrap_or_default();
        let Some(name) = file_name.to_str() else {
            let looks_like = "a file name that is not UTF-8".into();
            return Err(FileError::new(&path, Problem::NotText { looks_like }));
        };
        if name.starts_with('.') {
            continue;
        }
        let name = name.to_owned();
        // A link may lead nowhere; only links to pictures matter.
        let is_folder = path.is_dir();
        if is_folder {
            let canonical = path.canonicalize().map_err(cannot_read(&path))?;
            if above.contains(&canonical) {
                continue;
            }
            above.push(canonical);
            names.push(name);
            walk(&path, names, above, stimuli)?;
            names.pop();
            above.pop();
        } else if is_picture(&path) {
            stimuli.push(stimulus(&path, names, name)?);
        }
    }
    Ok(())
}

fn stimulus(path: &Path, names: &[String], name: String) -> Result<Stimulus, FileError> {
    let Some(class) = names.first() else {
        let problem = Problem::BadValue {
            expected: "in a folder named after its class".into(),
            found: name,
            hint: Some("move it into FOLDER/CLASS/, or list files and labels in a table".into()),
        };
        return Err(FileError::new(path, problem));
    };
    let (attribute, level) = match names {
        [_, attribute, level] => (Some(attribute.clone()), Some(level.clone())),
        _ => (None, None),
    };
    let id = [names, &[name]].concat().join("/");
    Ok(Stimulus {
        file: PathBuf::from(&id),
        id: StimulusId::new(id),
        label: Label::new(class),
        dataset: None,
        boxes: Vec::new(),
        mask: None,
        attribute,
        level,
        extra: Extra::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn the_class_is_the_folder_and_the_order_is_fixed() {
        let files = ["mug/b.PNG", "mug/a 1.jpg", "cup/é/x.webp", "mug/notes.txt", "mug/.c.png"];
        let folder = folder_with(&files);
        let stimuli = read(folder.path()).unwrap();
        let found: Vec<_> = stimuli.iter().map(|s| (s.id.as_str(), s.label.as_str())).collect();
        assert_eq!(found, [("cup/é/x.webp", "cup"), ("mug/a 1.jpg", "mug"), ("mug/b.PNG", "mug")]);
        assert_eq!(stimuli[1].file, Path::new("mug/a 1.jpg"));
    }

    #[test]
    fn attribute_and_level_are_folders_too() {
        let folder = folder_with(&["mug/occlusion/hard/a.png"]);
        let stimuli = read(folder.path()).unwrap();
        assert_eq!(stimuli[0].attribute.as_deref(), Some("occlusion"));
        assert_eq!(stimuli[0].level.as_deref(), Some("hard"));
    }

    #[test]
    fn a_folder_without_pictures_is_refused() {
        let error = read(folder_with(&["mug/a.txt"]).path()).unwrap_err();
        insta::assert_snapshot!(
            format!("{}\n{}", error.problem, error.hint().unwrap()),
            @r"
        should be a folder with one folder of pictures per class, found `no pictures`
        put pictures into FOLDER/CLASS/ (endings jpg, jpeg, png, webp, bmp, gif, tif, tiff), or name a table: stimuli.csv
        "
        );
    }

    #[test]
    fn a_picture_without_class_is_refused() {
        let error = read(folder_with(&["a.png"]).path()).unwrap_err();
        insta::assert_snapshot!(
            format!("{}\n{}", error.problem, error.hint().unwrap()),
            @r"
        should be in a folder named after its class, found `a.png`
        move it into FOLDER/CLASS/, or list files and labels in a table
        "
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_above_ends() {
        let folder = folder_with(&["mug/a.png"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("mug/again")).unwrap();
        std::os::unix::fs::symlink("/nowhere", folder.path().join("mug/lost")).unwrap();
        assert_eq!(read(folder.path()).unwrap().len(), 1);
    }
}
