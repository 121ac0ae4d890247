//! Options of producers and consumers, by their names in the protocol.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use cheetah_string::CheetahString;
use rocketmq_client_rust::{
    AclClientRPCHook, AllocateMessageQueueAveragely, AllocateMessageQueueAveragelyByCircle,
    AllocateMessageQueueByConfig, AllocateMessageQueueByMachineRoom,
    AllocateMessageQueueConsistentHash, AllocateMessageQueueStrategy, ClientConfig, ClientRuntime,
    DefaultMQProducer, DefaultMQPushConsumerBuilder, SessionCredentials, TransactionMQProducer,
};
use rocketmq_transport::api::RPCHook;
use serde_json::Value;

use crate::failures::{unsupported, Fault};
use crate::lines::{integer, queue, text};
use crate::listeners::Transactions;

const VIRTUAL_NODES: i32 = 10; // of AllocateMessageQueueConsistentHash in Java
const SHORTEST_PERSIST_MS: u32 = 1_000; // the client refuses less
static INSTANCES: AtomicUsize = AtomicUsize::new(1);

fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| panic!("no boolean: {value}"))
}

pub fn of(line: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let options = line["options"].as_object().into_iter().flatten();
    options.map(|(name, value)| (name.as_str(), value))
}

/// Returns the settings of every client: name server, a unique instance name, and others.
pub fn config(line: &Value) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.set_namesrv_addr(CheetahString::from_string(text(&line["namesrv"])));
    let number = INSTANCES.fetch_add(1, Ordering::Relaxed);
    config.set_instance_name(CheetahString::from_string(format!("adapter-{number}")));
    for (name, value) in of(line) {
        match name {
            "instance_name" => config.set_instance_name(CheetahString::from_string(text(value))),
            "client_ip" => config.set_client_ip(CheetahString::from_string(text(value))),
            "vip" => config.set_vip_channel_enabled(flag(value)),
            "persist_ms" => {
                let interval = SHORTEST_PERSIST_MS.max(integer(value));
                config.set_persist_consumer_offset_interval(interval);
            }
            "latency" => config.set_send_latency_enable(flag(value)),
            "tls" => encrypt(&mut config, value),
            _ => (),
        }
    }
    config
}

fn encrypt(config: &mut ClientConfig, tls: &Value) {
    config.set_use_tls(true);
    config.set_tls_test_mode_enable(tls["test_mode"].as_bool().unwrap_or(false));
    config.set_tls_client_auth_server(!tls["trust"].is_null());
    if let Some(path) = tls["trust"].as_str() {
        config.set_tls_client_trust_cert_path(path);
    }
    if let Some(path) = tls["certificate"].as_str() {
        config.set_tls_client_cert_path(path);
    }
    if let Some(path) = tls["key"].as_str() {
        config.set_tls_client_key_path(path);
    }
}

/// Returns whether `config` or `hook` has read an option of any client.
pub fn is_common(name: &str) -> bool {
    matches!(name, "instance_name" | "client_ip" | "vip" | "persist_ms" | "tls" | "credentials")
}

/// Returns the hook that signs requests; none without credentials.
pub fn hook(line: &Value) -> Option<Arc<dyn RPCHook>> {
    let keys = line["options"]["credentials"].as_object()?;
    let (access, secret) = (text(&keys["access_key"]), text(&keys["secret_key"]));
    let credentials = match keys.get("security_token") {
        Some(token) => SessionCredentials::with_token(access, secret, text(token)),
        None => SessionCredentials::with_keys(access, secret),
    };
    Some(Arc::new(AclClientRPCHook::new(credentials)))
}

/// Sets the options of producers, whose two builders have methods of the same names.
macro_rules! set_producer {
    ($builder:expr, $line:expr) => {{
        let mut builder = $builder
            .client_config(config($line))
            .producer_group(text(&$line["group"]))
            .name_server_addr(text(&$line["namesrv"]));
        if let Some(hook) = hook($line) {
            builder = builder.rpc_hook(hook);
        }
        for (name, value) in of($line) {
            builder = match name {
                "send_timeout_ms" => builder.send_msg_timeout(integer(value)),
                "retries" => builder.retry_times_when_send_failed(integer(value)),
                "async_retries" => builder.retry_times_when_send_async_failed(integer(value)),
                "retry_not_stored" => builder.retry_another_broker_when_not_store_ok(flag(value)),
                "compress_over" => builder.compress_msg_body_over_howmuch(integer(value)),
                "max_message_size" => builder.max_message_size(integer(value)),
                "default_queue_count" => builder.default_topic_queue_nums(integer(value)),
                "create_topic_key" => builder.create_topic_key(text(value)),
                "check" | "latency" => builder,
                _ if is_common(name) => builder,
                _ => return unsupported(format!("option {name}")),
            };
        }
        builder.build()
    }};
}

pub fn producer(runtime: Arc<ClientRuntime>, line: &Value) -> Result<DefaultMQProducer, Fault> {
    Ok(set_producer!(DefaultMQProducer::builder(runtime), line))
}

pub fn transaction_producer(
    runtime: Arc<ClientRuntime>,
    listener: Transactions,
    line: &Value,
) -> Result<TransactionMQProducer, Fault> {
    let builder = TransactionMQProducer::builder(runtime).transaction_listener(listener);
    Ok(set_producer!(builder, line))
}

pub fn set_consumer(
    builder: DefaultMQPushConsumerBuilder,
    line: &Value,
) -> Result<DefaultMQPushConsumerBuilder, Fault> {
    let mut builder = builder
        .client_config(config(line))
        .consumer_group(text(&line["group"]))
        .name_server_addr(text(&line["namesrv"]))
        .rpc_hook(hook(line))
        .consume_message_batch_max_size(1);
    for (name, value) in of(line) {
        builder = match name {
            "allocation" => builder.allocate_message_queue_strategy(allocation(&line["options"])?),
            "rooms" | "own_queues" => builder, // parameters of the allocation
            "pull_batch" => builder.pull_batch_size(integer(value)),
            "threshold_count" => builder.pull_threshold_for_queue(integer(value)),
            "threshold_mib" => builder.pull_threshold_size_for_queue(integer(value)),
            "topic_threshold_count" => builder.pull_threshold_for_topic(integer(value)),
            "threads" => {
                builder.consume_thread_min(integer(value)).consume_thread_max(integer(value))
            }
            "max_reconsume" => builder.max_reconsume_times(integer(value)),
            "client_rebalance" => builder.client_rebalance(flag(value)),
            _ if is_common(name) => builder,
            _ => return unsupported(format!("option {name}")),
        };
    }
    Ok(builder)
}

fn allocation(options: &Value) -> Result<Arc<dyn AllocateMessageQueueStrategy>, Fault> {
    let list = |name: &str| options[name].as_array().cloned().unwrap_or_default();
    Ok(match options["allocation"].as_str().unwrap_or_default() {
        "AVG" => Arc::new(AllocateMessageQueueAveragely),
        "AVG_BY_CIRCLE" => Arc::new(AllocateMessageQueueAveragelyByCircle),
        "CONSISTENT_HASH" => Arc::new(AllocateMessageQueueConsistentHash::new(VIRTUAL_NODES)),
        "MACHINE_ROOM" => Arc::new(AllocateMessageQueueByMachineRoom::new(
            list("rooms").iter().map(|one| CheetahString::from_string(text(one))).collect(),
        )),
        "CONFIG" => Arc::new(AllocateMessageQueueByConfig::new(
            list("own_queues").iter().map(queue).collect(),
        )),
        rule => return unsupported(format!("allocation {rule}")),
    })
}
