import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import ons from "ali-ons";
import { RocketMqContainer } from "./rocketmq.js";

let container;

before(async () => {
  container = await new RocketMqContainer(process.env.RMQC_IMAGE ?? "rmqc").start();
});

after(() => container?.stop());

test("a message is received as it was sent", { timeout: 60_000 }, async (context) => {
  const where = { httpclient: {}, nameSrv: container.nameServer };
  const producer = new ons.Producer({ ...where, producerGroup: "P" });
  const consumer = new ons.Consumer({ ...where, consumerGroup: "C" });
  // A close fails where it cuts off a held pull request.
  context.after(() => Promise.allSettled([consumer.close(), producer.close()]));
  // This client does not let a broker create a topic.
  const words = ["rmqc", "produce", "-n", container.nameServer, "T", "first"];
  assert.equal((await container.exec(words)).exitCode, 0);
  await producer.ready();
  const sent = await producer.send(new ons.Message("T", "tag", "a body"));
  assert.equal(sent.sendStatus, "SEND_OK");
  const received = new Promise((resolve) =>
    consumer.subscribe("T", "tag", async (message) => resolve(message)),
  );
  await consumer.ready();
  const message = await received;
  assert.equal(message.body.toString(), "a body");
  assert.equal(message.msgId, sent.msgId);
});
