import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Started consumers by name. */
final class Consumers {
    private final Adapter adapter;
    private final Map<String, DefaultMQPushConsumer> pushed = new ConcurrentHashMap<>();
    private final Map<String, DefaultMQPullConsumer> pulling = new ConcurrentHashMap<>();
    private final LitePullConsumers lite = new LitePullConsumers();
    private final Map<String, Application> applications = new ConcurrentHashMap<>();

    Consumers(Adapter adapter) {
        this.adapter = adapter;
    }

    JSONObject start(JSONObject request) throws Failed {
        if (request.getString("kind").equals("push"))
            startPush(request);
        else if (request.getString("kind").equals("pull"))
            startPull(request);
        else if (request.getString("kind").equals("lite"))
            lite.start(request);
        else
            throw new Unsupported("kind " + request.getString("kind"));
        return new JSONObject();
    }

    private void startPush(JSONObject request) throws Failed {
        String name = request.getString("name");
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(
            request.getString("group"), Options.hook(request), new AllocateMessageQueueAveragely());
        Options.begin(consumer, request);
        Options.set(consumer, Options.of(request));
        setModel(consumer, request);
        consumer.setConsumeFromWhere(from(request.getString("from")));
        consumer.setConsumeMessageBatchMaxSize(1);
        Application application = new Application(adapter, name, request.getJSONObject("outcomes"));
        if ("orderly".equals(request.getString("order")))
            consumer.registerMessageListener(application.inOrder());
        else
            consumer.registerMessageListener(application.concurrent());
        applications.put(name, application);
        pushed.put(name, consumer);
        Call.of(() -> {
            for (Object one : request.getJSONArray("subscriptions")) {
                JSONObject subscription = (JSONObject) one;
                String topic = subscription.getString("topic");
                String expression = subscription.getString("expression");
                if ("SQL92".equals(subscription.getString("type")))
                    consumer.subscribe(topic, MessageSelector.bySql(expression));
                else
                    consumer.subscribe(topic, expression);
            }
            consumer.start();
            return null;
        });
    }

    private void startPull(JSONObject request) throws Failed {
        DefaultMQPullConsumer consumer =
            new DefaultMQPullConsumer(request.getString("group"), Options.hook(request));
        Options.begin(consumer, request);
        JSONObject options = Options.of(request);
        for (String option : options.keySet())
            Options.set((ClientConfig) consumer, option, options);
        setModel(consumer, request);
        pulling.put(request.getString("name"), consumer);
        Call.of(() -> {
            consumer.start();
            return null;
        });
    }

    private static ConsumeFromWhere from(String where) {
        if (where == null || where.equals("last"))
            return ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET;
        if (where.equals("first"))
            return ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET;
        throw new Unsupported("from " + where);
    }

    /** Sets the message model, whose class moved to another package in 5.0. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static void setModel(Object consumer, JSONObject request) {
        String model = request.getString("model");
        if (model == null)
            return;
        try {
            Class<?> type = consumer.getClass().getMethod("getMessageModel").getReturnType();
            Object value = Enum.valueOf((Class) type, model.toUpperCase());
            consumer.getClass().getMethod("setMessageModel", type).invoke(consumer, value);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    void stop(String name) throws Failed {
        Call.of(() -> {
            if (pushed.containsKey(name))
                pushed.get(name).shutdown();
            else if (lite.has(name))
                lite.stop(name);
            else
                pulling.get(name).shutdown();
            return null;
        });
    }

    JSONObject release(JSONObject request) {
        applications.get(request.getString("consumer")).release(request.getString("keys"));
        return new JSONObject();
    }

    /** Performs a verb of pull consumers, of either kind. */
    JSONObject perform(String verb, JSONObject request) throws Failed {
        if (lite.has(request.getString("consumer")))
            return lite.perform(verb, request);
        switch (verb) {
            case "queues":
                return queues(request);
            case "pull":
                return pull(request);
            case "offset":
                return offset(request);
            case "commit":
                return commit(request);
            default:
                throw new Unsupported(verb);
        }
    }

    private JSONObject queues(JSONObject request) throws Failed {
        String topic = request.getString("topic");
        DefaultMQPullConsumer consumer = pulling.get(request.getString("consumer"));
        return Messages.toJson(Call.of(() -> consumer == null
            ? pushed.get(request.getString("consumer")).fetchSubscribeMessageQueues(topic)
            : consumer.fetchSubscribeMessageQueues(topic)));
    }

    private JSONObject pull(JSONObject request) throws Failed {
        DefaultMQPullConsumer consumer = pulling.get(request.getString("consumer"));
        MessageQueue queue = Messages.queue(request.getJSONObject("queue"));
        String expression = request.getString("expression");
        long offset = request.getLongValue("offset");
        int count = request.getIntValue("count");
        Long timeout = request.getLong("timeout_ms");
        PullResult pulled = Call.of(() -> timeout == null
            ? consumer.pull(queue, expression, offset, count)
            : consumer.pull(queue, expression, offset, count, timeout));
        JSONArray messages = new JSONArray();
        if (pulled.getMsgFoundList() != null)
            for (MessageExt message : pulled.getMsgFoundList())
                messages.add(Messages.toJson(message, queue.getBrokerName()));
        JSONObject result = new JSONObject(true);
        result.put("status", pulled.getPullStatus().name());
        result.put("next_offset", String.valueOf(pulled.getNextBeginOffset()));
        result.put("min_offset", String.valueOf(pulled.getMinOffset()));
        result.put("max_offset", String.valueOf(pulled.getMaxOffset()));
        result.put("messages", messages);
        return result;
    }

    private JSONObject offset(JSONObject request) throws Failed {
        DefaultMQPullConsumer consumer = pulling.get(request.getString("consumer"));
        MessageQueue queue = Messages.queue(request.getJSONObject("queue"));
        JSONObject result = new JSONObject();
        result.put("offset", String.valueOf(Call.of(() -> {
            switch (request.getString("which")) {
                case "min":
                    return consumer.minOffset(queue);
                case "max":
                    return consumer.maxOffset(queue);
                case "search":
                    return consumer.searchOffset(queue, request.getLongValue("time_ms"));
                default:
                    return consumer.fetchConsumeOffset(queue, true);
            }
        })));
        return result;
    }

    private JSONObject commit(JSONObject request) throws Failed {
        DefaultMQPullConsumer consumer = pulling.get(request.getString("consumer"));
        MessageQueue queue = Messages.queue(request.getJSONObject("queue"));
        Call.of(() -> {
            consumer.updateConsumeOffset(queue, request.getLongValue("offset"));
            consumer.getDefaultMQPullConsumerImpl().getOffsetStore()
                .persistAll(Collections.singleton(queue));
            return null;
        });
        return new JSONObject();
    }
}
