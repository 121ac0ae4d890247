//! Messages, queues and results as JSON.

use std::collections::HashMap;

use base64::prelude::{Engine, BASE64_STANDARD};
use bytes::Bytes;
use cheetah_string::CheetahString;
use rocketmq_client_rust::SendResult;
use rocketmq_model::common::message::message_ext::MessageExt;
use rocketmq_model::common::message::message_queue::MessageQueue;
use rocketmq_model::common::message::message_single::Message;
use rocketmq_model::common::message::MessageTrait;
use serde_json::{json, Value};

use crate::failures::Fault;

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

pub fn integer<T: TryFrom<i64>>(value: &Value) -> T {
    let found = value.as_i64().or_else(|| value.as_str().and_then(|one| one.parse().ok()));
    found.and_then(|one| T::try_from(one).ok()).unwrap_or_else(|| panic!("no number: {value}"))
}

pub fn decoded(value: &Value) -> Option<Bytes> {
    let encoded = value.as_str()?;
    Some(Bytes::from(BASE64_STANDARD.decode(encoded).expect("a body is base64")))
}

pub fn encoded(body: Option<&Bytes>) -> Value {
    body.map_or(Value::Null, |one| json!(BASE64_STANDARD.encode(one)))
}

/// Returns the application's message.
pub fn made(line: &Value) -> Result<Message, Fault> {
    let mut builder = Message::builder().topic(text(&line["topic"]));
    if let Some(body) = decoded(&line["body"]) {
        builder = builder.body(body);
    }
    let mut message = builder.build_unchecked();
    if let Some(tags) = line["tags"].as_str() {
        message.set_tags(CheetahString::from_slice(tags));
    }
    if let Some(keys) = line["keys"].as_str() {
        message.set_keys(CheetahString::from_slice(keys));
    }
    for (name, value) in line["properties"].as_object().into_iter().flatten() {
        let value = CheetahString::from_string(text(value));
        message
            .put_user_property(CheetahString::from_slice(name), value)
            .map_err(|error| json!({"kind": "client", "code": null, "text": error.to_string()}))
            .map_err(Fault::Client)?;
    }
    if !line["delay_level"].is_null() {
        message.set_delay_time_level(integer(&line["delay_level"]));
    }
    if let Some(waits) = line["wait_store"].as_bool() {
        message.set_wait_store_msg_ok(waits);
    }
    if !line["flag"].is_null() {
        message.set_flag(integer(&line["flag"]));
    }
    Ok(message)
}

pub fn shown_properties(properties: &HashMap<CheetahString, CheetahString>) -> Value {
    properties.iter().map(|(name, value)| (name.to_string(), json!(value.as_str()))).collect()
}

/// Returns a received message; its broker may be unknown.
pub fn shown(message: &MessageExt, broker: Option<&str>) -> Value {
    let mut line = json!({
        "topic": message.topic().as_str(), "queue_id": message.queue_id(),
        "queue_offset": message.queue_offset().to_string(),
        "body": encoded(message.body().as_ref()),
        "properties": shown_properties(message.properties()),
        "reconsume_times": message.reconsume_times(), "message_id": message.msg_id().as_str(),
    });
    for (field, name) in [("tags", "TAGS"), ("keys", "KEYS")] {
        if let Some(value) = message.properties().get(name) {
            line[field] = json!(value.as_str());
        }
    }
    if let Some(broker) = broker {
        line["broker"] = json!(broker);
    }
    line
}

/// Returns the result of a send. The client takes the message, so its body is unknown.
pub fn sent(result: &SendResult) -> Value {
    let mut line = json!({
        "status": result.send_status.to_string(),
        "queue_offset": result.queue_offset.to_string(),
    });
    if let Some(id) = &result.msg_id {
        line["message_id"] = json!(id.as_str());
    }
    if let Some(id) = &result.offset_msg_id {
        line["offset_message_id"] = json!(id);
    }
    if let Some(queue) = &result.message_queue {
        line["topic"] = json!(queue.topic().as_str());
        line["broker"] = json!(queue.broker_name().as_str());
        line["queue_id"] = json!(queue.queue_id());
    }
    line
}

pub fn queue(line: &Value) -> MessageQueue {
    MessageQueue::from_parts(
        text(&line["topic"]),
        text(&line["broker"]),
        integer(&line["queue_id"]),
    )
}

pub fn shown_queues(queues: &[MessageQueue]) -> Value {
    let shown = queues.iter().map(|one| {
        json!({"topic": one.topic().as_str(), "broker": one.broker_name().as_str(),
               "queue_id": one.queue_id()})
    });
    json!({"queues": shown.collect::<Vec<_>>()})
}
