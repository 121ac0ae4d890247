import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Decodes a piece of a commit log again and again with Apache RocketMQ's own decoder.
 *
 * Each line of the standard input names a way and a number of passes; the answer is one
 * line: how many records a pass decoded, then each pass's nanoseconds. So the caller
 * decides when Java works, and may let others work in between.
 */
public final class DecodeLog {
    /** Processor time of this thread: what other programs do meanwhile does not count. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    /** What the decoded messages add up to, so that no pass can be optimised away. */
    private static long sum;

    public static void main(String[] arguments) throws Exception {
        byte[] log = Files.readAllBytes(Paths.get(arguments[0]));
        BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream answers = System.out;
        System.setOut(System.err); // the log of some releases goes to the standard output
        answers.println("ready " + System.getProperty("java.version"));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ");
            answers.println(passes(log, words[0], Integer.parseInt(words[1])));
        }
        System.err.println("sum " + sum);
    }

    private static String passes(byte[] log, String way, int count) {
        StringBuilder times = new StringBuilder();
        int records = 0;
        for (int i = 0; i < count; i++) {
            long began = CLOCK.getCurrentThreadCpuTime();
            records = pass(ByteBuffer.wrap(log), !way.equals("without-body"), way.equals("with-crc"));
            times.append(' ').append(CLOCK.getCurrentThreadCpuTime() - began);
        }
        return records + times.toString();
    }

    private static int pass(ByteBuffer log, boolean readBody, boolean checkCrc) {
        int records = 0;
        while (log.hasRemaining()) {
            int start = log.position();
            MessageExt message = MessageDecoder.decode(log, readBody);
            if (message == null) {
                throw new IllegalStateException("no record at " + start);
            }
            if (checkCrc && UtilAll.crc32(message.getBody()) != message.getBodyCRC()) {
                throw new IllegalStateException("wrong checksum at " + start);
            }
            sum += message.getQueueOffset() + message.getTopic().length();
            records++;
        }
        return records;
    }

    private DecodeLog() {
    }
}
