import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.store.CommitLog;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.DispatchRequest;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.schedule.ScheduleMessageService;

/**
 * Scans the files of a commit log as a broker does that recovers, and does nothing else.
 *
 * The store behind it is an empty one in a scratch directory: the files that are scanned
 * are only mapped for reading. A line on the standard input starts a scan; the answer is
 * how many records there are, their bytes, and the nanoseconds that it took.
 */
public final class ScanLog {
    public static void main(String[] arguments) {
        try {
            answerOrders(arguments);
        } catch (Exception error) {
            System.err.println(error);
            System.exit(1);
        }
        System.exit(0); // threads of the store would keep this one waiting
    }

    private static void answerOrders(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err); // the log of the release goes to the standard output
        CommitLog log = commitLog(arguments[1]);
        File[] files = new File(arguments[0]).listFiles();
        Arrays.sort(files);
        BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        answers.println("ready " + System.getProperty("java.version"));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            long began = System.nanoTime();
            long records = 0;
            long bytes = 0;
            for (File file : files) {
                ByteBuffer mapped = map(file);
                long before = bytes;
                for (int size = next(log, mapped); size > 0; size = next(log, mapped)) {
                    records++;
                    bytes += size;
                }
                if (bytes == before) {
                    throw new IllegalStateException("no record begins " + file);
                }
            }
            answers.println(records + " " + bytes + " " + (System.nanoTime() - began));
        }
    }

    private static CommitLog commitLog(String scratch) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(scratch);
        config.setStorePathCommitLog(scratch + "/commitlog");
        config.setHaListenPort(0);
        DefaultMessageStore store =
            new DefaultMessageStore(config, null, null, new BrokerConfig());
        ScheduleMessageService delays = store.getScheduleMessageService();
        delays.parseDelayLevel(); // a delayed message is asked for its delivery time
        return store.getCommitLog();
    }

    private static ByteBuffer map(File file) throws Exception {
        try (FileChannel channel = FileChannel.open(file.toPath(), StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
    }

    private static int next(CommitLog log, ByteBuffer mapped) {
        if (mapped.remaining() < 8 || mapped.getLong(mapped.position()) == 0) {
            return 0; // what is not written yet
        }
        DispatchRequest request = log.checkMessageAndReturnSize(mapped, true);
        if (!request.isSuccess()) {
            throw new IllegalStateException("no sound record before " + mapped.position());
        }
        return request.getMsgSize();
    }

    private ScanLog() {
    }
}
