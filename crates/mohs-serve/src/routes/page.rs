//! The page that participants open: a shell, its script and its style.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
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

/// Opens the only study, or lists them.
pub(crate) async fn index(State(app): State<App>) -> Response {
    if let (1, Some(name)) = (app.studies.len(), app.studies.keys().next()) {
        return Redirect::temporary(&format!("/s/{name}")).into_response();
    }
    let links: String = app
        .studies
        .values()
        .map(|hosted| {
            let title = escape(&hosted.info.title);
            format!("<li><a href=\"/s/{}\">{title}</a></li>", hosted.name)
        })
        .collect();
    Html(document("en", "Studies", "", &format!("<main><h1>Studies</h1><ul>{links}</ul></main>")))
        .into_response()
}

/// The shell of a study's page. The script finds the study's name in `data-study`.
pub(crate) async fn study(State(app): State<App>, study: Named) -> Response {
    let Ok(hosted) = name(study).and_then(|name| app.study(&name)) else {
        let text = "<main><h1>There is no such study</h1><p>Please check the link.</p></main>";
        return (StatusCode::NOT_FOUND, Html(document("en", "Not found", "", text)))
            .into_response();
    };
    let info = &hosted.info;
    let script = format!("<script type=\"module\" src=\"/assets/{}.js\"></script>", info.task);
    let body = "<main id=\"page\"></main><noscript><p>Please allow JavaScript on this page: the \
                experiment needs it.</p></noscript>";
    let document = document(&info.language, &info.title, &script, body);
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
