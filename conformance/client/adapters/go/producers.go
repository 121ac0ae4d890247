package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

const requestTimeout = 3 * time.Second

var instances atomic.Int64

// instance returns a name that no other client of the process has.
func instance() string {
	return "adapter-" + strconv.FormatInt(instances.Add(1), 10)
}

// started is a producer of one of the client's two kinds; the other is nil.
type started struct {
	plain       rocketmq.Producer
	transaction rocketmq.TransactionProducer
	listener    *listener
}

type producers struct {
	adapter *adapter
	mutex   sync.Mutex
	named   map[string]*started
}

func newProducers(a *adapter) *producers {
	return &producers{adapter: a, named: map[string]*started{}}
}

func (all *producers) find(name string) *started {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	return all.named[name]
}

func (all *producers) start(line *request) (object, error) {
	options, err := ofProducer(line.Options)
	if err != nil {
		return nil, err
	}
	options = append([]producer.Option{
		producer.WithNameServer(line.names()), producer.WithGroupName(line.Group),
		producer.WithInstanceName(instance()), producer.WithQueueSelector(newSelector()),
	}, options...)
	made := &started{}
	if check, has := line.Options["check"]; has {
		made.listener = &listener{adapter: all.adapter, name: line.Name, check: value[string](check)}
		made.transaction, err = rocketmq.NewTransactionProducer(made.listener, options...)
	} else {
		made.plain, err = rocketmq.NewProducer(options...)
	}
	if err == nil && made.transaction != nil {
		err = made.transaction.Start()
	} else if err == nil {
		err = made.plain.Start()
	}
	if err != nil {
		return nil, failed{err}
	}
	all.mutex.Lock()
	defer all.mutex.Unlock()
	all.named[line.Name] = made
	return object{}, nil
}

// stop reports whether there is such a producer. It stays, to refuse later sends.
func (all *producers) stop(name string) (bool, error) {
	made := all.find(name)
	if made == nil {
		return false, nil
	}
	stop := func() error { return made.plain.Shutdown() }
	if made.transaction != nil {
		stop = made.transaction.Shutdown
	}
	if err := stop(); err != nil {
		return true, failed{err}
	}
	return true, nil
}

func (all *producers) send(line *request) (object, error) {
	made := all.find(line.Producer)
	if line.Transaction != nil {
		return sendInTransaction(made, line)
	}
	if made.plain == nil {
		return nil, unsupported("a producer of transactions sends nothing else")
	}
	var messages []*primitive.Message
	var one *primitive.Message
	for _, message := range line.Messages {
		messages = append(messages, message.made())
	}
	if line.Message != nil {
		one = line.Message.made()
		messages = append(messages, one)
	}
	ctx, cancel := line.context()
	if line.Select != nil {
		positions.Store(messages[0], *line.Select)
		defer positions.Delete(messages[0])
	}
	switch line.Mode {
	case "sync":
		defer cancel()
		result, err := made.plain.SendSync(ctx, messages...)
		if err != nil {
			return nil, failed{err}
		}
		return sent(result, one), nil
	case "oneway":
		defer cancel()
		if err := made.plain.SendOneWay(ctx, messages...); err != nil {
			return nil, failed{err}
		}
		return object{}, nil
	case "async":
		return nil, all.sendAsync(ctx, cancel, made, line, messages, one)
	}
	cancel()
	return nil, unsupported("mode " + line.Mode)
}

func (all *producers) sendAsync(
	ctx context.Context, cancel context.CancelFunc, made *started, line *request,
	messages []*primitive.Message, one *primitive.Message,
) error {
	var first sync.Once // after an error the client calls back twice
	callback := func(_ context.Context, result *primitive.SendResult, err error) {
		first.Do(func() {
			cancel()
			if err != nil {
				all.adapter.answer(line, "error", failure(err))
			} else {
				all.adapter.answer(line, "result", sent(result, one))
			}
		})
	}
	if err := made.plain.SendAsync(ctx, callback, messages...); err != nil {
		callback(ctx, nil, err)
	}
	return answeredLater{}
}

func sendInTransaction(made *started, line *request) (result object, err error) {
	if made.transaction == nil {
		return nil, unsupported("a transaction of a producer without a listener")
	}
	message := line.Message.made()
	made.listener.outcomes.Store(message, *line.Transaction)
	ctx, cancel := line.context()
	defer cancel()
	defer func() { // a panic of the listener passes through the client
		if cause := recover(); cause != nil {
			err = failed{fmt.Errorf("panic: %v", cause)}
		}
	}()
	answer, cause := made.transaction.SendMessageInTransaction(ctx, message)
	if cause != nil {
		return nil, failed{cause}
	}
	result = sent(answer.SendResult, message)
	result["state"] = map[primitive.LocalTransactionState]string{
		primitive.CommitMessageState: "commit", primitive.RollbackMessageState: "rollback",
		primitive.UnknowState: "unknown"}[answer.State]
	return result, nil
}

func (all *producers) request(line *request) (object, error) {
	made := all.find(line.Producer)
	if made.plain == nil {
		return nil, unsupported("a producer of transactions sends nothing else")
	}
	timeout := requestTimeout
	if line.TimeoutMs != nil {
		timeout = time.Duration(*line.TimeoutMs) * time.Millisecond
	}
	message := line.Message.made()
	if line.Mode != "callback" {
		reply, err := made.plain.Request(context.Background(), timeout, message)
		if err != nil {
			return nil, failed{err}
		}
		return replied(reply), nil
	}
	var first sync.Once
	callback := func(_ context.Context, reply *primitive.Message, err error) {
		first.Do(func() {
			if err != nil {
				all.adapter.answer(line, "error", failure(err))
			} else {
				all.adapter.answer(line, "result", replied(reply))
			}
		})
	}
	if err := made.plain.RequestAsync(context.Background(), timeout, callback, message); err != nil {
		callback(nil, nil, err)
	}
	return nil, answeredLater{errors.New("the callback answers")}
}

func replied(reply *primitive.Message) object {
	if reply == nil {
		return object{"reply": nil}
	}
	return object{"reply": object{
		"topic": reply.Topic, "body": reply.Body, "properties": reply.GetProperties()}}
}

func (all *producers) reply(line *request) (object, error) {
	request := &primitive.MessageExt{}
	request.WithProperties(line.Properties)
	message, err := consumer.CreateReplyMessage(request, line.Body)
	if err != nil {
		return nil, failed{err}
	}
	result, err := all.find(line.Producer).plain.SendSync(context.Background(), message)
	if err != nil {
		return nil, failed{err}
	}
	return sent(result, message), nil
}
