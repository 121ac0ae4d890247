/*
 * Puts the Node client ali-ons under test: lines in, lines out.
 *
 * docs/client_adapter.md says what the lines are. NODE_PATH says where the client is.
 */
'use strict';

const out = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr); // the client's is no line of ours
console.log = console.error;

const readline = require('readline');
const { Consumer, Message, Producer } = require('ali-ons');
const { version } = require('ali-ons/package.json');

const REBALANCE_MS = 2000; // 10 s by default; the same is done, only sooner
const BEGINNINGS = { first: 'CONSUME_FROM_FIRST_OFFSET', last: 'CONSUME_FROM_LAST_OFFSET' };
const COMMON = {
  instance_name: 'instanceName',
  client_ip: 'clientIP',
  heartbeat_ms: 'heartbeatBrokerInterval',
  route_poll_ms: 'pollNameServerInteval',
  persist_ms: 'persistConsumerOffsetInterval',
};
const OF_PRODUCERS = {
  ...COMMON,
  send_timeout_ms: 'sendMsgTimeout',
  retries: 'retryTimesWhenSendFailed',
  retry_not_stored: 'retryAnotherBrokerWhenNotStoreOK',
  compress_over: 'compressMsgBodyOverHowmuch',
  max_message_size: 'maxMessageSize',
  default_queue_count: 'defaultTopicQueueNums',
  create_topic_key: 'createTopicKey',
};
const OF_CONSUMERS = {
  ...COMMON,
  pull_batch: 'pullBatchSize',
  threshold_count: 'pullThresholdForQueue',
  threads: 'parallelConsumeLimit',
  max_reconsume: 'maxReconsumeTimes',
};
const NOT_SET = { vip: false, latency: false, allocation: 'AVG' }; // what it is without them
const KINDS = [
  [/timeout/i, 'timeout'],
  [/ECONN|connect|socket/i, 'connect'],
];
const refuse = async () => { throw new Error('nobody outside is asked'); };
const quiet = { debug() {}, info() {}, warn: console.error, error: console.error };
const named = new Map(); // clients that were started, by name; stopped ones stay
const living = new Set();
const gates = new Map(); // what lets a held message go
const lanes = new Map();
let instances = 0;

class Unsupported extends Error {}

class Failed extends Error {
  constructor(cause) {
    super(String(cause), { cause });
  }
}

function write(line) {
  out(JSON.stringify(line) + '\n');
}

async function ofClient(call) {
  try {
    return await call();
  } catch (error) {
    throw new Failed(error);
  }
}

function kindOf(error) {
  if (error.name === 'MQClientException' && Number.isInteger(error.code)) return 'broker';
  const text = `${error.name} ${error.code} ${error.message}`;
  const found = KINDS.find(([pattern]) => pattern.test(text));
  return found ? found[1] : 'client';
}

function settings(request, names) {
  const found = {
    nameSrv: request.namesrv.split(';'),
    httpclient: { request: refuse },
    logger: quiet,
    instanceName: `adapter-${process.pid}-${++instances}`,
    rebalanceInterval: REBALANCE_MS,
  };
  for (const [option, value] of Object.entries(request.options || {})) {
    if (names[option]) found[names[option]] = value;
    else if (NOT_SET[option] !== value) throw new Unsupported(`option ${option} ${value}`);
  }
  return found;
}

async function begun(name, client) {
  client.on('error', error => console.error(String(error)));
  named.set(name, client);
  living.add(client);
  await ofClient(() => client.ready());
  return {};
}

function bodyOf(message) {
  return (message.body || Buffer.alloc(0)).toString('base64');
}

function told(message, queue) {
  const tags = message.tags === undefined ? {} : { tags: message.tags };
  const keys = message.keys === undefined ? {} : { keys: message.keys };
  return {
    topic: message.topic,
    broker: queue.brokerName,
    queue_id: message.queueId,
    queue_offset: String(message.queueOffset),
    body: bodyOf(message),
    ...tags,
    ...keys,
    properties: message.properties,
    reconsume_times: message.reconsumeTimes,
    message_id: message.msgId,
  };
}

function made(line) {
  const body = line.body === undefined ? undefined : Buffer.from(line.body, 'base64');
  const message = 'tags' in line
    ? new Message(line.topic, line.tags, body) : new Message(line.topic, body);
  if ('keys' in line) message.keys = line.keys.split(' ');
  Object.assign(message.properties, line.properties);
  if ('delay_level' in line) message.delayTimeLevel = line.delay_level;
  if ('wait_store' in line) message.waitStoreMsgOK = line.wait_store;
  if ('flag' in line) message.flag = line.flag;
  return message;
}

async function deliver(request, deliveries, message, queue) {
  const keys = message.keys;
  const words = (request.outcomes || {})[keys] || [];
  const number = deliveries.get(keys) || 0;
  deliveries.set(keys, number + 1);
  write({ event: 'message', consumer: request.name, message: told(message, queue) });
  switch (words[number]) {
    case 'later':
      return Consumer.ACTION_RETRY;
    case 'fail':
      throw new Error('the application failed, as it was told');
    case 'hold':
      await new Promise(release => gates.set(`${request.name} ${keys}`, release));
      return undefined;
    default:
      return undefined;
  }
}

const verbs = {
  hello: async () => ({
    adapter: 'node',
    client: `ali-ons ${version}`,
    release: '4.6.0',
    language: 'JAVA',
    features: ['sync', 'lanes', 'push', 'broadcast'],
    intervals: { rebalance_ms: REBALANCE_MS },
  }),

  async producer(request) {
    const options = { ...settings(request, OF_PRODUCERS), producerGroup: request.group };
    return begun(request.name, new Producer(options));
  },

  async send(request) {
    for (const field of ['messages', 'select', 'transaction', 'timeout_ms']) {
      if (field in request) throw new Unsupported(`sends with ${field}`);
    }
    if (request.mode !== 'sync') throw new Unsupported(`mode ${request.mode}`);
    const message = made(request.message);
    const sent = await ofClient(() => named.get(request.producer).send(message));
    return {
      status: sent.sendStatus,
      message_id: sent.msgId,
      topic: sent.messageQueue.topic,
      broker: sent.messageQueue.brokerName,
      queue_id: Number(sent.messageQueue.queueId),
      queue_offset: String(sent.queueOffset),
      body_after: bodyOf(message),
    };
  },

  async consumer(request) {
    if (request.kind !== 'push') throw new Unsupported(`kind ${request.kind}`);
    if (request.order === 'orderly') throw new Unsupported('reading in order');
    const options = {
      ...settings(request, OF_CONSUMERS),
      consumerGroup: request.group,
      isBroadcast: request.model === 'broadcasting',
      consumeFromWhere: BEGINNINGS[request.from || 'last'],
    };
    const consumer = new Consumer(options);
    const deliveries = new Map();
    for (const { topic, expression, type } of request.subscriptions) {
      if (type !== undefined && type !== 'TAG') throw new Unsupported(`type ${type}`);
      const handler = async (...given) => deliver(request, deliveries, ...given);
      consumer.subscribe(topic, expression, handler);
    }
    return begun(request.name, consumer);
  },

  async release(request) {
    gates.get(`${request.consumer} ${request.keys}`)();
    return {};
  },

  async stop(request) {
    const client = named.get(request.name);
    await ofClient(() => client.close());
    living.delete(client);
    if (!living.size && Producer.defaultProducer) {
      // The hidden producer that the first client made for all: with a program it ends.
      const hidden = Producer.defaultProducer;
      Producer.defaultProducer = undefined;
      await hidden.close().catch(error => console.error(String(error)));
    }
    return {};
  },
};
const UNORDERED = ['hello', 'release', 'stop'];

async function perform(request) {
  try {
    if (!(request.verb in verbs)) throw new Unsupported(request.verb);
    write({ id: request.id, result: await verbs[request.verb](request) });
  } catch (error) {
    if (error instanceof Unsupported) {
      write({ id: request.id, unsupported: error.message });
    } else if (error instanceof Failed) {
      const { cause } = error;
      const code = Number.isInteger(cause.code) ? cause.code : null;
      write({ id: request.id, error: { kind: kindOf(cause), code, text: String(cause) } });
    } else {
      console.error(error);
      write({ id: request.id, error: { kind: 'adapter', code: null, text: String(error) } });
    }
  }
}

process.on('unhandledRejection', error => console.error(error));
readline.createInterface({ input: process.stdin })
  .on('line', line => {
    const request = JSON.parse(line);
    if (request.verb === 'bye') process.exit(0);
    if (UNORDERED.includes(request.verb)) {
      perform(request);
    } else {
      const lane = request.lane || '0';
      lanes.set(lane, (lanes.get(lane) || Promise.resolve()).then(() => perform(request)));
    }
  })
  .on('close', () => process.exit(0));
