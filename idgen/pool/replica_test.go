//go:build servers

package pool

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
)

func follow(t *testing.T, replica, master *servers.Process) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replica.Do("REPLICAOF", host, port); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() error { return linked(replica) })
}

func promote(t *testing.T, replica *servers.Process) {
	t.Helper()
	if _, err := replica.Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
}

// linked returns an error while the replica has not copied its master.
func linked(replica *servers.Process) error {
	said, err := replica.Ask("INFO replication\r\n")
	if err == nil && !strings.Contains(said, "master_link_status:up") {
		err = fmt.Errorf("not linked: %s", said)
	}
	return err
}

// copied returns an error while the server does not have the master's pool.
func copied(replica *servers.Process) error {
	said, err := replica.Do("EXISTS", "locus:ids:{orders}")
	if err == nil && said != ":1" {
		err = fmt.Errorf("no pool: %s", said)
	}
	return err
}

func waitFor(t *testing.T, condition func() error) {
	t.Helper()
	looks := time.NewTicker(5 * time.Millisecond)
	defer looks.Stop()
	deadline := time.After(30 * time.Second)
	for {
		err := condition()
		if err == nil {
			return
		}
		select {
		case <-looks.C:
		case <-deadline:
			t.Fatal(err)
		}
	}
}
