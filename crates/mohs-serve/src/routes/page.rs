//! The page that participants open: a shell, its script and its style.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};

use super::session::name;
use crate::app::App;
use crate::error::ApiError;

type Named = Result<axum::extract::Path<String>, axum::extract::rejection::PathRejection>;

const ASSETS: [(&str, &str, &[u8]); 5] = [
    ("flash.js", "text/javascript", include_bytes!("../../page/dist/flash.js")),
    ("beep.js", "text/javascript", include_bytes!("../../page/dist/beep.js")),
    ("pairs.js", "text/javascript", include_bytes!("../../page/dist/pairs.js")),
    ("rate.js", "text/javascript", include_bytes!("../../page/dist/rate.js")),
    ("page.css", "text/css", include_bytes!("../../page/dist/page.css")),
];

/// Says what this is. Studies are not listed: who is meant to take part has the link of one.
pub(crate) async fn index() -> Html<String> {
    Html(bare(
        "mohs",
        "This is a mohs server",
        "It hosts studies. To take part in one, please open the link of that study.",
    ))
}

/// Says to a browser that there is nothing, and to everything else as all refusals are said.
pub(crate) async fn nothing(headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if accepts.is_some_and(|kinds| kinds.contains("text/html")) {
        return not_found("There is nothing here");
    }
    ApiError::NotFound.into_response()
}

fn not_found(title: &str) -> Response {
    let page = bare("Not found", title, "Please check the link.");
    (StatusCode::NOT_FOUND, Html(page)).into_response()
}

/// A page with one message, in the style of the participants' page.
fn bare(name: &str, title: &str, text: &str) -> String {
    let body = format!("<main class=\"page\"><h1>{title}</h1><p>{text}</p></main>");
    document("en", name, "", &body)
}

/// The shell of a study's page. The script finds the study's name in `data-study`.
pub(crate) async fn study(State(app): State<App>, study: Named) -> Response {
    let Ok(hosted) = name(study).and_then(|name| app.study(&name)) else {
        return not_found("There is no such study");
    };
    let info = &hosted.info;
    let script = format!("<script type=\"module\" src=\"/assets/{}.js\"></script>", info.task);
    let no_script = match info.language.as_str() {
        "de" => "Bitte erlauben Sie JavaScript auf dieser Seite: Die Studie braucht es.",
        _ => "Please allow JavaScript on this page: the study needs it.",
    };
    let body = format!(
        "<main id=\"page\"></main><noscript><div class=\"page\"><h1>{}</h1><p>{no_script}</p></div>\
         </noscript>",
        escape(&info.title)
    );
    let document = document(&info.language, &info.title, &script, &body);
    let named = format!("<body data-study=\"{}\" data-task=\"{}\">", hosted.name, info.task);
    let mut response = Html(document.replacen("<body>", &named, 1)).into_response();
    // A recruiter may show the page in a frame; there it only offers to open in a window.
    let policy = HeaderValue::from_static(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
         connect-src 'self'; worker-src 'self' blob:; media-src 'self' blob: data:; \
         base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self' https://*.mturk.com https://*.mturkcontent.com",
    );
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response.headers_mut().insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    response
}

/// A link that somebody ended with a slash.
pub(crate) async fn without_slash(uri: Uri) -> Redirect {
    let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
    Redirect::permanent(&format!("{}{query}", uri.path().trim_end_matches('/')))
}

fn document(language: &str, title: &str, head: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"{}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>{}</title>\
         <link rel=\"icon\" href=\"data:,\">\
         <link rel=\"stylesheet\" href=\"/assets/page.css\">{head}</head><body>{body}</body></html>",
        escape(language),
        escape(title)
    )
}

/// Returns text that is only text in HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The page's script and style.
pub(crate) async fn asset(file: Named) -> Result<Response, ApiError> {
    let file = name(file)?;
    let found = ASSETS.iter().find(|(name, _, _)| *name == file).ok_or(ApiError::NotFound)?;
    let (_, kind, bytes) = *found;
    let kind = format!("{kind}; charset=utf-8");
    let headers = [(header::CONTENT_TYPE, kind.as_str()), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, bytes).into_response())
}
