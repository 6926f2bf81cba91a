package demo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// ready is the content of the ready file, as JSON.
type ready struct {
	Proxies  []readyProxy `json:"proxies"`
	User     string       `json:"user"`
	Password string       `json:"password"`
	Database string       `json:"database"`
	HTTP     readyHTTP    `json:"http"`
	Etcd     []string     `json:"etcd"`
	Shards   []readyShard `json:"shards"`
	PID      int          `json:"pid"`
}

type readyProxy struct {
	Addr string `json:"addr"`
	PID  int    `json:"pid"`
}

type readyHTTP struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
}

type readyShard struct {
	Name     string `json:"name"`
	Addr     string `json:"addr"`
	User     string `json:"user"`
	Password string `json:"password"`
	Database string `json:"database"`
	PID      int    `json:"pid"`
	// Replicas lists the shard's replicas at the first start.
	Replicas []readyProxy `json:"replicas,omitempty"`
}

// write writes the file atomically.
func (r ready) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, string(text)+"\n")
}

// removeReady removes an outdated ready file.
func removeReady(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
