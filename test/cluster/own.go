package cluster

import (
	"context"
	"path/filepath"
	"time"

	"locus/config/etcd"
	"locus/proxy"
)

// Own is a proxy in the test's own process, for tests that change the view of a running proxy, or read its counters. It runs
// no jobs.
type Own struct {
	*proxy.Proxy
	Addr string
	Stop func() // ends it and waits for its end, as the end of the test does
}

// ownLease is how long an Own counts as alive after its last sign of life, which is as long as in the binary.
const ownLease = 5 * time.Second

// StartOwn starts an Own that reaches etcd by kv and waits until it serves.
func (c *Cluster) StartOwn(kv *etcd.KV, change Change) *Own {
	c.t.Helper()
	r := proxyRole{Dir: filepath.Join(c.dir, "identity"), Cluster: c.name}
	n, err := r.open(kv, ownLease, newLog(c.log), func(w *Wiring) {
		w.Mover = nil
		change(w)
	})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.t.Context()))
	serving, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if err := n.run(ctx, func() { close(serving) }); err != nil {
			c.t.Errorf("proxy %s: %v", n.name, err)
		}
	}()
	stop := func() { cancel(); <-ended }
	c.t.Cleanup(stop)
	select {
	case <-serving:
	case <-ended:
		c.t.FailNow()
	}
	return &Own{Proxy: n.proxy, Addr: n.name, Stop: stop}
}
