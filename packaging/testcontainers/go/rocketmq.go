// Package rocketmqcontainer is a RocketMQ broker for tests, as a Testcontainers module.
//
// The container runs "rmqc serve", a name server and a broker. A route contains the
// broker's address, so a port has the same number inside and outside of the container.
package rocketmqcontainer

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const config = "/tmp/broker.conf"

// Options describe the broker.
type Options struct {
	// Image is the container image of the project.
	Image string
	// Settings are lines of broker.conf, such as "defaultTopicQueueNums": "4".
	Settings map[string]string
	// Faults let the broker misbehave, as in "busy:10%"; "rmqc serve --help" lists them.
	Faults []string
}

// Container is a running name server and broker.
type Container struct {
	testcontainers.Container
	// NameServer is the address for clients.
	NameServer string
}

// Run starts a broker and waits until clients can use it.
func Run(ctx context.Context, options Options) (*Container, error) {
	nameServer, err := freePort()
	if err != nil {
		return nil, err
	}
	broker, err := freePort()
	if err != nil {
		return nil, err
	}
	words := []string{"serve", "--host", "0.0.0.0", "--store", "/tmp/store", "-c", config,
		"--namesrv-port", nameServer, "--broker-port", broker}
	for _, fault := range options.Faults {
		words = append(words, "--fault", fault)
	}
	lines := "brokerIP1=127.0.0.1\n"
	for name, value := range options.Settings {
		lines += fmt.Sprintf("%s=%s\n", name, value)
	}
	started, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        options.Image,
			Cmd:          words,
			ExposedPorts: []string{nameServer + "/tcp", broker + "/tcp"},
			Files: []testcontainers.ContainerFile{{
				Reader: strings.NewReader(lines), ContainerFilePath: config, FileMode: 0o644,
			}},
			HostConfigModifier: func(host *container.HostConfig) {
				host.PortBindings = nat.PortMap{}
				for _, port := range []string{nameServer, broker} {
					binding := nat.PortBinding{HostIP: "127.0.0.1", HostPort: port}
					host.PortBindings[nat.Port(port+"/tcp")] = []nat.PortBinding{binding}
				}
			},
			WaitingFor: wait.ForLog("ready namesrv="),
		},
		Started: true,
	})
	if err != nil {
		return nil, err
	}
	return &Container{started, net.JoinHostPort("127.0.0.1", nameServer)}, nil
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), nil
}
