//! Started producers by name.

use std::collections::HashMap;
use std::sync::Arc;

use rocketmq_client_rust::{
    ClientError, DefaultMQProducer, MessageSend, MessageUtil, SendDestination, SendMode,
    SendRequest, SendResult, TransactionMQProducer,
};
use rocketmq_model::common::message::message_queue::MessageQueue;
use rocketmq_model::common::message::message_single::Message;
use rocketmq_model::common::message::MessageTrait;
use serde_json::{json, Value};
use tokio::sync::{Mutex, RwLock};

use crate::failures::{failure, unsupported, Fault, Outcome};
use crate::lines::{decoded, encoded, made, sent, shown_properties, text};
use crate::listeners::Transactions;
use crate::options::{producer, transaction_producer};
use crate::Adapter;

const REQUEST_TIMEOUT_MS: u64 = 3_000;

enum Producer {
    Plain(RwLock<DefaultMQProducer>),
    Transactional(RwLock<TransactionMQProducer>),
}

#[derive(Default)]
pub struct Producers {
    named: Mutex<HashMap<String, Arc<Producer>>>,
}

impl Producers {
    async fn find(&self, name: &Value) -> Option<Arc<Producer>> {
        self.named.lock().await.get(&text(name)).cloned()
    }

    pub async fn start(&self, adapter: &Arc<Adapter>, line: &Value) -> Outcome {
        let runtime = adapter.runtime.clone();
        let made = if let Some(check) = line["options"]["check"].as_str() {
            let listener = Transactions {
                adapter: adapter.clone(),
                name: text(&line["name"]),
                check: check.to_string(),
            };
            let mut producer = transaction_producer(runtime, listener, line)?;
            producer.start().await?;
            Producer::Transactional(RwLock::new(producer))
        } else {
            let mut producer = producer(runtime, line)?;
            producer.start().await?;
            Producer::Plain(RwLock::new(producer))
        };
        self.named.lock().await.insert(text(&line["name"]), Arc::new(made));
        Ok(Some(json!({})))
    }

    /// Stops a producer, which stays to refuse later sends; none if there is no such one.
    pub async fn stop(&self, line: &Value) -> Option<Outcome> {
        match &*self.find(&line["name"]).await? {
            Producer::Plain(one) => one.write().await.shutdown().await,
            Producer::Transactional(one) => one.write().await.shutdown().await,
        }
        Some(Ok(Some(json!({}))))
    }

    pub async fn send(&self, adapter: &Arc<Adapter>, line: &Value) -> Outcome {
        let Some(producer) = self.find(&line["producer"]).await else {
            return Err(Fault::Adapter("no such producer".to_string()));
        };
        let timeout = line["timeout_ms"].as_u64();
        if let Some(messages) = line["messages"].as_array() {
            let messages = messages.iter().map(made).collect::<Result<Vec<_>, _>>()?;
            return send_batch(&producer, line, messages, timeout).await;
        }
        let message = made(&line["message"])?;
        match &*producer {
            Producer::Transactional(one) if line["transaction"].is_string() => {
                let outcome = text(&line["transaction"]);
                send_in_transaction(&*one.read().await, message, outcome).await
            }
            Producer::Transactional(one) => match text(&line["mode"]).as_str() {
                "sync" if line["select"].is_null() => {
                    let request = SendRequest {
                        message,
                        destination: SendDestination::Automatic,
                        mode: SendMode::AwaitResult,
                        timeout_millis: timeout,
                    };
                    result(one.write().await.send_message(request).await?)
                }
                mode => unsupported(format!("mode {mode} of a producer of transactions")),
            },
            Producer::Plain(_) if line["transaction"].is_string() => {
                unsupported("a transaction of a producer without a listener")
            }
            Producer::Plain(one) => {
                let one = one.read().await;
                match text(&line["mode"]).as_str() {
                    "sync" => sync(&one, message, line, timeout).await,
                    "oneway" => oneway(&one, message, line).await,
                    "async" => asynchronous(adapter, &one, message, line, timeout).await,
                    mode => unsupported(format!("mode {mode}")),
                }
            }
        }
    }

    pub async fn request(&self, adapter: &Arc<Adapter>, line: &Value) -> Outcome {
        let found = self.find(&line["producer"]).await;
        let Some(Producer::Plain(producer)) = found.as_deref() else {
            return unsupported("a request of a producer of transactions");
        };
        let timeout = line["timeout_ms"].as_u64().unwrap_or(REQUEST_TIMEOUT_MS);
        let message = made(&line["message"])?;
        let producer = producer.read().await;
        if line["mode"] != "callback" {
            let reply = producer.request(message, timeout).await?;
            return Ok(Some(replied(&*reply)));
        }
        let (adapter, id) = (adapter.clone(), line["id"].clone());
        let callback = move |reply: Option<&dyn MessageTrait>, error: Option<&ClientError>| match (
            reply, error,
        ) {
            (Some(reply), _) => adapter.answer(&id, "result", replied(reply)),
            (_, Some(error)) => adapter.answer(&id, "error", failure(error)),
            _ => adapter.answer(&id, "result", json!({"reply": null})),
        };
        producer.request_with_callback(message, callback, timeout).await?;
        Ok(None)
    }

    pub async fn reply(&self, line: &Value) -> Outcome {
        let found = self.find(&line["producer"]).await;
        let Some(Producer::Plain(producer)) = found.as_deref() else {
            return unsupported("a reply of a producer of transactions");
        };
        let mut request = Message::default();
        let properties = line["properties"].as_object().into_iter().flatten();
        request.set_properties(
            properties.map(|(name, value)| (name.as_str().into(), text(value).into())).collect(),
        );
        let body = decoded(&line["body"]).unwrap_or_default();
        let reply = MessageUtil::create_reply_message(&request, &body)?;
        let found = producer.read().await.send(reply).await?;
        result(found)
    }
}

fn result(sent_result: Option<SendResult>) -> Outcome {
    Ok(Some(sent_result.as_ref().map_or(json!({}), sent)))
}

fn replied(reply: &dyn MessageTrait) -> Value {
    json!({"reply": {
        "topic": reply.topic().as_str(), "body": encoded(reply.get_body()),
        "properties": shown_properties(reply.get_properties()),
    }})
}

/// Returns a selector of the queue at a position, if the line has one.
fn selector<M, T>(
    line: &Value,
) -> Option<impl Fn(&[MessageQueue], &M, &T) -> Option<MessageQueue> + Send + Sync + 'static> {
    let position = line["select"].as_u64()? as usize;
    Some(move |queues: &[MessageQueue], _: &M, _: &T| queues.get(position).cloned())
}

async fn sync(
    producer: &DefaultMQProducer,
    message: Message,
    line: &Value,
    timeout: Option<u64>,
) -> Outcome {
    result(match (selector(line), timeout) {
        (None, None) => producer.send(message).await?,
        (None, Some(timeout)) => producer.send_with_timeout(message, timeout).await?,
        (Some(select), None) => producer.send_with_selector(message, select, ()).await?,
        (Some(select), Some(timeout)) => {
            producer.send_with_selector_timeout(message, select, (), timeout).await?
        }
    })
}

async fn oneway(producer: &DefaultMQProducer, message: Message, line: &Value) -> Outcome {
    match selector(line) {
        _ if !line["timeout_ms"].is_null() => unsupported("a timeout of a oneway send"),
        None => Ok(producer.send_oneway(message).await.map(|()| Some(json!({})))?),
        Some(select) => {
            producer.send_oneway_with_selector(message, select, ()).await?;
            Ok(Some(json!({})))
        }
    }
}

async fn asynchronous(
    adapter: &Arc<Adapter>,
    producer: &DefaultMQProducer,
    message: Message,
    line: &Value,
    timeout: Option<u64>,
) -> Outcome {
    let (adapter, id) = (adapter.clone(), line["id"].clone());
    let callback = move |sent_result: Option<&SendResult>, error: Option<&ClientError>| match (
        sent_result,
        error,
    ) {
        (_, Some(error)) => adapter.answer(&id, "error", failure(error)),
        (found, None) => adapter.answer(&id, "result", found.map_or(json!({}), sent)),
    };
    match (selector(line), timeout) {
        (None, None) => producer.send_with_callback(message, callback).await?,
        (None, Some(timeout)) => {
            producer.send_with_callback_timeout(message, callback, timeout).await?
        }
        (Some(select), None) => {
            let callback = Some(Arc::new(callback) as _);
            producer.send_with_selector_callback(message, select, (), callback).await?
        }
        (Some(select), Some(timeout)) => {
            let callback = Some(Arc::new(callback) as _);
            producer
                .send_with_selector_callback_timeout(message, select, (), callback, timeout)
                .await?
        }
    }
    Ok(None)
}

async fn send_batch(
    producer: &Producer,
    line: &Value,
    messages: Vec<Message>,
    timeout_millis: Option<u64>,
) -> Outcome {
    let Producer::Plain(producer) = producer else {
        return unsupported("a batch of a producer of transactions");
    };
    if line["mode"] != "sync" || !line["select"].is_null() {
        return unsupported("a batch that is not sent synchronously");
    }
    let producer = producer.read().await;
    let found = match timeout_millis {
        None => producer.send_batch(messages).await?,
        Some(timeout) => producer.send_batch_with_timeout(messages, timeout).await?,
    };
    Ok(Some(sent(&found)))
}

async fn send_in_transaction(
    producer: &TransactionMQProducer,
    message: Message,
    outcome: String,
) -> Outcome {
    let found = producer.send_message_in_transaction(message, Some(outcome)).await?;
    let mut line = found.send_result.as_ref().map_or(json!({}), sent);
    line["state"] =
        json!(match found.local_transaction_state.map(|one| one.to_string()).as_deref() {
            Some("COMMIT_MESSAGE") => "commit",
            Some("ROLLBACK_MESSAGE") => "rollback",
            _ => "unknown",
        });
    Ok(Some(line))
}
