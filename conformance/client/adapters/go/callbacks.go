package main

import (
	"sync"

	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// positions has the position of the selected queue, by message.
var positions sync.Map

// selector returns the requested queue of a message, else that of the client's selector.
type selector struct{ next producer.QueueSelector }

func newSelector() producer.QueueSelector {
	return selector{producer.NewRoundRobinQueueSelector()}
}

func (one selector) Select(
	message *primitive.Message, queues []*primitive.MessageQueue, lastBroker string,
) *primitive.MessageQueue {
	if position, has := positions.Load(message); has {
		return queues[position.(int)]
	}
	return one.next.Select(message, queues, lastBroker)
}

// listener is the transaction listener of a producer: it returns the requested states.
type listener struct {
	adapter  *adapter
	name     string
	check    string
	outcomes sync.Map
}

func (one *listener) ExecuteLocalTransaction(message *primitive.Message) primitive.LocalTransactionState {
	one.adapter.event("local", object{"producer": one.name, "transaction_id": message.TransactionId})
	outcome, _ := one.outcomes.LoadAndDelete(message)
	return state(outcome.(string))
}

func (one *listener) CheckLocalTransaction(message *primitive.MessageExt) primitive.LocalTransactionState {
	one.adapter.event("check", object{"producer": one.name, "message": shown(message, "")})
	return state(one.check)
}

func state(outcome string) primitive.LocalTransactionState {
	switch outcome {
	case "commit":
		return primitive.CommitMessageState
	case "rollback":
		return primitive.RollbackMessageState
	case "unknown":
		return primitive.UnknowState
	}
	panic("the application failed, as requested")
}
