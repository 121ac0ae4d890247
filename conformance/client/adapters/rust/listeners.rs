//! Listeners of the application: of a consumer's messages, and of transactions.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};

use rocketmq_client_rust::{
    ClientError, ClientResult, ConsumeConcurrentlyContext, ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext, ConsumeOrderlyStatus, LocalTransactionState,
    MessageListenerConcurrently, MessageListenerOrderly, TransactionListener,
};
use rocketmq_model::common::message::message_ext::MessageExt;
use rocketmq_model::common::message::MessageTrait;
use serde_json::{json, Value};

use crate::lines::shown;
use crate::Adapter;

const REQUESTED: &str = "the application failed, as requested";

/// The listener of a consumer: it writes an event, and returns the requested outcome.
pub struct Application {
    pub adapter: Arc<Adapter>,
    pub name: String,
    pub outcomes: Value,
    deliveries: Mutex<HashMap<String, usize>>,
    released: Mutex<HashMap<String, usize>>,
    news: Condvar,
}

impl Application {
    pub fn new(adapter: Arc<Adapter>, name: String, outcomes: Value) -> Arc<Self> {
        Arc::new(Self {
            adapter,
            name,
            outcomes,
            deliveries: Mutex::default(),
            released: Mutex::default(),
            news: Condvar::new(),
        })
    }

    pub fn release(&self, keys: &str) {
        *self.released.lock().unwrap().entry(keys.to_string()).or_default() += 1;
        self.news.notify_all();
    }

    fn wait_for_release(&self, keys: &str) {
        let mut released = self.released.lock().unwrap();
        while released.get(keys).is_none_or(|count| *count == 0) {
            released = self.news.wait(released).unwrap();
        }
        *released.get_mut(keys).unwrap() -= 1;
    }

    fn outcome(&self, keys: &str) -> String {
        let mut deliveries = self.deliveries.lock().unwrap();
        let number = deliveries.entry(keys.to_string()).or_default();
        let outcome = self.outcomes[keys][*number].as_str().unwrap_or("success");
        *number += 1;
        outcome.to_string()
    }

    /// Returns whether a message is consumed.
    fn is_done(&self, message: &MessageExt, broker: &str) -> ClientResult<bool> {
        let keys = message.properties().get("KEYS").map(ToString::to_string).unwrap_or_default();
        let outcome = self.outcome(&keys);
        let event = json!({"consumer": self.name, "message": shown(message, Some(broker))});
        self.adapter.event("message", event);
        match outcome.as_str() {
            "later" => Ok(false),
            // An error is what a Rust listener has for an exception.
            "fail" => Err(ClientError::internal("listener", std::io::Error::other(REQUESTED))),
            "hold" => {
                self.wait_for_release(&keys);
                Ok(true)
            }
            _ => Ok(true),
        }
    }
}

pub struct Concurrent(pub Arc<Application>);

impl MessageListenerConcurrently for Concurrent {
    fn consume_message(
        &self,
        messages: &[&MessageExt],
        context: &ConsumeConcurrentlyContext,
    ) -> ClientResult<ConsumeConcurrentlyStatus> {
        let broker = context.get_message_queue().broker_name().to_string();
        Ok(match self.0.is_done(messages[0], &broker)? {
            true => ConsumeConcurrentlyStatus::ConsumeSuccess,
            false => ConsumeConcurrentlyStatus::ReconsumeLater,
        })
    }
}

pub struct Orderly(pub Arc<Application>);

impl MessageListenerOrderly for Orderly {
    fn consume_message(
        &self,
        messages: &[&MessageExt],
        context: &mut ConsumeOrderlyContext,
    ) -> ClientResult<ConsumeOrderlyStatus> {
        let broker = context.get_message_queue().broker_name().to_string();
        Ok(match self.0.is_done(messages[0], &broker)? {
            true => ConsumeOrderlyStatus::Success,
            false => ConsumeOrderlyStatus::SuspendCurrentQueueAMoment,
        })
    }
}

/// The listener of a producer of transactions: it returns the requested states.
pub struct Transactions {
    pub adapter: Arc<Adapter>,
    pub name: String,
    pub check: String,
}

impl TransactionListener for Transactions {
    fn execute_local_transaction(
        &self,
        message: &dyn MessageTrait,
        argument: Option<&(dyn Any + Send + Sync)>,
    ) -> LocalTransactionState {
        let id = message.transaction_id().map(ToString::to_string);
        self.adapter.event("local", json!({"producer": self.name, "transaction_id": id}));
        let outcome = argument.and_then(|one| one.downcast_ref::<String>());
        state(outcome.map_or("fail", String::as_str))
    }

    fn check_local_transaction(&self, message: &MessageExt) -> LocalTransactionState {
        let event = json!({"producer": self.name, "message": shown(message, None)});
        self.adapter.event("check", event);
        state(&self.check)
    }
}

fn state(outcome: &str) -> LocalTransactionState {
    match outcome {
        "commit" => LocalTransactionState::CommitMessage,
        "rollback" => LocalTransactionState::RollbackMessage,
        "unknown" => LocalTransactionState::Unknown,
        _ => panic!("{REQUESTED}"),
    }
}
