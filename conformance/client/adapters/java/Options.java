import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;

/** Options of producers and consumers, by their names in the protocol. */
final class Options {
    private static final AtomicInteger instances = new AtomicInteger();

    /** Sets the options of every client: name server, a unique instance name, and TLS. */
    static void begin(ClientConfig client, JSONObject request) {
        client.setNamesrvAddr(request.getString("namesrv"));
        client.setInstanceName("adapter-" + instances.incrementAndGet());
        JSONObject tls = of(request).getJSONObject("tls");
        if (tls != null)
            encrypt(client, tls);
    }

    /** Sets TLS; the client reads its files, which are those of the process, at its start. */
    private static void encrypt(ClientConfig client, JSONObject tls) {
        client.setUseTLS(true);
        TlsSystemConfig.tlsTestModeEnable = tls.getBooleanValue("test_mode");
        TlsSystemConfig.tlsClientAuthServer = tls.containsKey("trust");
        TlsSystemConfig.tlsClientTrustCertPath = tls.getString("trust");
        TlsSystemConfig.tlsClientCertPath = tls.getString("certificate");
        TlsSystemConfig.tlsClientKeyPath = tls.getString("key");
    }

    /** Returns the hook that signs requests; null without credentials. */
    static RPCHook hook(JSONObject request) {
        JSONObject keys = of(request).getJSONObject("credentials");
        return keys == null ? null : new AclClientRPCHook(new SessionCredentials(
            keys.getString("access_key"), keys.getString("secret_key"),
            keys.getString("security_token")));
    }

    static JSONObject of(JSONObject request) {
        JSONObject options = request.getJSONObject("options");
        return options == null ? new JSONObject() : options;
    }

    static void set(DefaultMQProducer producer, JSONObject options) {
        for (Map.Entry<String, Object> option : options.entrySet())
            set(producer, option.getKey(), options);
    }

    static void set(DefaultMQPushConsumer consumer, JSONObject options) {
        for (Map.Entry<String, Object> option : options.entrySet())
            set(consumer, option.getKey(), options);
    }

    private static void set(DefaultMQProducer producer, String name, JSONObject options) {
        switch (name) {
            case "send_timeout_ms":
                producer.setSendMsgTimeout(options.getIntValue(name));
                break;
            case "retries":
                producer.setRetryTimesWhenSendFailed(options.getIntValue(name));
                break;
            case "async_retries":
                producer.setRetryTimesWhenSendAsyncFailed(options.getIntValue(name));
                break;
            case "retry_not_stored":
                producer.setRetryAnotherBrokerWhenNotStoreOK(options.getBooleanValue(name));
                break;
            case "compress_over":
                producer.setCompressMsgBodyOverHowmuch(options.getIntValue(name));
                break;
            case "max_message_size":
                producer.setMaxMessageSize(options.getIntValue(name));
                break;
            case "default_queue_count":
                producer.setDefaultTopicQueueNums(options.getIntValue(name));
                break;
            case "create_topic_key":
                producer.setCreateTopicKey(options.getString(name));
                break;
            case "latency":
                producer.setSendLatencyFaultEnable(options.getBooleanValue(name));
                break;
            case "check":
                break; // Producers gives it to the listener
            default:
                set((ClientConfig) producer, name, options);
        }
    }

    private static void set(DefaultMQPushConsumer consumer, String name, JSONObject options) {
        switch (name) {
            case "allocation":
                allocate(consumer, options.getString(name), options);
                break;
            case "rooms":
            case "own_queues":
                break; // parameters of the allocation
            case "pull_batch":
                consumer.setPullBatchSize(options.getIntValue(name));
                break;
            case "threshold_count":
                consumer.setPullThresholdForQueue(options.getIntValue(name));
                break;
            case "threshold_mib":
                consumer.setPullThresholdSizeForQueue(options.getIntValue(name));
                break;
            case "topic_threshold_count":
                consumer.setPullThresholdForTopic(options.getIntValue(name));
                break;
            case "threads":
                consumer.setConsumeThreadMin(options.getIntValue(name));
                consumer.setConsumeThreadMax(options.getIntValue(name));
                break;
            case "max_reconsume":
                consumer.setMaxReconsumeTimes(options.getIntValue(name));
                break;
            case "client_rebalance":
                later(consumer, "setClientRebalance", boolean.class, options.getBooleanValue(name));
                break;
            default:
                set((ClientConfig) consumer, name, options);
        }
    }

    /** Calls a setter that only later releases have. */
    private static void later(Object client, String setter, Class<?> type, Object value) {
        try {
            client.getClass().getMethod(setter, type).invoke(client, value);
        } catch (NoSuchMethodException error) {
            throw new Unsupported(setter);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Returns whether the consumers of this release pop. */
    static boolean canPop() {
        try {
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class);
            return true;
        } catch (NoSuchMethodException error) {
            return false;
        }
    }

    static void set(ClientConfig client, String name, JSONObject options) {
        switch (name) {
            case "credentials":
            case "tls":
                break; // for the hook, and for begin
            case "instance_name":
                client.setInstanceName(options.getString(name));
                break;
            case "client_ip":
                client.setClientIP(options.getString(name));
                break;
            case "vip":
                client.setVipChannelEnabled(options.getBooleanValue(name));
                break;
            case "heartbeat_ms":
                client.setHeartbeatBrokerInterval(options.getIntValue(name));
                break;
            case "route_poll_ms":
                client.setPollNameServerInterval(options.getIntValue(name));
                break;
            case "persist_ms":
                client.setPersistConsumerOffsetInterval(options.getIntValue(name));
                break;
            default:
                throw new Unsupported("option " + name);
        }
    }

    private static void allocate(
        DefaultMQPushConsumer consumer, String rule, JSONObject options) {
        switch (rule) {
            case "AVG":
                consumer.setAllocateMessageQueueStrategy(new AllocateMessageQueueAveragely());
                break;
            case "AVG_BY_CIRCLE":
                consumer.setAllocateMessageQueueStrategy(
                    new AllocateMessageQueueAveragelyByCircle());
                break;
            case "CONSISTENT_HASH":
                consumer.setAllocateMessageQueueStrategy(new AllocateMessageQueueConsistentHash());
                break;
            case "MACHINE_ROOM":
                AllocateMessageQueueByMachineRoom byRoom = new AllocateMessageQueueByMachineRoom();
                byRoom.setConsumeridcs(new HashSet<>(
                    options.getJSONArray("rooms").toJavaList(String.class)));
                consumer.setAllocateMessageQueueStrategy(byRoom);
                break;
            case "CONFIG":
                AllocateMessageQueueByConfig byConfig = new AllocateMessageQueueByConfig();
                List<MessageQueue> queues = new ArrayList<>();
                for (Object one : options.getJSONArray("own_queues"))
                    queues.add(Messages.queue((JSONObject) one));
                byConfig.setMessageQueueList(queues);
                consumer.setAllocateMessageQueueStrategy(byConfig);
                break;
            default:
                throw new Unsupported("allocation " + rule);
        }
    }
}
