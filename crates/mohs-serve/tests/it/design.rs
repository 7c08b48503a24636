//! A study that changes between two servers on one database.

use std::path::Path;
use std::sync::Arc;

use mohs_data::format::{ReadOptions, read_all, write_all};
use mohs_data::{Label, MaskForm, Millis, Prepared, Study, Task};
use mohs_serve::app::{App, Setup, StartError};
use mohs_serve::hosted::{Hosted, LaunchError};

use crate::server::{TestServer, first_option};

/// Starts the study anew after a change, and returns what was refused.
async fn again(
    server: &TestServer,
    n: u32,
    change: impl Fn(&mut Study),
    shown: impl Fn(&mut Vec<Prepared>),
) -> Vec<String> {
    let folder = server.folder.path().join("study");
    crate::folder::study(&folder, "study", Task::Flash, (n, 3), change);
    change_table(&folder, shown);
    let hosted = vec![Arc::new(Hosted::read(&folder).unwrap())];
    match App::start(server.app.store.clone(), hosted, Setup::default()).await {
        Ok(_) => Vec::new(),
        Err(StartError::Launch(LaunchError::OtherDesign { changes, .. })) => {
            changes.iter().map(ToString::to_string).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

fn change_table(folder: &Path, change: impl Fn(&mut Vec<Prepared>)) {
    let table = folder.join("prepared.csv");
    let mut rows: Vec<Prepared> = read_all(&table, &ReadOptions::default()).unwrap();
    change(&mut rows);
    write_all(&table, &rows).unwrap();
}

/// One participant answers four trials.
async fn with_data(server: &TestServer) -> Vec<String> {
    let mut bot = server.join("p1").await;
    let mut images = Vec::new();
    while images.len() < 4 {
        let block = bot.block().await.unwrap().block.unwrap();
        for trial in &block.trials {
            bot.start(trial);
            bot.answer(trial, &first_option(trial), 0);
            if !block.is_practice {
                images.push(trial.image.clone());
            }
        }
        bot.flush().await.unwrap();
    }
    images
}

fn ms(values: [f64; 2]) -> Vec<Millis> {
    values.map(|ms| Millis::new(ms).unwrap()).to_vec()
}

#[tokio::test]
async fn what_changes_the_meaning_of_data_is_refused_and_nothing_else() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let seen = with_data(&server).await;
    let none = |_: &mut Vec<Prepared>| ();
    let refused =
        again(&server, 24, |study| study.flash.exposures_ms = ms([50.0, 250.0]), none).await;
    assert_eq!(refused, ["`flash.exposures_ms` was [17, 50, 250] and is [50, 250] now"]);
    let refused = again(&server, 24, |study| study.prepare.masks = MaskForm::None, none).await;
    assert_eq!(refused[0], "`prepare.masks` was \"paper\" and is \"none\" now");
    let more = ["label-0", "label-1", "label-2", "label-9"].map(String::from);
    let refused = again(&server, 24, |study| study.labels = more.to_vec(), none).await;
    assert!(refused[0].starts_with("`labels` was [\"label-0\","), "{refused:?}");
    // Texts, counts and more stimuli are free.
    let free = |study: &mut Study| {
        study.page.title = Some("Another title".into());
        study.page.language = "de".into();
        study.flash.participants_per_cell = 5;
        study.flash.trials_per_participant = 9;
    };
    assert_eq!(again(&server, 30, free, none).await, [""; 0]);
    // The right answer to a stimulus, and its picture, where somebody was asked about it.
    let relabelled = |rows: &mut Vec<Prepared>| {
        let row = rows.iter_mut().find(|row| row.image == seen[0]).unwrap();
        let other = if row.label.as_str() == "label-0" { "label-1" } else { "label-0" };
        row.label = Label::new(other);
    };
    let refused = again(&server, 30, free, relabelled).await;
    assert!(refused.len() == 1 && refused[0].starts_with("the label of stimulus"), "{refused:?}");
    let repainted = |rows: &mut Vec<Prepared>| {
        for row in rows.iter_mut() {
            row.mask = Some(row.image.clone());
        }
    };
    let refused = again(&server, 30, free, repainted).await;
    assert_eq!(refused.len(), 4);
    assert!(refused.iter().all(|change| change.starts_with("the mask of stimulus")), "{refused:?}");
    // The last stimulus came later, so nobody was asked about it yet.
    let last = |rows: &mut Vec<Prepared>| rows.last_mut().unwrap().label = Label::new("label-0");
    assert_eq!(again(&server, 30, free, last).await, [""; 0]);
}

/// Starts the study anew on its own database under another name, and returns the refusal.
async fn renamed(server: &TestServer, name: &str, id: Option<&str>, is_own: bool) -> String {
    let folder = server.folder.path().join("study");
    crate::folder::study(&folder, name, Task::Flash, (24, 3), |study| {
        study.id = id.map(Into::into);
    });
    let hosted = vec![Arc::new(Hosted::read(&folder).unwrap())];
    let setup = Setup { has_own_store: is_own, ..Setup::default() };
    match App::start(server.app.store.clone(), hosted, setup).await {
        Ok(_) => String::new(),
        Err(StartError::Launch(error @ LaunchError::OtherName { .. })) => {
            format!("{error}; {}", error.hint().unwrap())
        }
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn another_name_does_not_begin_another_study_in_the_database_of_a_study() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    // Nothing is lost before anybody took part.
    assert_eq!(renamed(&server, "first", None, true).await, "");
    assert_eq!(renamed(&server, "study", None, true).await, "");
    with_data(&server).await;
    let refused = renamed(&server, "Crash 2", None, true).await;
    assert!(refused.contains("has data of `study`, and none of `crash-2`"), "{refused}");
    assert!(refused.contains("write `id = \"study\"` into study.toml"), "{refused}");
    assert!(refused.contains("write `id = \"crash-2\"`"), "{refused}");
    // An id is meant, a database that was named may be shared, and a name is free beside an id.
    assert_eq!(renamed(&server, "Crash 2", Some("study"), true).await, "");
    assert_eq!(renamed(&server, "Crash 2", Some("crash-2"), true).await, "");
    assert_eq!(renamed(&server, "Crash 3", None, false).await, "");
    assert_eq!(renamed(&server, "study", None, true).await, "");
}

#[tokio::test]
async fn before_anybody_took_part_everything_is_free() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let change = |study: &mut Study| study.flash.exposures_ms = ms([50.0, 250.0]);
    assert_eq!(again(&server, 24, change, |_| ()).await, [""; 0]);
    with_data(&server).await;
    let refused = again(&server, 24, |_| (), |_| ()).await;
    assert_eq!(refused, ["`flash.exposures_ms` was [50, 250] and is [17, 50, 250] now"]);
}

#[tokio::test]
async fn a_database_from_before_is_taken_as_it_is_and_remembers_from_now_on() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    with_data(&server).await;
    let forgotten =
        server.app.store.write(|tx| tx.batch("delete from design; delete from stimulus"));
    forgotten.await.unwrap();
    let change = |study: &mut Study| study.flash.exposures_ms = ms([50.0, 250.0]);
    assert_eq!(again(&server, 24, change, |_| ()).await, [""; 0]);
    assert_eq!(again(&server, 24, |_| (), |_| ()).await.len(), 1);
}
