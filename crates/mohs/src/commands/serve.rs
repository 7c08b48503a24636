//! `mohs serve`: host experiments.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mohs_data::Study;
use mohs_serve::app::{App, Log, Setup, StartError};
use mohs_serve::hosted::{Hosted, LaunchError};
use mohs_serve::listen::{self, TlsFiles};
use mohs_serve::router::router;
use mohs_serve::store::{Place, Store, StoreError};
use mohs_serve::token::Role;
use tokio::net::TcpListener;

use super::prepare;
use crate::error::CliError;
use crate::ui::Ui;

/// Host studies: participants take part in a browser
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs serve my-study                        on this machine, data in my-study/mohs.db
  mohs serve my-study --bind 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem \\
             --public-url https://lab.example.org:8443
  mohs serve flash pairs --db postgres://mohs@localhost/mohs

Stop with Ctrl-C. Nothing is lost: everything that was confirmed is on disk.
docs/formats/hosting.md says what is stored.")]
pub(crate) struct ServeArgs {
    /// Folders of studies; their pictures are prepared where that is still to be done
    #[arg(required = true, value_name = "STUDY")]
    studies: Vec<PathBuf>,
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    bind: SocketAddr,
    /// Where data are kept: sqlite:PATH or postgres://… [default: mohs.db in the study's folder]
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
    /// Certificate in PEM, for HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Address under which participants reach the server [default: http://ADDRESS]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Believe a proxy in front that says who asks (X-Forwarded-For)
    #[arg(long)]
    behind_proxy: bool,
}

/// Time between two looks for leases that have ended.
const SWEEP: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &ServeArgs, ui: &Ui) -> Result<(), CliError> {
    let mut hosted = Vec::new();
    for folder in &args.studies {
        let what = format!("cannot host `{}`", folder.display());
        prepare(folder, ui).map_err(|error| error.while_doing(&what))?;
        let read = Hosted::read(folder);
        hosted.push(Arc::new(read.map_err(|error| launch_error(error).while_doing(&what))?));
    }
    let place = place(args.db.as_deref(), &args.studies)?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            let files = TlsFiles { certificate: certificate.clone(), key: key.clone() };
            let tls = listen::tls(&files).map_err(|error| {
                CliError::input("cannot set up HTTPS").because(error).hint("give PEM files")
            })?;
            Some(tls)
        }
        _ => None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| {
        CliError::surroundings("cannot start the server's threads").because(cause)
    })?;
    let store = open_store(&place)?;
    let is_encrypted =
        tls.is_some() || args.public_url.as_deref().is_some_and(|url| url.starts_with("https:"));
    let speaker = ui.clone();
    let log: Log = Arc::new(move |cause| speaker.say(&format!("a request failed: {cause}")));
    let setup = Setup { trusts_proxy: args.behind_proxy, is_encrypted, log, ..Setup::default() };
    runtime.block_on(async {
        let app = App::start(store, hosted, setup).await.map_err(start_error)?;
        let listener = TcpListener::bind(args.bind).await.map_err(|cause| {
            CliError::surroundings(format!("cannot listen on {}", args.bind))
                .because(cause)
                .hint("choose another port with --bind, e.g. --bind 127.0.0.1:8081")
        })?;
        let address = listener.local_addr().map_or(args.bind, |address| address);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = args.public_url.clone().unwrap_or_else(|| format!("{scheme}://{address}"));
        tell(ui, &app, url.trim_end_matches('/'), &place);
        let sweeping = app.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                // A store that fails now is asked again; requests tell people about it.
                let _ = sweeping.sweep().await;
            }
        });
        listen::serve(listener, tls, router(app), until_stopped()).await;
        Ok::<(), CliError>(())
    })?;
    ui.say("stopped");
    Ok(())
}

/// Makes what participants are shown, where it is missing or out of date. A study that came with its
/// prepared pictures alone is taken as it is.
fn prepare(folder: &Path, ui: &Ui) -> Result<(), CliError> {
    let is_there = |study: Study| folder.join(study.stimuli).exists();
    if !Study::read(&folder.join("study.toml")).is_ok_and(is_there) {
        return Ok(());
    }
    let prepared = prepare::prepare_if_needed(folder, ui)?;
    if 0 < prepared.n_made {
        ui.say(&prepared.summary());
    }
    prepared.fit_to_show()
}

fn tell(ui: &Ui, app: &App, url: &str, place: &Place) {
    let mut text = String::new();
    for hosted in app.studies.values() {
        let title = &hosted.info.title;
        text += &format!("{title}\n  participants  {url}/s/{}\n", hosted.name);
    }
    for role in [Role::Owner, Role::Viewer] {
        let token = app.secret.admin_token(role);
        text += &format!("{:<14}  {url}/admin/login?token={token}\n", role.as_str());
    }
    let kept = match place {
        Place::Sqlite(path) => path.display().to_string(),
        Place::Postgres(_) => "Postgres".into(),
    };
    ui.say(&format!("{text}data are kept in {kept}; stop with Ctrl-C"));
}

/// Returns the database that was named, or the one in the only study's folder.
pub(crate) fn place(db: Option<&str>, studies: &[PathBuf]) -> Result<Place, CliError> {
    match (db, studies) {
        (Some(db), _) => Place::parse(db).map_err(|error| CliError::input(error.to_string())),
        (None, [study]) => {
            let folder =
                if study.is_file() { study.parent().unwrap_or(Path::new(".")) } else { study };
            Ok(Place::Sqlite(folder.join("mohs.db")))
        }
        (None, _) => Err(CliError::input("several studies share one database")
            .hint("name it: --db sqlite:studies.db")),
    }
}

/// Opens a database.
pub(crate) fn open_store(place: &Place) -> Result<Store, CliError> {
    let what = match place {
        Place::Sqlite(path) => path.display().to_string(),
        Place::Postgres(_) => "Postgres".into(),
    };
    Store::open(place)
        .map_err(|error| store_error(error).while_doing(format!("cannot open {what}")))
}

/// Says what a failure of the store means.
pub(crate) fn store_error(error: StoreError) -> CliError {
    match error {
        StoreError::Newer { .. } => {
            CliError::input(error.to_string()).hint("update mohs to read this database")
        }
        error => CliError::surroundings("the database does not answer").because(error),
    }
}

fn launch_error(error: LaunchError) -> CliError {
    let hint = error.hint();
    let cli = match error {
        LaunchError::File(error) => return error.into(),
        error => CliError::input(error.to_string()),
    };
    match hint {
        Some(hint) => cli.hint(hint),
        None => cli,
    }
}

fn start_error(error: StartError) -> CliError {
    match error {
        StartError::Store(error) => store_error(error),
        StartError::Launch(error) => launch_error(error),
    }
}

/// Waits for Ctrl-C or, from a service manager, SIGTERM.
pub(super) async fn until_stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
