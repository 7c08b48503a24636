//! `mohs serve`: host experiments.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mohs_data::{Study, Task, is_web_address};
use mohs_serve::app::{App, Log, Setup, StartError};
use mohs_serve::hosted::{Hosted, LaunchError, Same, Unshowable, same_exposures, unshowable};
use mohs_serve::listen::{self, TlsError, TlsFiles};
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
    bind: String,
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
    let bind = resolve(&args.bind)?;
    let public_origin = args.public_url.as_deref().map(origin).transpose()?;
    let mut hosted = Vec::new();
    for folder in &args.studies {
        let what = format!("cannot host `{}`", folder.display());
        prepare(folder, ui).map_err(|error| error.while_doing(&what))?;
        let read = Hosted::read(folder);
        hosted.push(Arc::new(read.map_err(|error| launch_error(error).while_doing(&what))?));
    }
    for study in &hosted {
        warn_of_design(&study.study, study.n_stimuli(), ui);
    }
    let place = place(args.db.as_deref(), &args.studies)?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            let files = TlsFiles { certificate: certificate.clone(), key: key.clone() };
            Some(listen::tls(&files).map_err(tls_error)?)
        }
        _ => None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| {
        CliError::surroundings("cannot start the server's threads").because(cause)
    })?;
    refuse_same_names(&hosted)?;
    let listen = || {
        let listening = runtime.block_on(TcpListener::bind(bind));
        listening.map_err(|cause| cannot_listen(bind, cause))
    };
    // A start that is refused leaves no new database behind.
    let early = if is_new(&place)? { Some(listen()?) } else { None };
    let store = open_store(&place)?;
    let listener = early.map_or_else(listen, Ok)?;
    let is_encrypted =
        tls.is_some() || args.public_url.as_deref().is_some_and(|url| url.starts_with("https:"));
    let speaker = ui.clone();
    let log: Log = Arc::new(move |cause| speaker.say(&format!("a request failed: {cause}")));
    let setup = Setup {
        trusts_proxy: args.behind_proxy,
        is_encrypted,
        public_origin: public_origin.clone(),
        has_own_store: args.db.is_none(),
        log,
        ..Setup::default()
    };
    runtime.block_on(async {
        let app = App::start(store, hosted, setup).await.map_err(start_error)?;
        let address = listener.local_addr().map_or(bind, |address| address);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let is_anywhere = public_origin.is_none() && address.ip().is_unspecified();
        let url = public_origin.unwrap_or_else(|| format!("{scheme}://{address}"));
        tell(ui, &app, &url, &place);
        if is_anywhere {
            ui.say(&format!(
                "others cannot open {}: name the address that they reach this machine by, e.g. \
                 --public-url {scheme}://lab.example.org:{}",
                address.ip(),
                address.port()
            ));
        }
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
    // Requests that still run end first; then the store is closed, and waits for its files.
    drop(runtime);
    ui.say("stopped");
    Ok(())
}

/// Refuses two studies of one name.
fn refuse_same_names(studies: &[Arc<Hosted>]) -> Result<(), CliError> {
    let mut names = BTreeSet::new();
    match studies.iter().find(|study| !names.insert(&study.name)) {
        Some(study) => Err(launch_error(LaunchError::SameName { name: study.name.clone() })),
        None => Ok(()),
    }
}

/// Understands the address that participants open: a scheme, a host and perhaps a port, as browsers
/// write an origin. The server's own links begin at the root of its host.
fn origin(url: &str) -> Result<String, CliError> {
    let example = "e.g. --public-url https://lab.example.org";
    if !is_web_address(url) {
        return Err(CliError::input(format!(
            "--public-url should be an address with http:// or https://, found `{url}`"
        ))
        .hint(example));
    }
    let origin = url.strip_suffix('/').unwrap_or(url).to_ascii_lowercase();
    let (scheme, host) = origin.split_once("://").unwrap_or_default();
    if host.contains(['/', '?', '#', '@']) {
        return Err(CliError::input(format!(
            "--public-url should be a host without a path behind it, found `{url}`"
        ))
        .hint(format!(
            "mohs is served from the root of its host: give it a name or a port of its own, {example}"
        )));
    }
    let usual_port = if scheme == "https" { ":443" } else { ":80" };
    Ok(format!("{scheme}://{}", host.strip_suffix(usual_port).unwrap_or(host)))
}

/// Understands an address and port, or looks up the name of a host.
fn resolve(bind: &str) -> Result<SocketAddr, CliError> {
    if let Ok(address) = bind.parse() {
        return Ok(address);
    }
    let hint =
        "e.g. --bind 127.0.0.1:8080 for this machine alone, --bind 0.0.0.0:8080 for others too";
    let is_host_and_port = bind.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok()
    });
    if !is_host_and_port {
        return Err(CliError::input(format!(
            "--bind should be an address and a port, found `{bind}`"
        ))
        .hint(hint));
    }
    let cannot_find =
        || CliError::input(format!("--bind names a host that is not known: `{bind}`"));
    let mut found =
        bind.to_socket_addrs().map_err(|cause| cannot_find().because(cause).hint(hint))?;
    found.next().ok_or_else(|| cannot_find().hint(hint))
}

/// Says why the server cannot listen.
fn cannot_listen(bind: SocketAddr, cause: std::io::Error) -> CliError {
    let hint = match cause.kind() {
        ErrorKind::AddrNotAvailable => {
            "this machine does not have that address: 127.0.0.1 is for this machine alone, 0.0.0.0 for \
             all addresses it has"
        }
        ErrorKind::PermissionDenied => {
            "ports below 1024 need a permission; choose another, e.g. --bind 127.0.0.1:8081"
        }
        _ => "choose another port with --bind, e.g. --bind 127.0.0.1:8081",
    };
    CliError::surroundings(format!("cannot listen on {bind}")).because(cause).hint(hint)
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

/// Warns of exposures that most screens cannot show or tell apart, and of blocks that would want more
/// stimuli than there are.
pub(crate) fn warn_of_design(study: &Study, n_stimuli: usize, ui: &Ui) {
    for Unshowable { exposure_ms, nearest_ms: (below, above) } in unshowable(study) {
        let below = below.map_or(String::new(), |ms| format!("{ms:.1} or "));
        let percent = 100.0 * study.screen.tolerance;
        ui.say(&format!(
            "warning: no screen of 60 Hz can show {exposure_ms} ms within {percent} % \
             (screen.tolerance); the nearest it can are {below}{above:.1} ms. People with such \
             screens, which most have, will not get this exposure."
        ));
    }
    for Same { shorter_ms, longer_ms, frames } in same_exposures(study) {
        ui.say(&format!(
            "warning: {shorter_ms} and {longer_ms} ms are the same {frames} frames on a screen of \
             60 Hz, which most people have: leave one of them out"
        ));
    }
    let per_block = study.beep.trials_per_block;
    if study.task == Task::Beep && n_stimuli < per_block {
        ui.say(&format!(
            "warning: beep.trials_per_block is {per_block}, but there are {n_stimuli} stimuli, and \
             none comes twice in a block: blocks have {n_stimuli} trials"
        ));
    }
    let (gate, n_timed) =
        (study.beep.gate_trials, study.beep.beeps_ms.len() * per_block.min(n_stimuli));
    if study.task == Task::Beep && n_timed < gate {
        ui.say(&format!(
            "warning: beep.gate_trials is {gate}, but a participant has {n_timed} timed trials: the \
             gate never looks. Lower it, or write 0 to have none"
        ));
    }
}

/// Returns the database that was named, or the one in the only study's folder.
pub(crate) fn place(db: Option<&str>, studies: &[PathBuf]) -> Result<Place, CliError> {
    match (db, studies) {
        (Some(db), _) => parse_place(db),
        (None, [study]) => {
            let folder =
                if study.is_file() { study.parent().unwrap_or(Path::new(".")) } else { study };
            Ok(Place::Sqlite(folder.join("mohs.db")))
        }
        (None, _) => Err(CliError::input("several studies share one database")
            .hint("name it: --db sqlite:studies.db")),
    }
}

/// Understands the address of a database.
pub(crate) fn parse_place(text: &str) -> Result<Place, CliError> {
    Place::parse(text).map_err(|error| {
        let hint = match Path::new(text).extension() {
            Some(_) if !text.contains("://") => format!("for this file, write sqlite:{text}"),
            _ => "e.g. sqlite:study.db or postgres://USER:PASSWORD@HOST:5432/NAME".into(),
        };
        CliError::input(error.to_string()).hint(hint)
    })
}

/// Opens a database.
pub(crate) fn open_store(place: &Place) -> Result<Store, CliError> {
    let path = match place {
        Place::Postgres(_) => {
            return Store::open(place).map_err(|error| {
                let error = match error {
                    error @ StoreError::Newer { .. } => store_error(error),
                    error => store_error(error).hint(
                        "is the server running, and are user, host, port and name right? The \
                         address is postgres://USER:PASSWORD@HOST:5432/NAME; the database must \
                         be there: createdb NAME",
                    ),
                };
                error.while_doing("cannot open the Postgres database")
            });
        }
        Place::Sqlite(path) => path,
    };
    check_path(path)?;
    let what = format!("cannot open the database {}", path.display());
    Store::open(place).map_err(|error| match error {
        error if error.is_no_database() => CliError::input(what)
            .because(error)
            .hint("name a database of mohs, or a file that is not there yet, which is made"),
        error @ StoreError::Foreign => CliError::input(what)
            .because(error)
            .hint("name a database of mohs, or a file that is not there yet, which is made"),
        error @ StoreError::ReadOnly(_) => CliError::surroundings(what).because(error).hint(
            "the file and its folder must be writable for you; name a database elsewhere with \
             --db sqlite:PATH, or copy this one",
        ),
        error @ StoreError::NoRoom(_) => CliError::surroundings(what).because(error).hint(
            "make room for its size once more, beside it and in the folder for temporary files; \
             the variable SQLITE_TMPDIR names another folder",
        ),
        error @ StoreError::InUse(_) => CliError::surroundings(what)
            .because(error)
            .hint("stop the other server, or whatever has it open, and start this again"),
        error => store_error(error).while_doing(what),
    })
}

/// Says whether a database file would be made.
fn is_new(place: &Place) -> Result<bool, CliError> {
    let Place::Sqlite(path) = place else { return Ok(false) };
    check_path(path)?;
    Ok(!path.exists())
}

/// Refuses a path at which no database can be.
fn check_path(path: &Path) -> Result<(), CliError> {
    let what = format!("cannot open the database {}", path.display());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path == Path::new(":memory:") {
        return Err(CliError::input(what)
            .cause("data in memory would be lost with the server")
            .hint("name a file, e.g. --db sqlite:study.db"));
    }
    if path.exists() && !path.is_file() && !path.is_dir() {
        return Err(CliError::input(what)
            .cause("it is a device or a pipe, not a file")
            .hint("name a file, e.g. --db sqlite:study.db"));
    }
    if path.is_dir() {
        return Err(CliError::input(what)
            .cause("it is a folder")
            .hint(format!("name a file in it: sqlite:{}", path.join("mohs.db").display())));
    }
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        return Err(CliError::input(what)
            .cause(format!("there is no folder {}", parent.display()))
            .hint("make it first, or name a file in a folder that is there"));
    }
    Ok(())
}

/// Says what is wrong with a certificate or its key.
fn tls_error(error: TlsError) -> CliError {
    let hint = match &error {
        TlsError::Missing { .. } => "check the path: --tls-cert and --tls-key name files",
        TlsError::Folder { .. } => "name the file in it, e.g. fullchain.pem or privkey.pem",
        TlsError::NoCertificate { .. } => {
            "it should hold a line -----BEGIN CERTIFICATE-----; was the key named instead?"
        }
        TlsError::File { .. } => {
            "it should be PEM, as text: -----BEGIN …-----; a key must not have a password"
        }
        TlsError::Pair(_) => {
            "name the key that the certificate was made with; where the file holds several \
             certificates, the server's own comes first"
        }
        TlsError::Protocol(_) => "this is a bug; please report it",
    };
    CliError::input("cannot set up HTTPS").because(error).hint(hint)
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

/// Changes of a design that are listed.
const MOST_CHANGES: usize = 6;

/// Says why a study cannot be hosted.
pub(crate) fn launch_error(error: LaunchError) -> CliError {
    let hint = error.hint();
    let cli = match error {
        LaunchError::File(error) => return error.into(),
        LaunchError::OtherDesign { ref changes, .. } => {
            let listed = changes.iter().take(MOST_CHANGES);
            let cli = listed.fold(CliError::input(error.to_string()), |cli, change| {
                cli.cause(change.to_string())
            });
            match changes.len().saturating_sub(MOST_CHANGES) {
                0 => cli,
                n => cli.cause(format!("and {n} more changes")),
            }
        }
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
