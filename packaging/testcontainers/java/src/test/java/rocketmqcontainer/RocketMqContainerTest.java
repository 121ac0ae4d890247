package rocketmqcontainer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.junit.jupiter.api.Test;
import org.testcontainers.utility.DockerImageName;

class RocketMqContainerTest {
    private static RocketMqContainer container() {
        String image = System.getenv().getOrDefault("RMQC_IMAGE", "rmqc");
        return new RocketMqContainer(DockerImageName.parse(image));
    }

    private static DefaultMQProducer producer(RocketMqContainer container) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("P");
        producer.setNamesrvAddr(container.getNameServer());
        producer.setInstanceName("" + System.nanoTime());
        producer.start();
        return producer;
    }

    @Test
    void aMessageIsReceivedAsItWasSent() throws Exception {
        try (RocketMqContainer container = container()) {
            container.start();
            DefaultMQProducer producer = producer(container);
            SendResult sent = producer.send(new Message("T", "a body".getBytes(UTF_8)));
            assertEquals(SendStatus.SEND_OK, sent.getSendStatus());

            BlockingQueue<MessageExt> received = new LinkedBlockingQueue<>();
            DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("C");
            consumer.setNamesrvAddr(container.getNameServer());
            consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            consumer.subscribe("T", "*");
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                received.addAll(messages);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            consumer.start();
            MessageExt message = received.poll(30, TimeUnit.SECONDS);
            assertNotNull(message);
            assertEquals("a body", new String(message.getBody(), UTF_8));
            assertEquals(sent.getMsgId(), message.getMsgId());
            consumer.shutdown();
            producer.shutdown();
        }
    }

    @Test
    void aFaultReachesTheClient() throws Exception {
        try (RocketMqContainer container = container().withFault("error")) {
            container.start();
            DefaultMQProducer producer = producer(container);
            producer.setRetryTimesWhenSendFailed(0);
            Message message = new Message("T", "a body".getBytes(UTF_8));
            MQClientException error =
                    assertThrows(MQClientException.class, () -> producer.send(message));
            assertEquals(1, error.getResponseCode());
            producer.shutdown();
        }
    }
}
