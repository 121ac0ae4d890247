import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends what the benchmark classes of 4.6.0 do not: batches, and messages without an answer.
 *
 * Arguments: name server, topic, threads, bytes of a body, and messages of a batch; 0 for
 * messages sent oneway, one by one. Threads send for ever; a message is made anew each time.
 */
public final class SendLoop {
    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1];
        int threads = Integer.parseInt(arguments[2]);
        byte[] body = new byte[Integer.parseInt(arguments[3])];
        int batch = Integer.parseInt(arguments[4]);
        Arrays.fill(body, (byte) 'b');
        DefaultMQProducer producer = new DefaultMQProducer("bench_loop");
        producer.setNamesrvAddr(arguments[0]);
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        producer.start();
        for (int number = 0; number < threads; number++) {
            Thread thread = new Thread(() -> loop(producer, topic, body, batch));
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void loop(DefaultMQProducer producer, String topic, byte[] body, int batch) {
        while (true) {
            try {
                if (batch == 0) {
                    producer.sendOneway(new Message(topic, body));
                } else {
                    producer.send(some(topic, body, batch));
                }
            } catch (Exception error) {
                error.printStackTrace(); // the hook has counted it
            }
        }
    }

    private static List<Message> some(String topic, byte[] body, int count) {
        List<Message> messages = new ArrayList<>(count);
        for (int number = 0; number < count; number++) {
            messages.add(new Message(topic, body));
        }
        return messages;
    }

    private SendLoop() {
    }
}
