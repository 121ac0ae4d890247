//! Started consumers by name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as PlainMutex};

#[allow(deprecated)]
use rocketmq_client_rust::DefaultMQPullConsumer;
use rocketmq_client_rust::{
    ClientOptions, DefaultMQPushConsumer, MQPushConsumer, MessageSelector, PullStatus,
};
use rocketmq_model::common::consumer::consume_from_where::ConsumeFromWhere;
use rocketmq_protocol::protocol::heartbeat::message_model::MessageModel;
use serde_json::{json, Value};
use tokio::sync::Mutex;

use crate::failures::{unsupported, Fault, Outcome};
use crate::lines::{integer, queue, shown, shown_queues, text};
use crate::listeners::{Application, Concurrent, Orderly};
use crate::options::{config, hook, is_common, of, set_consumer};
use crate::Adapter;

#[allow(deprecated)]
type PullConsumer = DefaultMQPullConsumer;

enum Consumer {
    Push(Mutex<DefaultMQPushConsumer>),
    Pull(PullConsumer),
}

#[derive(Default)]
pub struct Consumers {
    named: Mutex<HashMap<String, Arc<Consumer>>>,
    applications: PlainMutex<HashMap<String, Arc<Application>>>,
}

fn model(line: &Value) -> MessageModel {
    match line["model"].as_str() {
        Some("broadcasting") => MessageModel::Broadcasting,
        _ => MessageModel::Clustering,
    }
}

impl Consumers {
    async fn find(&self, name: &Value) -> Result<Arc<Consumer>, Fault> {
        let named = self.named.lock().await;
        named.get(&text(name)).cloned().ok_or_else(|| Fault::Adapter("no such consumer".into()))
    }

    pub async fn start(&self, adapter: &Arc<Adapter>, line: &Value) -> Outcome {
        let consumer = match line["kind"].as_str() {
            Some("push") => self.push(adapter, line).await?,
            Some("pull") => pull(adapter, line).await?,
            kind => return unsupported(format!("kind {kind:?}")),
        };
        self.named.lock().await.insert(text(&line["name"]), Arc::new(consumer));
        Ok(Some(json!({})))
    }

    async fn push(&self, adapter: &Arc<Adapter>, line: &Value) -> Result<Consumer, Fault> {
        let from = match line["from"].as_str() {
            Some("first") => ConsumeFromWhere::ConsumeFromFirstOffset,
            _ => ConsumeFromWhere::ConsumeFromLastOffset,
        };
        let builder = DefaultMQPushConsumer::builder(adapter.runtime.clone());
        let builder = set_consumer(builder, line)?;
        let mut consumer = builder.message_model(model(line)).consume_from_where(from).build();
        let name = text(&line["name"]);
        let own = Application::new(adapter.clone(), name.clone(), line["outcomes"].clone());
        self.applications.lock().unwrap().insert(name, own.clone());
        if line["order"] == "orderly" {
            consumer.register_message_listener_orderly(Orderly(own));
        } else {
            consumer.register_message_listener_concurrently(Concurrent(own));
        }
        for one in line["subscriptions"].as_array().into_iter().flatten() {
            let (topic, expression) = (text(&one["topic"]), text(&one["expression"]));
            if one["type"] == "SQL92" {
                let selector = MessageSelector::by_sql(expression);
                consumer.subscribe_with_selector(&topic, Some(selector)).await?;
            } else {
                consumer.subscribe(topic, expression).await?;
            }
        }
        consumer.start().await?;
        Ok(Consumer::Push(Mutex::new(consumer)))
    }

    pub async fn stop(&self, line: &Value) -> Outcome {
        match &*self.find(&line["name"]).await? {
            Consumer::Push(one) => one.lock().await.shutdown().await,
            Consumer::Pull(one) => one.shutdown().await?,
        }
        Ok(Some(json!({})))
    }

    pub fn release(&self, line: &Value) -> Outcome {
        let applications = self.applications.lock().unwrap();
        if let Some(own) = applications.get(&text(&line["consumer"])) {
            own.release(&text(&line["keys"]));
        }
        Ok(Some(json!({})))
    }

    /// Performs a verb of pull consumers.
    pub async fn perform(&self, verb: &str, line: &Value) -> Outcome {
        if !line["producer"].is_null() {
            return unsupported("queues of a producer");
        }
        let found = self.find(&line["consumer"]).await?;
        let Consumer::Pull(consumer) = &*found else {
            return unsupported(format!("{verb} of a push consumer"));
        };
        Ok(Some(match verb {
            "queues" => {
                let topic = text(&line["topic"]);
                shown_queues(&consumer.fetch_subscribe_message_queues(&topic).await?)
            }
            "pull" => pulled(consumer, line).await?,
            "offset" => {
                let place = queue(&line["queue"]);
                let offset = match line["which"].as_str().unwrap_or_default() {
                    "min" => consumer.min_offset(&place).await?,
                    "max" => consumer.max_offset(&place).await?,
                    "search" => consumer.search_offset(&place, integer(&line["time_ms"])).await?,
                    _ => consumer.fetch_consume_offset(&place, true).await?,
                };
                json!({"offset": offset.to_string()})
            }
            _ => {
                let offset = integer(&line["offset"]);
                consumer.update_consume_offset(&queue(&line["queue"]), offset).await?;
                json!({})
            }
        }))
    }
}

async fn pull(adapter: &Arc<Adapter>, line: &Value) -> Result<Consumer, Fault> {
    if let Some((name, _)) = of(line).find(|(name, _)| !is_common(name)) {
        return unsupported(format!("option {name} of a pull consumer"));
    }
    #[allow(deprecated)]
    let mut builder = DefaultMQPullConsumer::builder(adapter.runtime.clone())
        .client_options(ClientOptions::legacy(config(line)))
        .consumer_group(text(&line["group"]))
        .message_model(model(line));
    if let Some(hook) = hook(line) {
        builder = builder.rpc_hook(hook);
    }
    let consumer = builder.build()?;
    consumer.start().await?;
    Ok(Consumer::Pull(consumer))
}

async fn pulled(consumer: &PullConsumer, line: &Value) -> Result<Value, Fault> {
    let place = queue(&line["queue"]);
    let expression = text(&line["expression"]);
    let (offset, count) = (integer(&line["offset"]), integer(&line["count"]));
    let found = consumer.pull(&place, &expression, offset, count).await?;
    let messages = found.msg_found_list().unwrap_or_default();
    let broker = place.broker_name().to_string();
    Ok(json!({
        "status": match found.pull_status() {
            PullStatus::Found => "FOUND",
            PullStatus::NoNewMsg => "NO_NEW_MSG",
            PullStatus::NoMatchedMsg => "NO_MATCHED_MSG",
            PullStatus::OffsetIllegal => "OFFSET_ILLEGAL",
        },
        "next_offset": found.next_begin_offset().to_string(),
        "min_offset": found.min_offset().to_string(),
        "max_offset": found.max_offset().to_string(),
        "messages": messages.iter().map(|one| shown(one, Some(&broker))).collect::<Vec<_>>(),
    }))
}
