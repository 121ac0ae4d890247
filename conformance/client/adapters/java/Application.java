import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.message.MessageExt;

/** Listener of a consumer: writes an event for each message, and returns the requested outcome. */
final class Application {
    private final Adapter adapter;
    private final String name;
    private final JSONObject outcomes;
    private final Map<String, AtomicInteger> deliveries = new ConcurrentHashMap<>();
    private final Map<String, Semaphore> held = new ConcurrentHashMap<>();

    Application(Adapter adapter, String name, JSONObject outcomes) {
        this.adapter = adapter;
        this.name = name;
        this.outcomes = outcomes == null ? new JSONObject() : outcomes;
    }

    MessageListenerConcurrently concurrent() {
        return (messages, context) ->
            isDone(messages.get(0), context.getMessageQueue().getBrokerName())
                ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS
                : ConsumeConcurrentlyStatus.RECONSUME_LATER;
    }

    MessageListenerOrderly inOrder() {
        return (messages, context) ->
            isDone(messages.get(0), context.getMessageQueue().getBrokerName())
                ? ConsumeOrderlyStatus.SUCCESS
                : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
    }

    void release(String keys) {
        gate(keys).release();
    }

    private boolean isDone(MessageExt message, String broker) {
        String outcome = outcome(message.getKeys());
        JSONObject event = new JSONObject(true);
        event.put("consumer", name);
        event.put("message", Messages.toJson(message, broker));
        adapter.writeEvent("message", event);
        switch (outcome) {
            case "success":
                return true;
            case "later":
                return false;
            case "hold":
                gate(message.getKeys()).acquireUninterruptibly();
                return true;
            default:
                throw new IllegalStateException("the application failed, as requested");
        }
    }

    private String outcome(String keys) {
        JSONArray words = keys == null ? null : outcomes.getJSONArray(keys);
        if (words == null)
            return "success";
        int number = deliveries.computeIfAbsent(keys, any -> new AtomicInteger()).getAndIncrement();
        return number < words.size() ? words.getString(number) : "success";
    }

    private Semaphore gate(String keys) {
        return held.computeIfAbsent(keys, any -> new Semaphore(0));
    }
}
