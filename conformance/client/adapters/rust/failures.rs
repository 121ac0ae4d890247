//! Errors of the client, and what the adapter does not support, as lines have them.

use std::error::Error;

use rocketmq_client_rust::{ClientError, MQClientException};
use serde_json::{json, Value};

/// Why a request has no result.
pub enum Fault {
    /// A verb, an option or a value that the client lacks.
    Unsupported(String),
    /// An error of the client, as a line has it.
    Client(Value),
    /// A defect of the adapter.
    Adapter(String),
}

/// The result of a verb; none where a callback answers.
pub type Outcome = Result<Option<Value>, Fault>;

impl From<ClientError> for Fault {
    fn from(error: ClientError) -> Self {
        Fault::Client(failure(&error))
    }
}

pub fn unsupported<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Unsupported(text.into()))
}

pub fn failure(error: &ClientError) -> Value {
    let broker_code = error.broker_response_code();
    let client_code = error
        .source_ref::<MQClientException>()
        .map(|one| one.get_response_code())
        .filter(|code| *code >= 0);
    let class = error.descriptor().class().as_str();
    let text = text_of(error);
    let kind = if broker_code.is_some() {
        "broker"
    } else if class == "timeout" || text.contains("timeout") {
        "timeout"
    } else if class == "io" || text.contains("connect") {
        "connect"
    } else {
        "client"
    };
    json!({"kind": kind, "code": broker_code.or(client_code), "text": text})
}

/// Returns the texts of an error and of its causes.
fn text_of(error: &ClientError) -> String {
    let mut texts = vec![error.to_string()];
    if let Some(address) = error.broker_addr() {
        texts.push(address.to_string());
    }
    let mut cause = error.source();
    while let Some(one) = cause {
        let text = one.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        cause = one.source();
    }
    texts.join(": ")
}
