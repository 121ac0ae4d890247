package main

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// request is a line of the suite. Pointers are fields that may be missing.
type request struct {
	ID            json.RawMessage            `json:"id"`
	Verb          string                     `json:"verb"`
	Lane          string                     `json:"lane"`
	Name          string                     `json:"name"`
	Namesrv       string                     `json:"namesrv"`
	Group         string                     `json:"group"`
	Options       map[string]json.RawMessage `json:"options"`
	Producer      string                     `json:"producer"`
	Consumer      string                     `json:"consumer"`
	Mode          string                     `json:"mode"`
	Message       *messageLine               `json:"message"`
	Messages      []*messageLine             `json:"messages"`
	Select        *int                       `json:"select"`
	Transaction   *string                    `json:"transaction"`
	TimeoutMs     *int64                     `json:"timeout_ms"`
	Properties    map[string]string          `json:"properties"`
	Body          []byte                     `json:"body"`
	Kind          string                     `json:"kind"`
	Model         string                     `json:"model"`
	Order         string                     `json:"order"`
	From          string                     `json:"from"`
	Subscriptions []subscription             `json:"subscriptions"`
	Outcomes      map[string][]string        `json:"outcomes"`
	Keys          string                     `json:"keys"`
}

type subscription struct {
	Topic      string `json:"topic"`
	Expression string `json:"expression"`
	Type       string `json:"type"`
}

type messageLine struct {
	Topic      string            `json:"topic"`
	Body       []byte            `json:"body"`
	Tags       *string           `json:"tags"`
	Keys       *string           `json:"keys"`
	Properties map[string]string `json:"properties"`
	DelayLevel *int              `json:"delay_level"`
	WaitStore  *bool             `json:"wait_store"`
	Flag       int32             `json:"flag"`
}

// names returns the addresses of the name servers.
func (line *request) names() primitive.NamesrvAddr {
	return strings.Split(line.Namesrv, ";")
}

// context returns the context of a call, which ends with its timeout.
func (line *request) context() (context.Context, context.CancelFunc) {
	if line.TimeoutMs == nil {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), time.Duration(*line.TimeoutMs)*time.Millisecond)
}

// made returns the application's message.
func (line *messageLine) made() *primitive.Message {
	message := primitive.NewMessage(line.Topic, line.Body)
	message.Flag = line.Flag
	if line.Tags != nil {
		message.WithTag(*line.Tags)
	}
	if line.Keys != nil {
		message.WithKeys(strings.Split(*line.Keys, " "))
	}
	for name, value := range line.Properties {
		message.WithProperty(name, value)
	}
	if line.DelayLevel != nil {
		message.WithDelayTimeLevel(*line.DelayLevel)
	}
	if line.WaitStore != nil {
		message.WithProperty(primitive.PropertyWaitStoreMsgOk, strconv.FormatBool(*line.WaitStore))
	}
	return message
}

// shown returns a received message as a line has it.
func shown(message *primitive.MessageExt, broker string) object {
	properties := message.GetProperties()
	result := object{
		"topic": message.Topic, "queue_id": message.Queue.QueueId,
		"queue_offset": strconv.FormatInt(message.QueueOffset, 10), "body": message.Body,
		"properties": properties, "reconsume_times": message.ReconsumeTimes,
		"message_id": message.MsgId, "offset_message_id": message.OffsetMsgId,
	}
	for field, name := range map[string]string{"tags": "TAGS", "keys": "KEYS"} {
		if value, has := properties[name]; has {
			result[field] = value
		}
	}
	if broker != "" {
		result["broker"] = broker
	}
	return result
}

var statuses = map[primitive.SendStatus]string{
	primitive.SendOK: "SEND_OK", primitive.SendFlushDiskTimeout: "FLUSH_DISK_TIMEOUT",
	primitive.SendFlushSlaveTimeout: "FLUSH_SLAVE_TIMEOUT",
	primitive.SendSlaveNotAvailable: "SLAVE_NOT_AVAILABLE",
}

// sent returns the result of a send; message is nil for batches.
func sent(result *primitive.SendResult, message *primitive.Message) object {
	line := object{
		"status": statuses[result.Status], "message_id": result.MsgID,
		"offset_message_id": result.OffsetMsgID,
		"queue_offset":      strconv.FormatInt(result.QueueOffset, 10),
	}
	if queue := result.MessageQueue; queue != nil {
		line["topic"], line["broker"], line["queue_id"] = queue.Topic, queue.BrokerName, queue.QueueId
	}
	if message != nil {
		line["body_after"] = message.Body
	}
	return line
}

// code matches the response code, which the client's errors have in their text alone.
var code = regexp.MustCompile(`CODE: (-?\d+),? +DESC:`)

func failure(cause error) object {
	text := cause.Error()
	line := object{"kind": "client", "code": nil, "text": text}
	if found := code.FindStringSubmatch(text); found != nil {
		line["kind"] = "broker"
		line["code"] = json.RawMessage(found[1])
	} else if strings.Contains(text, "timeout") || strings.Contains(text, "deadline exceeded") {
		line["kind"] = "timeout"
	} else if strings.Contains(text, "dial tcp") || strings.Contains(text, "connection") {
		line["kind"] = "connect"
	}
	return line
}
