import com.alibaba.fastjson.JSONObject;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingSendRequestException;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;
import org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException;

/** A verb, an option or a value that this adapter does not support. */
final class Unsupported extends RuntimeException {
    Unsupported(String what) {
        super(what);
    }
}

/** The client threw the cause. */
final class Failed extends Exception {
    Failed(Throwable cause) {
        super(cause);
    }
}

/** A call of the client: its exceptions are results, not errors of the adapter. */
interface Call<T> {
    T call() throws Throwable;

    static <T> T of(Call<T> call) throws Failed {
        try {
            return call.call();
        } catch (Throwable error) {
            throw new Failed(error);
        }
    }
}

/** Exceptions of the client as JSON. */
final class Failures {
    private static final int NO_CODE = -1;

    static JSONObject toJson(Throwable error) {
        return line(kind(error), code(error), error.toString());
    }

    static JSONObject ours(Throwable error) {
        return line("adapter", null, error.toString());
    }

    private static JSONObject line(String kind, Integer code, String text) {
        JSONObject line = new JSONObject(true);
        line.put("kind", kind);
        line.put("code", code);
        line.put("text", text);
        return line;
    }

    /** Returns the kind of error, from the innermost exception with a kind. */
    private static String kind(Throwable error) {
        for (Throwable one = error; one != null; one = one.getCause()) {
            if (one instanceof MQBrokerException)
                return "broker";
            if (one instanceof RemotingTimeoutException
                || one.getClass().getSimpleName().equals("RequestTimeoutException")
                || one instanceof RemotingTooMuchRequestException)
                return "timeout";
            if (one instanceof RemotingConnectException
                || one instanceof RemotingSendRequestException)
                return "connect";
        }
        return "client";
    }

    private static Integer code(Throwable error) {
        int code = NO_CODE;
        if (error instanceof MQBrokerException)
            code = ((MQBrokerException) error).getResponseCode();
        else if (error instanceof MQClientException)
            code = ((MQClientException) error).getResponseCode();
        return code == NO_CODE ? null : code;
    }
}
