package main

import (
	"context"
	"errors"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

type consumers struct {
	adapter *adapter
	mutex   sync.Mutex
	named   map[string]*application
}

func newConsumers(a *adapter) *consumers {
	return &consumers{adapter: a, named: map[string]*application{}}
}

func (all *consumers) find(name string) *application {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	return all.named[name]
}

func (all *consumers) start(line *request) (object, error) {
	if line.Kind != "push" {
		return nil, unsupported("kind " + line.Kind)
	}
	options, err := ofConsumer(line.Options)
	if err != nil {
		return nil, err
	}
	model, from := consumer.Clustering, consumer.ConsumeFromLastOffset
	if line.Model == "broadcasting" {
		model = consumer.BroadCasting
	}
	if line.From == "first" {
		from = consumer.ConsumeFromFirstOffset
	}
	options = append([]consumer.Option{
		consumer.WithNameServer(line.names()), consumer.WithGroupName(line.Group),
		consumer.WithInstance(instance()), consumer.WithConsumerModel(model),
		consumer.WithConsumeFromWhere(from), consumer.WithConsumerOrder(line.Order == "orderly"),
		consumer.WithRebalanceLockInterval(lockMs * time.Millisecond),
	}, options...)
	made, err := rocketmq.NewPushConsumer(options...)
	if err != nil {
		return nil, failed{err}
	}
	own := &application{adapter: all.adapter, line: line, consumer: made,
		deliveries: map[string]int{}, gates: map[string]chan struct{}{}}
	all.mutex.Lock()
	all.named[line.Name] = own
	all.mutex.Unlock()
	for _, one := range line.Subscriptions {
		selector := consumer.MessageSelector{Type: consumer.TAG, Expression: one.Expression}
		if one.Type == "SQL92" {
			selector.Type = consumer.SQL92
		}
		if err := made.Subscribe(one.Topic, selector, own.consume); err != nil {
			return nil, failed{err}
		}
	}
	if err := made.Start(); err != nil {
		return nil, failed{err}
	}
	return object{}, nil
}

func (all *consumers) stop(name string) (object, error) {
	if err := all.find(name).consumer.Shutdown(); err != nil {
		return nil, failed{err}
	}
	return object{}, nil
}

func (all *consumers) release(line *request) (object, error) {
	all.find(line.Consumer).gate(line.Keys) <- struct{}{}
	return object{}, nil
}

// application is the listener of a consumer.
type application struct {
	adapter    *adapter
	line       *request
	consumer   rocketmq.PushConsumer
	mutex      sync.Mutex
	deliveries map[string]int
	gates      map[string]chan struct{}
}

// consume writes an event for a message, and returns the requested outcome.
func (own *application) consume(
	ctx context.Context, messages ...*primitive.MessageExt,
) (consumer.ConsumeResult, error) {
	message, broker, later := messages[0], "", consumer.ConsumeRetryLater
	if own.line.Order == "orderly" {
		later = consumer.SuspendCurrentQueueAMoment
	}
	if in, has := primitive.GetOrderlyCtx(ctx); has {
		broker = in.MQ.BrokerName
	} else if in, has := primitive.GetConcurrentlyCtx(ctx); has {
		broker = in.MQ.BrokerName
	}
	outcome := own.outcome(message.GetKeys())
	own.adapter.event("message", object{"consumer": own.line.Name, "message": shown(message, broker)})
	switch outcome {
	case "later":
		return later, nil
	case "fail": // an error is what a Go listener has for an exception
		return later, errors.New("the application failed, as requested")
	case "hold":
		<-own.gate(message.GetKeys())
	}
	return consumer.ConsumeSuccess, nil
}

func (own *application) outcome(keys string) string {
	own.mutex.Lock()
	defer own.mutex.Unlock()
	number := own.deliveries[keys]
	own.deliveries[keys] = number + 1
	if words := own.line.Outcomes[keys]; number < len(words) {
		return words[number]
	}
	return "success"
}

func (own *application) gate(keys string) chan struct{} {
	own.mutex.Lock()
	defer own.mutex.Unlock()
	if own.gates[keys] == nil {
		own.gates[keys] = make(chan struct{}, 100)
	}
	return own.gates[keys]
}
