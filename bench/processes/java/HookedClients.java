import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl;

/**
 * Gives every client of this process its hooks before it starts.
 *
 * A client enters itself into tables of the client library. These tables are replaced by
 * tables of ours, which pass each new entry to a consumer first.
 */
final class HookedClients {
    private HookedClients() {
    }

    /** Passes each producer and each push consumer to its consumer before it starts. */
    static void install(Consumer<DefaultMQProducerImpl> producers,
            Consumer<DefaultMQPushConsumerImpl> consumers) {
        replace(MQClientManager.class, "factoryTable", MQClientManager.getInstance(),
            new Table<MQClientInstance>(client -> {
                replace(MQClientInstance.class, "producerTable", client,
                    new Table<Object>(one -> producers.accept((DefaultMQProducerImpl) one)));
                replace(MQClientInstance.class, "consumerTable", client,
                    new Table<Object>(one -> consumers.accept((DefaultMQPushConsumerImpl) one)));
            }));
    }

    private static void replace(Class<?> owner, String name, Object object, Object value) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            field.set(object, value);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** A table that passes each value to a consumer before it contains it. */
    private static final class Table<V> extends ConcurrentHashMap<String, V> {
        private final transient Consumer<V> before;

        Table(Consumer<V> before) {
            this.before = before;
        }

        @Override
        public V putIfAbsent(String key, V value) {
            before.accept(value);
            return super.putIfAbsent(key, value);
        }
    }
}
