package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"locus/router/cluster"
)

// readDeclared reads a cluster that must be there.
func (c *connection) readDeclared(ctx context.Context) (*cluster.Cluster, error) {
	state, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	if state.Cluster == nil {
		return nil, c.noCluster()
	}
	return state.Cluster, nil
}

func (c *connection) noCluster() error {
	return fmt.Errorf("etcd at %v has no cluster %q: locus apply declares one, --cluster names another", c.config.Etcd.Endpoints, c.config.Cluster)
}

// declaredCluster connects, reads and closes.
func (in *invocation) declaredCluster(ctx context.Context) (*cluster.Cluster, error) {
	conn, err := in.connect()
	if err != nil {
		return nil, err
	}
	defer conn.close()
	return conn.readDeclared(ctx)
}

// clusterFile reads cluster.yaml; "-" is standard input.
func (in *invocation) clusterFile(path string) (*cluster.Cluster, error) {
	if path == "" {
		return nil, misused("name the file: -f cluster.yaml, or -f - for standard input")
	}
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(in.stdin)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the declared cluster: %w", err)
	}
	c, err := cluster.Parse(text)
	if err != nil {
		return nil, prefixed(path, err)
	}
	return c, nil
}
