import java.util.Base64;
import java.util.Map;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Messages and queues, as the lines say them. */
final class Messages {
    static Message made(JSONObject told) throws Failed {
        byte[] body = told.containsKey("body")
            ? Base64.getDecoder().decode(told.getString("body")) : null;
        return Call.of(() -> {
            Message message = new Message(told.getString("topic"), body);
            if (told.containsKey("tags"))
                message.setTags(told.getString("tags"));
            if (told.containsKey("keys"))
                message.setKeys(told.getString("keys"));
            if (told.containsKey("properties"))
                for (Map.Entry<String, Object> one : told.getJSONObject("properties").entrySet())
                    message.putUserProperty(one.getKey(), (String) one.getValue());
            if (told.containsKey("delay_level"))
                message.setDelayTimeLevel(told.getIntValue("delay_level"));
            if (told.containsKey("wait_store"))
                message.setWaitStoreMsgOK(told.getBooleanValue("wait_store"));
            if (told.containsKey("flag"))
                message.setFlag(told.getIntValue("flag"));
            return message;
        });
    }

    static String base64(byte[] data) {
        return data == null ? null : Base64.getEncoder().encodeToString(data);
    }

    /** Returns what is told of a message that came; *broker* may be null. */
    static JSONObject told(MessageExt message, String broker) {
        JSONObject told = new JSONObject(true);
        told.put("topic", message.getTopic());
        if (broker != null)
            told.put("broker", broker);
        told.put("queue_id", message.getQueueId());
        told.put("queue_offset", String.valueOf(message.getQueueOffset()));
        told.put("body", base64(message.getBody()));
        if (message.getTags() != null)
            told.put("tags", message.getTags());
        if (message.getKeys() != null)
            told.put("keys", message.getKeys());
        told.put("properties", message.getProperties());
        told.put("reconsume_times", message.getReconsumeTimes());
        told.put("message_id", message.getMsgId());
        if (message instanceof MessageClientExt)
            told.put("offset_message_id", ((MessageClientExt) message).getOffsetMsgId());
        return told;
    }

    static MessageQueue queue(JSONObject told) {
        return new MessageQueue(
            told.getString("topic"), told.getString("broker"), told.getIntValue("queue_id"));
    }

    static JSONObject told(Iterable<MessageQueue> queues) {
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
