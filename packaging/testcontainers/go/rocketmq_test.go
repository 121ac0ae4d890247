package rocketmqcontainer

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

func TestAMessageIsReceivedAsItWasSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	image := os.Getenv("RMQC_IMAGE")
	if image == "" {
		image = "rmqc"
	}
	broker, err := Run(ctx, Options{Image: image})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Terminate(context.Background())
	names := []string{broker.NameServer}

	sender, err := rocketmq.NewProducer(producer.WithNameServer(names), producer.WithGroupName("P"))
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Start(); err != nil {
		t.Fatal(err)
	}
	defer sender.Shutdown()
	sent, err := sender.SendSync(ctx, primitive.NewMessage("T", []byte("a body")))
	if err != nil || sent.Status != primitive.SendOK {
		t.Fatalf("not sent: %v, %v", sent, err)
	}

	received := make(chan *primitive.MessageExt, 1)
	receiver, err := rocketmq.NewPushConsumer(consumer.WithNameServer(names), consumer.WithGroupName("C"),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		t.Fatal(err)
	}
	err = receiver.Subscribe("T", consumer.MessageSelector{},
		func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
			received <- messages[0]
			return consumer.ConsumeSuccess, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	defer receiver.Shutdown()
	select {
	case message := <-received:
		if string(message.Body) != "a body" || message.MsgId != sent.MsgID {
			t.Fatalf("received %v, sent %v", message, sent)
		}
	case <-ctx.Done():
		t.Fatal("no message in time")
	}
}
