//! Answers: JSON, or a refusal with its reason.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::{Error, ErrorKind};
use crate::render::json;

/// Why a request is not answered.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Refusal {
        Refusal { status, error: error.into() }
    }

    /// The server has more to do than it can.
    pub(super) fn busy(error: &str) -> Refusal {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("{error}; try again later"))
    }

    pub(super) fn no_job() -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "no such job, or no answer yet; GET /api/jobs lists the jobs")
    }
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        let status = match e.kind() {
            ErrorKind::Usage => StatusCode::BAD_REQUEST,
            ErrorKind::Limit => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Malformed | ErrorKind::Unsupported | ErrorKind::Empty => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal::new(status, e.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Body {
            error: String,
        }
        match json::line(&Body { error: self.error }) {
            Ok(text) => (self.status, Json(text)).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// Text that is JSON.
#[derive(Debug)]
pub(super) struct Json(pub(super) String);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}
