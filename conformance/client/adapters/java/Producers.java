import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageExt;

/** Started producers by name. */
final class Producers {
    private final Adapter adapter;
    private final Map<String, DefaultMQProducer> producers = new ConcurrentHashMap<>();

    Producers(Adapter adapter) {
        this.adapter = adapter;
    }

    JSONObject start(JSONObject request) throws Failed {
        String name = request.getString("name");
        JSONObject options = Options.of(request);
        TransactionMQProducer producer =
            new TransactionMQProducer(request.getString("group"), Options.hook(request));
        Options.begin(producer, request);
        Options.set(producer, options);
        producer.setTransactionListener(new Listener(name, options.getString("check")));
        Call.of(() -> {
            producer.start();
            return null;
        });
        producers.put(name, producer);
        return new JSONObject();
    }

    boolean stop(String name) throws Failed {
        DefaultMQProducer producer = producers.get(name); // it stays, to refuse what comes
        if (producer == null)
            return false;
        Call.of(() -> {
            producer.shutdown();
            return null;
        });
        return true;
    }

    JSONObject queues(JSONObject request) throws Failed {
        DefaultMQProducer producer = producers.get(request.getString("producer"));
        return Messages.toJson(
            Call.of(() -> producer.fetchPublishMessageQueues(request.getString("topic"))));
    }

    JSONObject send(JSONObject request) throws Failed {
        DefaultMQProducer producer = producers.get(request.getString("producer"));
        if (request.containsKey("messages"))
            return sendBatch(producer, request);
        Message message = Messages.made(request.getJSONObject("message"));
        if (request.containsKey("transaction"))
            return sendInTransaction(producer, message, request.getString("transaction"));
        switch (request.getString("mode")) {
            case "sync":
                return result(sync(producer, message, request), message);
            case "async":
                async(producer, message, request);
                return null;
            case "oneway":
                oneway(producer, message, request);
                return new JSONObject();
            default:
                throw new Unsupported("mode " + request.getString("mode"));
        }
    }

    JSONObject request(JSONObject request) throws Failed {
        DefaultMQProducer producer = producers.get(request.getString("producer"));
        Message message = Messages.made(request.getJSONObject("message"));
        long timeout = request.getLongValue("timeout_ms");
        if ("callback".equals(request.getString("mode"))) {
            requestWithCallback(producer, message, timeout, request);
            return null;
        }
        Method method = requesting();
        return replyResult(
            Call.of(() -> (Message) invoked(method, producer, message, timeout)));
    }

    /** Sends a request whose RequestCallback, a class since 4.6, writes the response. */
    private void requestWithCallback(DefaultMQProducer producer, Message message, long timeout,
        JSONObject request) throws Failed {
        Class<?> type;
        Method method;
        try {
            type = Class.forName("org.apache.rocketmq.client.producer.RequestCallback");
            method = DefaultMQProducer.class.getMethod("request", Message.class, type, long.class);
        } catch (ReflectiveOperationException error) {
            throw new Unsupported("requests");
        }
        Object callback = Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) -> {
                if (called.getName().equals("onSuccess"))
                    adapter.answer(request, "result", replyResult((Message) arguments[0]));
                else if (called.getName().equals("onException"))
                    adapter.answer(request, "error", Failures.toJson((Throwable) arguments[0]));
                return null;
            });
        Call.of(() -> invoked(method, producer, message, callback, timeout));
    }

    private static JSONObject replyResult(Message reply) {
        JSONObject json = new JSONObject(true);
        json.put("topic", reply.getTopic());
        json.put("body", Messages.base64(reply.getBody()));
        json.put("properties", reply.getProperties());
        JSONObject result = new JSONObject();
        result.put("reply", json);
        return result;
    }

    JSONObject reply(JSONObject request) throws Failed {
        DefaultMQProducer producer = producers.get(request.getString("producer"));
        Message asked = new Message();
        for (Map.Entry<String, Object> one : request.getJSONObject("properties").entrySet())
            MessageAccessor.putProperty(asked, one.getKey(), (String) one.getValue());
        byte[] body = Base64.getDecoder().decode(request.getString("body"));
        Method method = replying();
        Message reply = Call.of(() -> (Message) invoked(method, null, asked, body));
        return result(Call.of(() -> producer.send(reply)), reply);
    }

    private static Object invoked(Method method, Object on, Object... given) throws Throwable {
        try {
            return method.invoke(on, given);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    /** Returns DefaultMQProducer#request, which exists since 4.6. */
    private static Method requesting() {
        try {
            return DefaultMQProducer.class.getMethod("request", Message.class, long.class);
        } catch (NoSuchMethodException error) {
            throw new Unsupported("requests");
        }
    }

    /** Returns MessageUtil#createReplyMessage, which exists since 4.6. */
    private static Method replying() {
        try {
            return Class.forName("org.apache.rocketmq.client.utils.MessageUtil")
                .getMethod("createReplyMessage", Message.class, byte[].class);
        } catch (ReflectiveOperationException error) {
            throw new Unsupported("replies");
        }
    }

    private JSONObject sendBatch(DefaultMQProducer producer, JSONObject request) throws Failed {
        if (!request.getString("mode").equals("sync") || request.containsKey("select"))
            throw new Unsupported("a batch that is not sent plainly");
        List<Message> batch = new ArrayList<>();
        for (Object one : request.getJSONArray("messages"))
            batch.add(Messages.made((JSONObject) one));
        Long timeout = request.getLong("timeout_ms");
        return result(Call.of(() -> timeout == null
            ? producer.send(batch) : producer.send(batch, timeout)), null);
    }

    private static JSONObject sendInTransaction(
        DefaultMQProducer producer, Message message, String outcome) throws Failed {
        SendResult sent = Call.of(() -> producer.sendMessageInTransaction(message, outcome));
        JSONObject result = result(sent, message);
        LocalTransactionState state = ((TransactionSendResult) sent).getLocalTransactionState();
        result.put("state", state == LocalTransactionState.COMMIT_MESSAGE ? "commit"
            : state == LocalTransactionState.ROLLBACK_MESSAGE ? "rollback" : "unknown");
        return result;
    }

    private static SendResult sync(
        DefaultMQProducer producer, Message message, JSONObject request) throws Failed {
        Long timeout = request.getLong("timeout_ms");
        MessageQueueSelector selector = selector(request);
        return Call.of(() -> {
            if (selector == null)
                return timeout == null ? producer.send(message) : producer.send(message, timeout);
            return timeout == null ? producer.send(message, selector, null)
                : producer.send(message, selector, null, timeout);
        });
    }

    private void async(
        DefaultMQProducer producer, Message message, JSONObject request) throws Failed {
        Long timeout = request.getLong("timeout_ms");
        MessageQueueSelector selector = selector(request);
        SendCallback callback = new SendCallback() {
            @Override
            public void onSuccess(SendResult sent) {
                adapter.answer(request, "result", result(sent, message));
            }

            @Override
            public void onException(Throwable error) {
                adapter.answer(request, "error", Failures.toJson(error));
            }
        };
        Call.of(() -> {
            if (selector == null && timeout == null)
                producer.send(message, callback);
            else if (selector == null)
                producer.send(message, callback, timeout);
            else if (timeout == null)
                producer.send(message, selector, null, callback);
            else
                producer.send(message, selector, null, callback, timeout);
            return null;
        });
    }

    private static void oneway(
        DefaultMQProducer producer, Message message, JSONObject request) throws Failed {
        if (request.containsKey("timeout_ms"))
            throw new Unsupported("a timeout of a oneway send");
        MessageQueueSelector selector = selector(request);
        Call.of(() -> {
            if (selector == null)
                producer.sendOneway(message);
            else
                producer.sendOneway(message, selector, null);
            return null;
        });
    }

    private static MessageQueueSelector selector(JSONObject request) {
        Integer position = request.getInteger("select");
        return position == null ? null : (queues, message, argument) -> queues.get(position);
    }

    private static JSONObject result(SendResult sent, Message message) {
        JSONObject result = new JSONObject(true);
        result.put("status", sent.getSendStatus().name());
        result.put("message_id", sent.getMsgId());
        if (sent.getOffsetMsgId() != null)
            result.put("offset_message_id", sent.getOffsetMsgId());
        if (sent.getMessageQueue() != null) {
            result.put("topic", sent.getMessageQueue().getTopic());
            result.put("broker", sent.getMessageQueue().getBrokerName());
            result.put("queue_id", sent.getMessageQueue().getQueueId());
        }
        result.put("queue_offset", String.valueOf(sent.getQueueOffset()));
        if (message != null && message.getBody() != null)
            result.put("body_after", Messages.base64(message.getBody()));
        return result;
    }

    /** Transaction listener that returns the requested states. */
    private final class Listener implements TransactionListener {
        private final String name;
        private final String check;

        Listener(String name, String check) {
            this.name = name;
            this.check = check == null ? "unknown" : check;
        }

        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object outcome) {
            JSONObject event = new JSONObject(true);
            event.put("producer", name);
            event.put("transaction_id", message.getTransactionId());
            adapter.writeEvent("local", event);
            return state((String) outcome);
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            JSONObject event = new JSONObject(true);
            event.put("producer", name);
            event.put("message", Messages.toJson(message, null));
            adapter.writeEvent("check", event);
            return state(check);
        }

        private LocalTransactionState state(String outcome) {
            switch (outcome) {
                case "commit":
                    return LocalTransactionState.COMMIT_MESSAGE;
                case "rollback":
                    return LocalTransactionState.ROLLBACK_MESSAGE;
                case "unknown":
                    return LocalTransactionState.UNKNOW;
                default:
                    throw new IllegalStateException("the application failed, as requested");
            }
        }
    }
}
