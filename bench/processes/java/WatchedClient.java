import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

import org.apache.rocketmq.client.hook.ConsumeMessageContext;
import org.apache.rocketmq.client.hook.ConsumeMessageHook;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Runs the main method of another class, and writes down what its clients send and receive.
 *
 * Arguments: the file to append to, the class, and the arguments of that. The clients are
 * watched by the hooks that they have for it; those are in place before a client starts,
 * see HookedClients. An event is 32 bytes, written at
 * once: what this process noted outlives it, however it ends.
 */
public final class WatchedClient {
    private static final int ANSWERED = 1;
    private static final int FAILED = 2;
    private static final int RECEIVED = 3;
    private static final int KEY_SIZE = 16;
    private static final int EVENT_SIZE = 4 + 4 + 8 + KEY_SIZE;

    private static FileChannel events;

    public static void main(String[] arguments) throws Throwable {
        events = FileChannel.open(Paths.get(arguments[0]), StandardOpenOption.CREATE,
            StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        HookedClients.install(
            producer -> producer.registerSendMessageHook(new Sends()),
            consumer -> consumer.registerConsumeMessageHook(new Receipts()));
        Object rest = Arrays.copyOfRange(arguments, 2, arguments.length);
        Class.forName(arguments[1]).getMethod("main", String[].class).invoke(null, rest);
    }

    private static void note(int kind, int queueId, long queueOffset, String uniqueKey) {
        byte[] key = UtilAll.string2bytes(uniqueKey);
        ByteBuffer event = ByteBuffer.allocate(EVENT_SIZE);
        event.putInt(kind).putInt(queueId).putLong(queueOffset);
        event.put(key, key.length - KEY_SIZE, KEY_SIZE);
        event.flip();
        try {
            synchronized (events) {
                events.write(event);
            }
        } catch (IOException error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(70); // an event that is missing would accuse the broker
        }
    }

    private static final class Sends implements SendMessageHook {
        @Override
        public String hookName() {
            return "sends";
        }

        @Override
        public void sendMessageBefore(SendMessageContext context) {
        }

        @Override
        public void sendMessageAfter(SendMessageContext context) {
            SendResult result = context.getSendResult();
            if (result == null) {
                note(FAILED, -1, -1, MessageClientIDSetter.getUniqID(context.getMessage()));
            } else {
                note(ANSWERED, result.getMessageQueue().getQueueId(), result.getQueueOffset(),
                    result.getMsgId());
            }
        }
    }

    private static final class Receipts implements ConsumeMessageHook {
        @Override
        public String hookName() {
            return "receipts";
        }

        @Override
        public void consumeMessageBefore(ConsumeMessageContext context) {
        }

        @Override
        public void consumeMessageAfter(ConsumeMessageContext context) {
            for (MessageExt message : context.getMsgList()) {
                if (context.isSuccess()) {
                    note(RECEIVED, message.getQueueId(), message.getQueueOffset(),
                        MessageClientIDSetter.getUniqID(message));
                }
            }
        }
    }

    private WatchedClient() {
    }
}
