package demo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// ready is the JSON of the ready file.
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
	// Replicas are the servers that follow it, or did at the first start.
	Replicas []readyProxy `json:"replicas,omitempty"`
}

// write puts the file there at once and whole.
func (r ready) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, string(text)+"\n")
}

// removeReady takes a file away that says what is no longer, or not yet, so.
func removeReady(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
