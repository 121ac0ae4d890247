// Command adapter puts the Go client under test: lines in, lines out.
//
// docs/client_adapter.md describes the lines. This file reads and writes them, and runs
// each request on the goroutine of its lane, by a method of producers or consumers.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

const (
	client  = "github.com/apache/rocketmq-client-go/v2"
	release = "4.6.0" // the request and reply of 4.6, and nothing of 5.0
	// The client's own constants, which no option changes.
	rebalanceMs, heartbeatMs, routePollMs, persistMs = 20_000, 30_000, 30_000, 5_000
	lockLivesMs                                      = 30_000
	lockMs                                           = 2_000 // WithRebalanceLockInterval, 20 s by default
)

var features = []string{"sync", "async", "oneway", "batch", "select", "transaction",
	"request", "reply", "lanes", "vip", "push", "orderly", "broadcast", "acl"}

type object = map[string]any

// unsupported is a verb, an option or a value that the client lacks.
type unsupported string

func (one unsupported) Error() string { return string(one) }

// failed is an error of the client: a result, not an error of the adapter.
type failed struct{ error }

// answeredLater is the error of a verb whose answer a callback writes.
type answeredLater struct{ error }

type adapter struct {
	out       *os.File
	writing   sync.Mutex
	producers *producers
	consumers *consumers
}

func main() {
	out := os.Stdout
	os.Stdout = os.Stderr // the client's output is not a line of ours
	// Without a handler, a panic of the client's goroutines ends the process.
	primitive.PanicHandler = func(cause any) {
		fmt.Fprintf(os.Stderr, "panic in the client: %v\n%s", cause, debug.Stack())
	}
	made := &adapter{out: out}
	made.producers = newProducers(made)
	made.consumers = newConsumers(made)
	made.read()
}

func (a *adapter) read() {
	lanes := map[string]chan *request{}
	lines := bufio.NewReader(os.Stdin)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		line := new(request)
		if err := json.Unmarshal(text, line); err != nil {
			panic(err)
		}
		switch line.Verb {
		case "bye":
			return
		case "hello", "release", "stop":
			go a.perform(line)
			continue
		}
		lane := lanes[line.Lane]
		if lane == nil {
			lane = make(chan *request, 1000)
			lanes[line.Lane] = lane
			go func() {
				for one := range lane {
					a.perform(one)
				}
			}()
		}
		lane <- line
	}
}

func (a *adapter) perform(line *request) {
	defer func() {
		if cause := recover(); cause != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", cause, debug.Stack())
			a.answer(line, "error", object{"kind": "adapter", "code": nil, "text": fmt.Sprint(cause)})
		}
	}()
	result, err := a.result(line)
	switch cause := err.(type) {
	case nil:
		a.answer(line, "result", result)
	case unsupported:
		a.answer(line, "unsupported", string(cause))
	case failed:
		a.answer(line, "error", failure(cause.error))
	case answeredLater:
	default:
		a.answer(line, "error", object{"kind": "adapter", "code": nil, "text": err.Error()})
	}
}

func (a *adapter) result(line *request) (object, error) {
	switch line.Verb {
	case "hello":
		return hello(), nil
	case "producer":
		return a.producers.start(line)
	case "send":
		return a.producers.send(line)
	case "request":
		return a.producers.request(line)
	case "reply":
		return a.producers.reply(line)
	case "consumer":
		return a.consumers.start(line)
	case "release":
		return a.consumers.release(line)
	case "stop":
		if stopped, err := a.producers.stop(line.Name); stopped {
			return object{}, err
		}
		return a.consumers.stop(line.Name)
	}
	return nil, unsupported(line.Verb)
}

func hello() object {
	version := "unknown"
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, one := range built.Deps {
			if one.Path == client {
				version = one.Version[1:]
			}
		}
	}
	return object{
		"adapter": "go", "client": "rocketmq-client-go " + version,
		"release": release, "language": "GO", "features": features,
		"intervals": object{"rebalance_ms": rebalanceMs, "lock_ms": lockMs,
			"lock_lives_ms": lockLivesMs, "heartbeat_ms": heartbeatMs,
			"route_poll_ms": routePollMs, "persist_ms": persistMs},
	}
}

// answer writes the response to a request; it may be called from any goroutine.
func (a *adapter) answer(line *request, kind string, value any) {
	a.write(object{"id": line.ID, kind: value})
}

// event writes an event with these fields.
func (a *adapter) event(name string, fields object) {
	fields["event"] = name
	a.write(fields)
}

func (a *adapter) write(line object) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	a.writing.Lock()
	defer a.writing.Unlock()
	a.out.Write(append(text, '\n'))
}
