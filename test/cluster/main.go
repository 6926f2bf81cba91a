package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"locus/config/etcd/embedded"
	"locus/internal/test/servers"
)

// variable makes the test's binary a process of a cluster. Its value is the process's role.
const variable = "LOCUS_TEST_CLUSTER_PROCESS"

// role determines the task of a cluster's process. One of its fields is set.
type role struct {
	Etcd  *etcdRole
	Proxy *proxyRole
}

// Main runs the tests of a package that starts clusters, or the process of a cluster if this process is one. Changes are changes of the
// proxies' wiring that the package's tests select with [Proxy.Wiring].
func Main(m *testing.M, changes map[string]Change) {
	RunProcess(changes)
	servers.Main(m)
}

// RunProcess returns at once in a process that runs tests. In a process of a cluster it runs the process and exits. Packages that do more
// in TestMain than [Main] does call it first.
func RunProcess(changes map[string]Change) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	if err := runRole(text, changes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runRole(text string, changes map[string]Change) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if r.Etcd != nil {
		return r.Etcd.run(ctx)
	}
	return r.Proxy.run(ctx, changes)
}

// etcdRole is an etcd of one node.
type etcdRole struct {
	Dir  string
	Port int // 0: a free one
}

func (r etcdRole) run(ctx context.Context) error {
	server, err := embedded.Start(ctx, embedded.Config{Dir: r.Dir, Port: r.Port, Unflushed: true})
	if err != nil {
		return err
	}
	fmt.Println("serving", server.Endpoint())
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-server.Err():
		return err
	}
}
