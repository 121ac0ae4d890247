package rocketmqcontainer;

import com.github.dockerjava.api.model.PortBinding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * A RocketMQ broker for tests, as a Testcontainers module.
 *
 * <p>The container runs {@code rmqc serve}, a name server and a broker. A route contains the
 * broker's address, so a port has the same number inside and outside of the container.
 */
public final class RocketMqContainer extends GenericContainer<RocketMqContainer> {
    private static final String CONFIG = "/tmp/broker.conf";
    private final Map<String, String> settings = new TreeMap<>(Map.of("brokerIP1", "127.0.0.1"));
    private final List<String> faults = new ArrayList<>();
    private int nameServerPort;

    /** Uses an image of the project. */
    public RocketMqContainer(DockerImageName image) {
        super(image);
        waitingFor(Wait.forLogMessage(".*ready namesrv=.*", 1));
    }

    /** Sets one setting of broker.conf, such as defaultTopicQueueNums. */
    public RocketMqContainer withSetting(String name, String value) {
        settings.put(name, value);
        return this;
    }

    /** Lets the broker misbehave, as in "busy:10%"; rmqc serve --help lists the faults. */
    public RocketMqContainer withFault(String fault) {
        faults.add(fault);
        return this;
    }

    /** Returns the address of the name server, for clients. */
    public String getNameServer() {
        return "127.0.0.1:" + nameServerPort;
    }

    @Override
    protected void configure() {
        nameServerPort = freePort();
        int brokerPort = freePort();
        List<String> words = new ArrayList<>(
                List.of("serve", "--host", "0.0.0.0", "--store", "/tmp/store", "-c", CONFIG));
        words.addAll(List.of("--namesrv-port", "" + nameServerPort));
        words.addAll(List.of("--broker-port", "" + brokerPort));
        faults.forEach(fault -> words.addAll(List.of("--fault", fault)));
        withCommand(words.toArray(String[]::new));
        String lines = settings.entrySet().stream()
                .map(setting -> setting.getKey() + "=" + setting.getValue() + "\n")
                .collect(Collectors.joining());
        withCopyToContainer(Transferable.of(lines, 0100644), CONFIG);
        withExposedPorts(nameServerPort, brokerPort);
        // Testcontainers would publish the ports on every interface, under other numbers.
        withCreateContainerCmdModifier(command -> command.getHostConfig().withPortBindings(
                bound(nameServerPort), bound(brokerPort)));
    }

    private static PortBinding bound(int port) {
        return PortBinding.parse("127.0.0.1:" + port + ":" + port);
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
