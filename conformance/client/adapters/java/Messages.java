import java.util.Base64;
import java.util.Map;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Messages and queues as JSON, see docs/client_adapter.md. */
final class Messages {
    static Message made(JSONObject json) throws Failed {
        byte[] body = json.containsKey("body")
            ? Base64.getDecoder().decode(json.getString("body")) : null;
        return Call.of(() -> {
            Message message = new Message(json.getString("topic"), body);
            if (json.containsKey("tags"))
                message.setTags(json.getString("tags"));
            if (json.containsKey("keys"))
                message.setKeys(json.getString("keys"));
            if (json.containsKey("properties"))
                for (Map.Entry<String, Object> one : json.getJSONObject("properties").entrySet())
                    message.putUserProperty(one.getKey(), (String) one.getValue());
            if (json.containsKey("delay_level"))
                message.setDelayTimeLevel(json.getIntValue("delay_level"));
            if (json.containsKey("wait_store"))
                message.setWaitStoreMsgOK(json.getBooleanValue("wait_store"));
            if (json.containsKey("flag"))
                message.setFlag(json.getIntValue("flag"));
            return message;
        });
    }

    static String base64(byte[] data) {
        return data == null ? null : Base64.getEncoder().encodeToString(data);
    }

    /** Returns a received message as JSON; *broker* may be null. */
    static JSONObject toJson(MessageExt message, String broker) {
        JSONObject json = new JSONObject(true);
        json.put("topic", message.getTopic());
        if (broker != null)
            json.put("broker", broker);
        json.put("queue_id", message.getQueueId());
        json.put("queue_offset", String.valueOf(message.getQueueOffset()));
        json.put("body", base64(message.getBody()));
        if (message.getTags() != null)
            json.put("tags", message.getTags());
        if (message.getKeys() != null)
            json.put("keys", message.getKeys());
        json.put("properties", message.getProperties());
        json.put("reconsume_times", message.getReconsumeTimes());
        json.put("message_id", message.getMsgId());
        if (message instanceof MessageClientExt)
            json.put("offset_message_id", ((MessageClientExt) message).getOffsetMsgId());
        return json;
    }

    static MessageQueue queue(JSONObject json) {
        return new MessageQueue(
            json.getString("topic"), json.getString("broker"), json.getIntValue("queue_id"));
    }

    static JSONObject toJson(Iterable<MessageQueue> queues) {
        JSONArray all = new JSONArray();
        for (MessageQueue queue : queues) {
            JSONObject one = new JSONObject(true);
            one.put("topic", queue.getTopic());
            one.put("broker", queue.getBrokerName());
            one.put("queue_id", queue.getQueueId());
            all.add(one);
        }
        JSONObject result = new JSONObject();
        result.put("queues", all);
        return result;
    }
}
