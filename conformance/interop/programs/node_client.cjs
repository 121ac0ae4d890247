/*
 * A program on the Node client ali-ons 3.12.
 *
 *     node node_client.cjs NAMESRV TOPIC COUNT SECONDS
 *
 * It sends, then consumes in three groups (all, by tag, by SQL92) until they have COUNT
 * messages together or SECONDS have passed, and prints a line of JSON for each thing
 * that happened.
 */
'use strict';

const { Consumer, Message, Producer } = require('ali-ons');

const [nameSrv, topic, count, seconds] = process.argv.slice(2);
const refuse = async () => { throw new Error('nobody outside is asked'); };
const settings = {
  nameSrv,
  httpclient: { request: refuse },
  accessKeyId: 'none',
  accessKeySecret: 'none',
};
const groups = {
  node_group: '*',
  node_tags: 'B',
  node_sql: { expressionType: 'SQL92', subString: "a > 1.5 AND TAGS = 'A'" },
};
const REFUSED_ONCE = 'sync 1';

const say = what => console.log(JSON.stringify(what));
const complain = error => console.error(String(error));

async function produce() {
  const producer = new Producer({ ...settings, producerGroup: 'node_producer' });
  producer.on('error', complain);
  await producer.ready();
  const send = async (did, body, tag = 'A', level = 0) => {
    const message = new Message(topic, tag, body);
    message.keys = ['k1', 'k2'];
    message.properties = { ...message.properties, own: 'value', a: '7' };
    if (level) message.delayTimeLevel = level;
    const sent = await producer.send(message);
    say({ did, status: sent.sendStatus });
  };
  for (const number of [0, 1, 2, 3]) await send('sync', `sync ${number}`, 'AB'[number % 2]);
  await send('text', 'grüße 中文 😀');
  await send('large', 'x'.repeat(100_000));
  await send('delayed', 'delayed', 'A', 1);
  await producer.close();
}

async function consume(group, filter, done) {
  const consumer = new Consumer({ ...settings, consumerGroup: group });
  consumer.on('error', complain);
  let refused = false;
  consumer.subscribe(topic, filter, async message => {
    const body = message.body.toString();
    if (group === 'node_group' && body === REFUSED_ONCE && !refused) {
      refused = true;
      return Consumer.ACTION_RETRY;
    }
    done.add(`${group} ${body}`);
    say({
      group,
      got: body.slice(0, 20),
      size: body.length,
      tags: message.tags,
      keys: message.keys,
      own: message.properties.own,
    });
  });
  await consumer.ready();
  return consumer;
}

(async () => {
  await produce();
  const done = new Set();
  const started = Object.entries(groups).map(([group, filter]) => consume(group, filter, done));
  const consumers = await Promise.all(started);
  const deadline = Date.now() + Number(seconds) * 1000;
  while (done.size < Number(count) && Date.now() < deadline) {
    await new Promise(next => setTimeout(next, 50));
  }
  for (const consumer of consumers) await consumer.close();
  process.exit(0);
})().catch(error => { complain(error.stack); process.exit(1); });
