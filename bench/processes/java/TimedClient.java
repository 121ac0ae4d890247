import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.rocketmq.client.hook.ConsumeMessageContext;
import org.apache.rocketmq.client.hook.ConsumeMessageHook;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl;

/**
 * Runs the main method of another class, lets its clients work in turns, and times them.
 *
 * Arguments: the class, and the arguments of that. Orders come by standard input, a line
 * each: "send MILLIS" lets producers go for so long and prints what came of it,
 * "consume COUNT" waits until so many messages were consumed. Between two turns producers
 * stand before their next send, warm and connected; the hooks that clients have for
 * whoever wants to watch are the gate. Nothing of the other class is changed.
 */
public final class TimedClient {
    private static final int TIMES_MAX = 8_000_000;
    private static final int PATIENCE_MS = 600_000;

    private static final Object gate = new Object();
    private static final AtomicInteger inFlight = new AtomicInteger();
    private static final AtomicInteger count = new AtomicInteger();
    private static final AtomicInteger failed = new AtomicInteger();
    private static final AtomicLong consumed = new AtomicLong();
    private static final ThreadLocal<Long> began = new ThreadLocal<>();
    private static final long[] times = new long[TIMES_MAX];
    private static volatile boolean isOpen;
    private static volatile long firstConsumedAt;
    private static volatile long lastConsumedAt;

    public static void main(String[] arguments) throws Throwable {
        HookedClients.install(TimedClient::hook,
            consumer -> consumer.registerConsumeMessageHook(new Receipts()));
        Object rest = Arrays.copyOfRange(arguments, 1, arguments.length);
        Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null, rest);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.split(" ");
            String told = words[0].equals("send")
                ? send(Long.parseLong(words[1])) : consume(Long.parseLong(words[1]));
            System.out.println("turn " + told);
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Lets producers go; tells sends, failures, nanoseconds and the times of a send. */
    private static String send(long millis) throws InterruptedException {
        count.set(0);
        failed.set(0);
        long start = System.nanoTime();
        synchronized (gate) {
            isOpen = true;
            gate.notifyAll();
        }
        Thread.sleep(millis);
        isOpen = false;
        while (inFlight.get() > 0) {
            Thread.sleep(0, 100_000);
        }
        long duration = System.nanoTime() - start;
        int known = Math.min(count.get(), TIMES_MAX);
        long[] sorted = Arrays.copyOf(times, known);
        Arrays.sort(sorted);
        return String.format("%d %d %d %d %d %d", count.get(), failed.get(), duration,
            at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
    }

    private static long at(long[] sorted, double share) {
        int last = sorted.length - 1;
        return last < 0 ? 0 : sorted[Math.min(last, (int) (share * sorted.length))];
    }

    /** Waits until so many were consumed; tells how many, and the nanoseconds from the first. */
    private static String consume(long wanted) throws InterruptedException {
        while (consumed.get() < wanted) {
            Thread.sleep(1);
        }
        return String.format("%d %d", consumed.get(), lastConsumedAt - firstConsumedAt);
    }

    private static void hook(DefaultMQProducerImpl producer) {
        // The patience of a send begins before the gate.
        producer.getDefaultMQProducer().setSendMsgTimeout(PATIENCE_MS);
        producer.registerSendMessageHook(new Sends());
    }

    private static void pass() {
        inFlight.incrementAndGet();
        while (!isOpen) {
            inFlight.decrementAndGet();
            synchronized (gate) {
                while (!isOpen) {
                    try {
                        gate.wait();
                    } catch (InterruptedException error) {
                        throw new IllegalStateException(error);
                    }
                }
            }
            inFlight.incrementAndGet();
        }
    }

    private static final class Sends implements SendMessageHook {
        @Override
        public String hookName() {
            return "sends";
        }

        @Override
        public void sendMessageBefore(SendMessageContext context) {
            pass();
            began.set(System.nanoTime());
        }

        @Override
        public void sendMessageAfter(SendMessageContext context) {
            long time = System.nanoTime() - began.get();
            if (context.getException() != null) {
                failed.incrementAndGet();
            } else {
                int index = count.getAndIncrement();
                if (index < TIMES_MAX) {
                    times[index] = time;
                }
            }
            inFlight.decrementAndGet();
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
            if (context.isSuccess()) {
                long now = System.nanoTime();
                if (consumed.getAndAdd(context.getMsgList().size()) == 0) {
                    firstConsumedAt = now;
                }
                lastConsumedAt = now;
            }
        }
    }

    private TimedClient() {
    }
}
