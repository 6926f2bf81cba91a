package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ready is the file that `locus demo --ready-file` writes when everything is up.
type ready struct {
	Proxies  []readyProxy `json:"proxies"`
	User     string       `json:"user"`
	Password string       `json:"password"`
	Database string       `json:"database"`
	HTTP     readyHTTP    `json:"http"`
	Etcd     []string     `json:"etcd"`
	Shards   []readyShard `json:"shards"`
}

// readyHTTP is the address of the first proxy's pages; without a URL there are none.
type readyHTTP struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
}

type readyProxy struct {
	Addr string `json:"addr"`
	PID  int    `json:"pid"`
}

type readyShard struct {
	Name     string `json:"name"`
	Addr     string `json:"addr"`
	User     string `json:"user"`
	Password string `json:"password"`
	Database string `json:"database"`
	PID      int    `json:"pid"`
}

func loadReady(path string) (ready, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return ready{}, fmt.Errorf("read ready file: %w", err)
	}
	var r ready
	if err := json.Unmarshal(b, &r); err != nil {
		return ready{}, fmt.Errorf("read ready file: %w", err)
	}
	if len(r.Proxies) == 0 || len(r.Shards) == 0 {
		return ready{}, errors.New("read ready file: it names no proxy or no shard")
	}
	return r, nil
}

// endpoint is the address of a server, with a user.
type endpoint struct{ addr, user, password, database string }

func (r *ready) proxy(i int) endpoint {
	return endpoint{r.Proxies[i].Addr, r.User, r.Password, r.Database}
}

// spareProxy returns the i-th proxy without load, for measurements of memory. If there are too few proxies, it
// returns the loaded one.
func (r *ready) spareProxy(i int) int {
	if i+1 < len(r.Proxies) {
		return i + 1
	}
	return 0
}

func (s readyShard) endpoint() endpoint {
	return endpoint{s.Addr, s.User, s.Password, s.Database}
}
