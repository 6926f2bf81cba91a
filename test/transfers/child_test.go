package transfers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"locus/idgen/segment"
	"locus/proxy"
	"locus/proxy/handshake"
	"locus/proxy/txn"
)

// child is what a proxy's process is told. Hits of Stop are counted, and at the
// last the process says so on its output, and that commit waits: to be killed, or
// for a line on its input.
type child struct {
	Documents map[string][]byte
	Password  string
	Dir       string
	Stop      string
	Hits      int64
}

func serveChild(text string) error {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	identity, err := handshake.SelfSigned(c.Dir)
	if err != nil {
		return err
	}
	input := bufio.NewReader(os.Stdin)
	var hits atomic.Int64
	p := proxy.New(proxy.Options{
		Declared: fixed(c.Documents), Segments: noSegments{}, Name: "test", Cluster: "transfers",
		Secrets: func(string) (string, error) { return c.Password, nil },
		TLS:     identity.TLS, RSA: identity.RSA, Spanning: txn.XA,
		RecoveryPatience: time.Second, DrainTimeout: time.Second,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Stop: func(point string) {
			if point == c.Stop && hits.Add(1) == c.Hits {
				fmt.Println("at", point)
				_, _ = input.ReadString('\n')
			}
		},
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := p.Start(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("serving", listener.Addr())
	return p.Run(ctx, listener)
}

// fixed are declared documents that don't change.
type fixed map[string][]byte

func (f fixed) Read(context.Context, int64) (map[string][]byte, int64, error) { return f, 1, nil }

func (f fixed) Changes(ctx context.Context, _ int64) <-chan int64 {
	out := make(chan int64)
	context.AfterFunc(ctx, func() { close(out) })
	return out
}

// noSegments: no table here has generated IDs.
type noSegments struct{}

var _ segment.KV = noSegments{}

var errNoSegments = errors.New("no IDs are made here")

func (noSegments) Get(context.Context, string) ([]byte, int64, error) { return nil, 0, errNoSegments }

func (noSegments) CompareAndSwap(context.Context, string, int64, []byte) (bool, error) {
	return false, errNoSegments
}
