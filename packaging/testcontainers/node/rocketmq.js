// A RocketMQ broker for tests in Node, as a Testcontainers module.
//
// The container runs `rmqc serve`, a name server and a broker. A route contains the
// broker's address, so a port has the same number inside and outside of the container.

import { createServer } from "node:net";
import { GenericContainer, Wait } from "testcontainers";

const CONFIG = "/tmp/broker.conf";

export class RocketMqContainer extends GenericContainer {
  #settings = { brokerIP1: "127.0.0.1" };
  #faults = [];

  constructor(image = "rmqc") {
    super(image);
  }

  /** Set one setting of broker.conf, such as ("defaultTopicQueueNums", "4"). */
  withSetting(name, value) {
    this.#settings[name] = value;
    return this;
  }

  /** Let the broker misbehave, as in "busy:10%"; `rmqc serve --help` lists the faults. */
  withFault(fault) {
    this.#faults.push(fault);
    return this;
  }

  async start() {
    const ports = await freePorts(2);
    const [nameServer, broker] = ports;
    const lines = Object.entries(this.#settings).map(([name, value]) => `${name}=${value}\n`);
    this.withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
      .withCopyContentToContainer([{ content: lines.join(""), target: CONFIG, mode: 0o644 }])
      .withCommand([
        "serve",
        ...["--host", "0.0.0.0", "--store", "/tmp/store", "-c", CONFIG],
        ...["--namesrv-port", `${nameServer}`, "--broker-port", `${broker}`],
        ...this.#faults.flatMap((fault) => ["--fault", fault]),
      ])
      .withWaitStrategy(Wait.forLogMessage(/^ready namesrv=/m));
    const started = await super.start();
    started.nameServer = `127.0.0.1:${nameServer}`;
    return started;
  }

  // Testcontainers would publish the ports on every interface of the machine.
  async beforeContainerCreated() {
    for (const [binding] of Object.values(this.hostConfig.PortBindings)) {
      binding.HostIp = "127.0.0.1";
    }
  }
}

/** Return free ports of this machine. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(
    servers.map((server) => new Promise((done) => server.listen(0, "127.0.0.1", done))),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
