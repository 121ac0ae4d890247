package main

import (
	"encoding/json"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

const virtualNodes = 10 // of AllocateMessageQueueConsistentHash in Java

type queueLine struct {
	Topic   string `json:"topic"`
	Broker  string `json:"broker"`
	QueueID int    `json:"queue_id"`
}

type credentialsLine struct {
	AccessKey     string `json:"access_key"`
	SecretKey     string `json:"secret_key"`
	SecurityToken string `json:"security_token"`
}

// value returns an option as a T.
func value[T any](raw json.RawMessage) T {
	var found T
	if err := json.Unmarshal(raw, &found); err != nil {
		panic(err)
	}
	return found
}

func credentials(raw json.RawMessage) primitive.Credentials {
	return primitive.Credentials(value[credentialsLine](raw))
}

func milliseconds(raw json.RawMessage) time.Duration {
	return time.Duration(value[int64](raw)) * time.Millisecond
}

// ofProducer returns the options of a producer, but for "check".
func ofProducer(options map[string]json.RawMessage) ([]producer.Option, error) {
	var found []producer.Option
	for name, raw := range options {
		switch name {
		case "check":
		case "send_timeout_ms":
			found = append(found, producer.WithSendMsgTimeout(milliseconds(raw)))
		case "retries":
			found = append(found, producer.WithRetry(value[int](raw)))
		case "compress_over":
			found = append(found, producer.WithCompressMsgBodyOverHowmuch(value[int](raw)))
		case "default_queue_count":
			found = append(found, producer.WithDefaultTopicQueueNums(value[int](raw)))
		case "create_topic_key":
			found = append(found, producer.WithCreateTopicKey(value[string](raw)))
		case "instance_name":
			found = append(found, producer.WithInstanceName(value[string](raw)))
		case "vip":
			found = append(found, producer.WithVIPChannel(value[bool](raw)))
		case "credentials":
			found = append(found, producer.WithCredentials(credentials(raw)))
		case "latency", "retry_not_stored":
			if value[bool](raw) {
				return nil, unsupported("option " + name)
			}
		default:
			return nil, unsupported("option " + name)
		}
	}
	return found, nil
}

// ofConsumer returns the options of a push consumer.
func ofConsumer(options map[string]json.RawMessage) ([]consumer.Option, error) {
	var found []consumer.Option
	for name, raw := range options {
		switch name {
		case "rooms", "own_queues": // parameters of the allocation
		case "allocation":
			strategy, err := allocation(options)
			if err != nil {
				return nil, err
			}
			found = append(found, consumer.WithStrategy(strategy))
		case "pull_batch":
			found = append(found, consumer.WithPullBatchSize(value[int32](raw)))
		case "threshold_count":
			found = append(found, consumer.WithPullThresholdForQueue(value[int64](raw)))
		case "threshold_mib":
			found = append(found, consumer.WithPullThresholdSizeForQueue(value[int](raw)))
		case "topic_threshold_count":
			found = append(found, consumer.WithPullThresholdForTopic(value[int](raw)))
		case "threads":
			found = append(found, consumer.WithConsumeGoroutineNums(value[int](raw)))
		case "max_reconsume":
			found = append(found, consumer.WithMaxReconsumeTimes(value[int32](raw)))
		case "instance_name":
			found = append(found, consumer.WithInstance(value[string](raw)))
		case "vip":
			found = append(found, consumer.WithVIPChannel(value[bool](raw)))
		case "credentials":
			found = append(found, consumer.WithCredentials(credentials(raw)))
		default:
			return nil, unsupported("option " + name)
		}
	}
	return found, nil
}

func allocation(options map[string]json.RawMessage) (consumer.AllocateStrategy, error) {
	switch rule := value[string](options["allocation"]); rule {
	case "AVG":
		return consumer.AllocateByAveragely, nil
	case "AVG_BY_CIRCLE":
		return consumer.AllocateByAveragelyCircle, nil
	case "CONSISTENT_HASH":
		return consumer.AllocateByConsistentHash(virtualNodes), nil
	case "MACHINE_ROOM":
		return consumer.AllocateByMachineRoom(value[[]string](options["rooms"])), nil
	case "CONFIG":
		var queues []*primitive.MessageQueue
		for _, one := range value[[]queueLine](options["own_queues"]) {
			queues = append(queues, &primitive.MessageQueue{
				Topic: one.Topic, BrokerName: one.Broker, QueueId: one.QueueID})
		}
		return consumer.AllocateByConfig(queues), nil
	default:
		return nil, unsupported("allocation " + rule)
	}
}
