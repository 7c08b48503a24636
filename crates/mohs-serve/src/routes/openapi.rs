//! What machines can read about the API.

use axum::Json;
use serde_json::{Value, json};

/// Requests that pages make: address, what for, body and answer.
pub(crate) const API: [(&str, &str, &str, &str); 6] = [
    (
        "/api/studies/{study}/welcome",
        "Ask about a study; nothing is stored",
        "JoinRequest",
        "Welcome",
    ),
    ("/api/studies/{study}/join", "Join a study, or come back to it", "JoinRequest", "Joined"),
    ("/api/sessions/{session}/block", "Ask for the next trials", "BlockRequest", "BlockAnswer"),
    ("/api/sessions/{session}/events", "Store events", "EventBatch", "Ack"),
    ("/api/sessions/{session}/end", "Ask for the completion code", "EndRequest", "EndAnswer"),
    ("/api/sessions/{session}/withdraw", "Delete my data", "WithdrawRequest", "Withdrawn"),
];

/// Other addresses: what for, and the types an answer may have; none where it only sends elsewhere.
pub(crate) const PAGES: [(&str, &str, &str); 8] = [
    ("/", "That the link of a study is needed", "text/html"),
    ("/s/{study}", "The page of a study", "text/html"),
    ("/s/{study}/", "Sends to the page of a study", ""),
    ("/assets/{file}", "Script and style of the page", "text/javascript text/css"),
    ("/media/{file}", "A picture, named by its SHA-256", "image/png"),
    ("/health", "Whether the store answers", "application/json"),
    ("/metrics", "Counters for Prometheus", "text/plain"),
    ("/openapi.json", "This document", "application/json"),
];

pub(crate) async fn openapi() -> Json<Value> {
    Json(document())
}

fn parameters(address: &str) -> Value {
    let names = address.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    names.map(parameter).collect()
}

/// Returns the description of the API.
pub(crate) fn document() -> Value {
    let refused = |what: &str| {
        let schema = json!({"$ref": "#/components/schemas/Failure"});
        json!({"description": what, "content": {"application/json": {"schema": schema}}})
    };
    let mut paths = serde_json::Map::new();
    for (address, what, request, answer) in API {
        let named = |name: &str| {
            let schema = json!({"$ref": format!("#/components/schemas/{name}")});
            json!({"application/json": {"schema": schema}})
        };
        let mut operation = json!({
            "summary": what,
            "parameters": parameters(address),
            "requestBody": {"required": true, "content": named(request)},
            "responses": {
                "200": {"description": "done", "content": named(answer)},
                "400": refused("the request cannot be understood"),
                "401": refused("the token is missing or not ours"),
                "403": refused("not for this session, not now, or not before consent"),
                "404": refused("no such study"),
                "408": refused("too slow"),
                "409": refused("an event has the place of another one, or the screen cannot show the study"),
                "410": refused("the participant withdrew"),
                "413": refused("too large"),
                "422": refused("an event is not sound"),
                "429": refused("too often"),
            },
        });
        if address.starts_with("/api/sessions") {
            operation["security"] = json!([{"epoch": []}]);
        }
        paths.insert(address.into(), json!({"post": operation}));
    }
    for (address, what, kinds) in PAGES {
        let content: Value = kinds.split(' ').map(|kind| (kind.to_owned(), json!({}))).collect();
        let (status, answer) = match kinds {
            "" => ("308", json!({"description": what})),
            _ => ("200", json!({"description": what, "content": content})),
        };
        let operation = json!({
            "summary": what,
            "parameters": parameters(address),
            "responses": {
                status: answer,
                "404": {"description": "nothing here"},
                "429": refused("too often"),
            },
        });
        paths.insert(address.into(), json!({"get": operation}));
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "mohs", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {
            "securitySchemes": {"epoch": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
        },
    })
}

/// A schema: its fields with their types; `?` marks those that may be null or missing, `[]` lists.
const SCHEMAS: [(&str, &[(&str, &str)]); 15] = [
    (
        "JoinRequest",
        &[
            ("recruiter", "string?"),
            ("recruiter_id", "string?"),
            ("resume", "string?"),
            ("preview", "string?"),
            ("browser", "string"),
            ("system", "string"),
        ],
    ),
    ("Welcome", &[("is_known", "boolean"), ("study", "object")]),
    (
        "Joined",
        &[
            ("session", "string"),
            ("epoch", "integer"),
            ("token", "string"),
            ("state", "string"),
            ("pages_done", "string[]"),
            ("n_done", "integer"),
            ("n_total", "integer"),
            ("ending", "string?"),
            ("code", "string?"),
            ("completion_url", "string?"),
            ("study", "object"),
        ],
    ),
    ("BlockRequest", &[("screen", "Screen")]),
    (
        "Screen",
        &[
            ("period_ms", "number"),
            ("period_mad_ms", "number"),
            ("share_late", "number"),
            ("width_px", "integer"),
            ("height_px", "integer"),
            ("pixel_ratio", "number"),
            ("is_fullscreen", "boolean"),
            ("is_isolated", "boolean"),
        ],
    ),
    ("BlockAnswer", &[("block", "object?"), ("n_done", "integer"), ("n_total", "integer")]),
    ("EventBatch", &[("events", "Event[]")]),
    ("Event", &[("seq", "integer"), ("body", "string"), ("hash", "string")]),
    (
        "Ack",
        &[("acked_through", "integer"), ("also_stored", "integer[]"), ("is_elsewhere", "boolean")],
    ),
    ("EndRequest", &[("last_seq", "integer"), ("is_early", "boolean")]),
    (
        "EndAnswer",
        &[
            ("is_complete", "boolean"),
            ("missing", "integer[]"),
            ("n_trials_left", "integer"),
            ("ending", "string?"),
            ("code", "string?"),
            ("completion_url", "string?"),
        ],
    ),
    ("WithdrawRequest", &[("delete_my_data", "boolean")]),
    ("Withdrawn", &[("is_deleted", "boolean")]),
    ("Failure", &[("error", "FailureDetail")]),
    ("FailureDetail", &[("code", "string"), ("message", "string")]),
];

fn schemas() -> Value {
    let of = |kind: &str| -> Value {
        if kind.starts_with(|c: char| c.is_uppercase()) {
            return json!({"$ref": format!("#/components/schemas/{kind}")});
        }
        match kind {
            "integer" => json!({"type": kind, "minimum": 0, "maximum": u32::MAX}),
            _ => json!({"type": kind}),
        }
    };
    let schema = |fields: &[(&str, &str)]| {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for (name, kind) in fields {
            let value = if let Some(kind) = kind.strip_suffix('?') {
                json!({"type": [kind, "null"]})
            } else {
                required.push(*name);
                match kind.strip_suffix("[]") {
                    Some(kind) => json!({"type": "array", "items": of(kind)}),
                    None => of(kind),
                }
            };
            properties.insert((*name).into(), value);
        }
        json!({"type": "object", "properties": properties, "required": required})
    };
    SCHEMAS.iter().map(|(name, fields)| ((*name).to_owned(), schema(fields))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_router_is_described() {
        let router = include_str!("../router.rs");
        let document = document();
        let addresses = router.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
        let addresses: Vec<&str> =
            addresses.filter(|address| !address.starts_with("/admin")).collect();
        assert_eq!(addresses.len(), API.len() + PAGES.len());
        for address in addresses {
            assert!(document["paths"].get(address).is_some(), "{address}");
        }
        let sends_on = &document["paths"]["/s/{study}/"]["get"]["responses"];
        assert!(sends_on.get("200").is_none() && sends_on.get("308").is_some(), "{sends_on}");
    }
}
