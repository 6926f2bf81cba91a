package demo

import (
	"os"
	"sync"
)

// watch says what ends by itself. The demo goes on without it: that is worth
// looking at.
func (r *running) watch() {
	r.ends = make(chan struct{})
	var watching sync.WaitGroup
	for i, p := range r.proxies {
		watching.Go(func() {
			select {
			case <-p.done:
				r.say("proxy %d: %v", i, p.ended())
			case <-r.ends:
			}
		})
	}
	for _, s := range r.shards {
		watching.Go(func() {
			select {
			case <-s.Done():
				r.say("shard %s: %v", s.name, s.Err())
			case <-r.ends:
			}
		})
	}
	r.onStop(func() error { close(r.ends); watching.Wait(); return nil })
}

// state is what the ready file says.
func (r *running) state(password string) (ready, error) {
	state := ready{
		User: shopUser, Password: password, Database: database,
		Etcd: []string{r.etcd.Endpoint()}, PID: os.Getpid(),
	}
	for _, p := range r.proxies {
		state.Proxies = append(state.Proxies, readyProxy{p.addr, p.pid()})
	}
	for _, s := range r.shards {
		state.Shards = append(state.Shards, readyShard{string(s.name), s.Addr(), shardUser, s.password, database, s.Pid()})
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
