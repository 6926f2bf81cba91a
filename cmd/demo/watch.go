package demo

import (
	"context"
	"os"
	"sync"
)

// watch prints when a process ends by itself. The demo continues without it, so that users can observe the
// effects.
func (r *running) watch() {
	ctx, end := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	for i, p := range r.proxies {
		watching.Go(func() {
			select {
			case <-p.done:
				r.say("proxy %d: %v", i, p.ended())
			case <-ctx.Done():
			}
		})
	}
	for _, s := range r.shards {
		for _, m := range s.members() {
			watching.Go(func() { r.keep(ctx, s, m) })
		}
	}
	r.onStop(func() error { end(); watching.Wait(); return nil })
}

// state returns the content of the ready file.
func (r *running) state(password string) (ready, error) {
	state := ready{
		User: shopUser, Password: password, Database: database,
		Etcd: []string{r.etcd.Endpoint()}, PID: os.Getpid(),
	}
	for _, p := range r.proxies {
		state.Proxies = append(state.Proxies, readyProxy{p.addr, p.pid()})
	}
	for _, s := range r.shards {
		one := readyShard{string(s.name), s.Addr(), shardUser, s.password, database, s.Pid(), nil}
		for _, m := range s.replicas {
			one.Replicas = append(one.Replicas, readyProxy{m.Addr(), m.Pid()})
		}
		state.Shards = append(state.Shards, one)
	}
	if r.options.HTTP != "" {
		secret, err := r.dir.secrets().Lookup(httpSecret)
		if err != nil {
			return state, err
		}
		state.HTTP = readyHTTP{"http://" + r.options.HTTP, "admin", secret}
	}
	return state, nil
}
