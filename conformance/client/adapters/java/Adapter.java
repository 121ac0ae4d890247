import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.parser.Feature;
import com.alibaba.fastjson.serializer.SerializerFeature;
import org.apache.rocketmq.common.MQVersion;

/**
 * Puts the Java client of any release under test: lines in, lines out.
 *
 * docs/client_adapter.md describes the lines. This class reads and writes them, and runs each
 * request on the thread of its lane, by a method of Producers or Consumers.
 */
public final class Adapter {
    private static final String[] FEATURES = {"sync", "async", "oneway", "batch", "select",
        "transaction", "request", "reply", "lanes", "latency", "vip", "push", "orderly", "broadcast", "pull", "lite", "queues",
        "acl", "tls"};

    private final PrintStream out;
    private final Producers producers = new Producers(this);
    private final Consumers consumers = new Consumers(this);
    private final Map<String, ExecutorService> lanes = new ConcurrentHashMap<>();
    private final ExecutorService unordered = Executors.newCachedThreadPool();

    private Adapter(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        System.setOut(System.err); // whatever the client prints is no line of ours
        try {
            new Adapter(out).read();
        } finally {
            Runtime.getRuntime().halt(0); // clients that were not stopped have threads
        }
    }

    private void read() throws IOException {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSONObject request = (JSONObject) JSON.parse(line, Feature.OrderedField);
            String verb = request.getString("verb");
            if (verb.equals("bye"))
                return;
            thread(verb, request.getString("lane")).execute(() -> perform(verb, request));
        }
    }

    private ExecutorService thread(String verb, String lane) {
        if (verb.equals("hello") || verb.equals("release") || verb.equals("stop"))
            return unordered;
        String name = lane == null ? "0" : lane;
        return lanes.computeIfAbsent(name, any -> Executors.newSingleThreadExecutor());
    }

    private void perform(String verb, JSONObject request) {
        try {
            JSONObject result = result(verb, request);
            if (result != null)
                answer(request, "result", result);
        } catch (Unsupported error) {
            answer(request, "unsupported", error.getMessage());
        } catch (Failed error) {
            answer(request, "error", Failures.toJson(error.getCause()));
        } catch (Throwable error) {
            error.printStackTrace();
            answer(request, "error", Failures.ours(error));
        }
    }

    /** Returns the result; null where the response is written later. */
    private JSONObject result(String verb, JSONObject request) throws Failed {
        switch (verb) {
            case "hello":
                return hello();
            case "producer":
                return producers.start(request);
            case "send":
                return producers.send(request);
            case "request":
                return producers.request(request);
            case "reply":
                return producers.reply(request);
            case "consumer":
                return consumers.start(request);
            case "release":
                return consumers.release(request);
            case "queues":
                return request.containsKey("producer")
                    ? producers.queues(request) : consumers.perform(verb, request);
            case "pull":
            case "offset":
            case "commit":
            case "assign":
            case "poll":
            case "seek":
            case "pause":
            case "resume":
                return consumers.perform(verb, request);
            case "stop":
                if (!producers.stop(request.getString("name")))
                    consumers.stop(request.getString("name"));
                return new JSONObject();
            default:
                throw new Unsupported(verb);
        }
    }

    private static JSONObject hello() {
        String release = MQVersion.getVersionDesc(MQVersion.CURRENT_VERSION)
            .substring(1).replace('_', '.');
        JSONObject intervals = new JSONObject(true);
        intervals.put("rebalance_ms", Long.getLong("rocketmq.client.rebalance.waitInterval", 20000));
        intervals.put("lock_ms", Long.getLong("rocketmq.client.rebalance.lockInterval", 20000));
        intervals.put(
            "lock_lives_ms", Long.getLong("rocketmq.client.rebalance.lockMaxLiveTime", 30000));
        JSONArray features = new JSONArray();
        for (String feature : FEATURES)
            features.add(feature);
        if (Options.canPop())
            features.add("pop");
        JSONObject result = new JSONObject(true);
        result.put("adapter", "java");
        result.put("client", "rocketmq-client " + release);
        result.put("release", release);
        result.put("language", "JAVA");
        result.put("features", features);
        result.put("intervals", intervals);
        return result;
    }

    /** Writes the response to *request*; callable from any thread. */
    void answer(JSONObject request, String kind, Object value) {
        JSONObject line = new JSONObject(true);
        line.put("id", request.get("id"));
        line.put(kind, value);
        write(line);
    }

    /** Writes an event with the fields *more*. */
    void writeEvent(String event, JSONObject more) {
        JSONObject line = new JSONObject(true);
        line.put("event", event);
        line.putAll(more);
        write(line);
    }

    private void write(JSONObject line) {
        String text = JSON.toJSONString(line,
            SerializerFeature.WriteMapNullValue, SerializerFeature.DisableCircularReferenceDetect);
        synchronized (out) {
            out.print(text + "\n");
            out.flush();
        }
    }
}
