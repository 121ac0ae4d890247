import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;

/** DefaultLitePullConsumer instances by name; called by reflection, as 4.4 lacks the class. */
final class LitePullConsumers {
    private static final String CLASS = "org.apache.rocketmq.client.consumer.DefaultLitePullConsumer";

    private final Map<String, Object> consumers = new ConcurrentHashMap<>();

    boolean has(String name) {
        return name != null && consumers.containsKey(name);
    }

    void start(JSONObject request) throws Failed {
        Object consumer = newConsumer(request);
        Options.begin((ClientConfig) consumer, request);
        JSONObject options = Options.of(request);
        for (String option : options.keySet())
            set(consumer, option, options);
        Consumers.setModel(consumer, request);
        for (Object one : request.getJSONArray("subscriptions")) {
            JSONObject subscription = (JSONObject) one;
            String expression = subscription.getString("expression");
            invoke(consumer, "subscribe", new Class<?>[] {String.class, String.class},
                subscription.getString("topic"), expression == null ? "*" : expression);
        }
        consumers.put(request.getString("name"), consumer);
        invoke(consumer, "start", new Class<?>[0]);
    }

    void stop(String name) throws Failed {
        invoke(consumers.get(name), "shutdown", new Class<?>[0]);
    }

    @SuppressWarnings("unchecked")
    JSONObject perform(String verb, JSONObject request) throws Failed {
        Object consumer = consumers.get(request.getString("consumer"));
        switch (verb) {
            case "assign":
            case "pause":
            case "resume":
                invoke(consumer, verb, new Class<?>[] {Collection.class}, queues(request));
                return new JSONObject();
            case "seek":
                invoke(consumer, verb, new Class<?>[] {MessageQueue.class, long.class},
                    Messages.queue(request.getJSONObject("queue")), request.getLongValue("offset"));
                return new JSONObject();
            case "commit":
                invoke(consumer, "commitSync", new Class<?>[0]);
                return new JSONObject();
            case "poll":
                return messages((List<MessageExt>) invoke(
                    consumer, verb, new Class<?>[] {long.class}, request.getLongValue("timeout_ms")));
            case "queues":
                return Messages.toJson((Collection<MessageQueue>) invoke(consumer,
                    "fetchMessageQueues", new Class<?>[] {String.class}, request.getString("topic")));
            case "offset":
                JSONObject result = new JSONObject();
                result.put("offset", String.valueOf(invoke(consumer, "committed",
                    new Class<?>[] {MessageQueue.class},
                    Messages.queue(request.getJSONObject("queue")))));
                return result;
            default:
                throw new Unsupported(verb + " of a lite pull consumer");
        }
    }

    private static void set(Object consumer, String option, JSONObject options) throws Failed {
        if (option.equals("auto_commit"))
            invoke(consumer, "setAutoCommit", new Class<?>[] {boolean.class},
                options.getBooleanValue(option));
        else if (option.equals("pull_batch"))
            invoke(consumer, "setPullBatchSize", new Class<?>[] {int.class},
                options.getIntValue(option));
        else
            Options.set((ClientConfig) consumer, option, options);
    }

    private static List<MessageQueue> queues(JSONObject request) {
        List<MessageQueue> queues = new ArrayList<>();
        for (Object one : request.getJSONArray("queues"))
            queues.add(Messages.queue((JSONObject) one));
        return queues;
    }

    /** Returns polled messages, without their brokers, which messages lack before 4.9. */
    private static JSONObject messages(List<MessageExt> polled) {
        JSONArray messages = new JSONArray();
        for (MessageExt message : polled)
            messages.add(Messages.toJson(message, null));
        JSONObject result = new JSONObject();
        result.put("messages", messages);
        return result;
    }

    private static Object newConsumer(JSONObject request) {
        try {
            return Class.forName(CLASS).getConstructor(String.class, RPCHook.class)
                .newInstance(request.getString("group"), Options.hook(request));
        } catch (ReflectiveOperationException error) {
            throw new Unsupported("kind lite");
        }
    }

    private static Object invoke(Object consumer, String name, Class<?>[] types, Object... values)
        throws Failed {
        return Call.of(() -> {
            try {
                return consumer.getClass().getMethod(name, types).invoke(consumer, values);
            } catch (InvocationTargetException error) {
                throw error.getCause();
            }
        });
    }
}
