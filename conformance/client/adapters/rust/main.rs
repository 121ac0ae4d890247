//! Puts the Rust client rocketmq-client-rust under test: lines in, lines out.
//!
//! docs/client_adapter.md describes the lines. This file reads and writes them, and runs
//! each request on the task of its lane, by a method of producers or consumers.

mod consumers;
mod failures;
mod lines;
mod listeners;
mod options;
mod producers;

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use rocketmq_client_rust::{ClientRuntime, ClientRuntimeConfig};
use rocketmq_observability::TelemetryRuntimeGuard;
use rocketmq_runtime::RuntimeOwner;
use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

use crate::failures::{Fault, Outcome};

const CLIENT: &str = "rocketmq-client-rust 1.0.0";
const RELEASE: &str = "5.3.1"; // the version in its requests is V5_3_1_SNAPSHOT
const FEATURES: [&str; 18] = [
    "sync",
    "async",
    "oneway",
    "batch",
    "select",
    "transaction",
    "request",
    "reply",
    "lanes",
    "latency",
    "vip",
    "push",
    "orderly",
    "broadcast",
    "pull",
    "acl",
    "tls",
    "pop",
];

pub struct Adapter {
    pub runtime: Arc<ClientRuntime>,
    producers: producers::Producers,
    consumers: consumers::Consumers,
    out: Mutex<std::io::Stdout>,
}

impl Adapter {
    /// Writes the response to a request.
    pub fn answer(&self, id: &Value, kind: &str, value: Value) {
        self.write(json!({"id": id, kind: value}));
    }

    /// Writes an event with these fields.
    pub fn event(&self, name: &str, mut fields: Value) {
        fields["event"] = json!(name);
        self.write(fields);
    }

    fn write(&self, line: Value) {
        let mut out = self.out.lock().unwrap();
        writeln!(out, "{line}").and_then(|()| out.flush()).expect("the suite reads");
    }

    async fn perform(self: Arc<Self>, request: Value) {
        let (adapter, line) = (self.clone(), request.clone());
        let done = tokio::spawn(async move { adapter.result(line).await }).await;
        let id = &request["id"];
        match done.unwrap_or_else(|error| Err(Fault::Adapter(error.to_string()))) {
            Ok(Some(result)) => self.answer(id, "result", result),
            Ok(None) => (), // a callback answers
            Err(Fault::Unsupported(text)) => self.answer(id, "unsupported", json!(text)),
            Err(Fault::Client(error)) => self.answer(id, "error", error),
            Err(Fault::Adapter(text)) => {
                let error = json!({"kind": "adapter", "code": null, "text": text});
                self.answer(id, "error", error);
            }
        }
    }

    async fn result(self: Arc<Self>, line: Value) -> Outcome {
        match line["verb"].as_str().unwrap_or_default() {
            "hello" => Ok(Some(hello())),
            "producer" => self.producers.start(&self, &line).await,
            "send" => self.producers.send(&self, &line).await,
            "request" => self.producers.request(&self, &line).await,
            "reply" => self.producers.reply(&line).await,
            "consumer" => self.consumers.start(&self, &line).await,
            "release" => self.consumers.release(&line),
            verb @ ("pull" | "offset" | "commit" | "queues") => {
                self.consumers.perform(verb, &line).await
            }
            "stop" => match self.producers.stop(&line).await {
                None => self.consumers.stop(&line).await,
                Some(outcome) => outcome,
            },
            verb => Err(Fault::Unsupported(verb.to_string())),
        }
    }
}

fn hello() -> Value {
    let interval = |name: &str| -> u64 {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
    };
    json!({
        "adapter": "rust", "client": CLIENT, "release": RELEASE, "language": "RUST",
        "features": FEATURES,
        "intervals": {
            "rebalance_ms": interval("rocketmq.client.rebalance.waitInterval"),
            "lock_ms": interval("rocketmq.client.rebalance.lockInterval"),
            "lock_lives_ms": interval("rocketmq.client.rebalance.lockMaxLiveTime"),
            // The client refuses intervals below 10 s: for the suite they are fixed.
            "heartbeat_ms": 30_000, "route_poll_ms": 30_000,
        },
    })
}

async fn read(adapter: Arc<Adapter>) {
    let mut lanes: HashMap<String, mpsc::UnboundedSender<Value>> = HashMap::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(text)) = lines.next_line().await {
        let request: Value = serde_json::from_str(&text).expect("a line is JSON");
        match request["verb"].as_str().unwrap_or_default() {
            "bye" => return,
            "hello" | "release" | "stop" => {
                tokio::spawn(adapter.clone().perform(request));
            }
            _ => {
                let name = request["lane"].as_str().unwrap_or("0").to_string();
                let lane = lanes.entry(name).or_insert_with(|| lane(adapter.clone()));
                lane.send(request).expect("a lane runs as long as the adapter");
            }
        }
    }
}

/// Returns the queue of a new lane, whose requests are performed one after another.
fn lane(adapter: Arc<Adapter>) -> mpsc::UnboundedSender<Value> {
    let (sender, mut requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(request) = requests.recv().await {
            adapter.clone().perform(request).await;
        }
    });
    sender
}

fn main() {
    let owner = RuntimeOwner::new().expect("the client's runtime");
    let telemetry = TelemetryRuntimeGuard::noop();
    let context = owner.root_context().component("adapter");
    let runtime =
        ClientRuntime::try_new(context, ClientRuntimeConfig::default(), telemetry.handle())
            .expect("the client's services");
    let adapter = Arc::new(Adapter {
        runtime,
        producers: Default::default(),
        consumers: Default::default(),
        out: Mutex::new(std::io::stdout()),
    });
    owner.block_on(read(adapter));
    std::process::exit(0); // clients that were not stopped have tasks
}
