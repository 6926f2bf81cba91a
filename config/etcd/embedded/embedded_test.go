package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"locus/config/etcd/embedded"
	"locus/internal/test/parallel"
)

func TestMain(m *testing.M) {
	parallel.Raise()
	goleak.VerifyTestMain(m)
}

func TestDataSurvivesARestart(t *testing.T) {
	t.Parallel()
	for _, unflushed := range []bool{false, true} {
		t.Run(fmt.Sprintf("unflushed %v", unflushed), func(t *testing.T) { survives(t, unflushed) })
	}
}

func survives(t *testing.T, unflushed bool) {
	t.Helper()
	dir := t.TempDir()
	s := start(t, embedded.Config{Dir: dir, Unflushed: unflushed})
	c := connect(t, s.Endpoint())
	if _, err := c.Put(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	endpoint := s.Endpoint()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = start(t, embedded.Config{Dir: dir, Unflushed: unflushed})
	defer s.Close()
	if s.Endpoint() == endpoint {
		t.Errorf("the free port is %s again", endpoint) // the test means to have two
	}
	c = connect(t, s.Endpoint())
	defer c.Close()
	r, err := c.Get(t.Context(), "k")
	if err != nil || len(r.Kvs) != 1 || string(r.Kvs[0].Value) != "v" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestASecondServerOnTheSameDataIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, embedded.Config{Dir: dir})
	defer s.Close()
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "another process uses this directory") {
		t.Errorf("got %v", err)
	}
}

func TestATakenPortIsAnErrorAndLeavesNothing(t *testing.T) {
	t.Parallel()
	first := start(t, embedded.Config{Dir: t.TempDir()})
	defer first.Close()
	dir := t.TempDir()
	port := portOf(t, first.Endpoint())
	if s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Port: port}); err == nil {
		_ = s.Close()
		t.Fatal("two servers on one port")
	}
	second := start(t, embedded.Config{Dir: dir}) // the lock was given back
	_ = second.Close()
}

func TestStartEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if s, err := embedded.Start(ctx, embedded.Config{Dir: dir}); err == nil {
		_ = s.Close() // it was quicker, which is no fault
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_ = start(t, embedded.Config{Dir: dir}).Close() // no data is left
}

func TestALongLogIsMovedAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "etcd.log")
	if err := os.WriteFile(path, make([]byte, 10<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Config{Dir: dir})
	_ = s.Close()
	now, err := os.Stat(path)
	old, errOld := os.Stat(path + ".old")
	if err != nil || errOld != nil || now.Size() > 1<<20 || old.Size() != 10<<20+1 {
		t.Errorf("%v, %v, %v, %v", now, old, err, errOld)
	}
}

func start(t *testing.T, c embedded.Config) *embedded.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := embedded.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func portOf(t *testing.T, endpoint string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
