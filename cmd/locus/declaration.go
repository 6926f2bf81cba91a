package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"locus/control/declared"
	"locus/router/cluster"
)

// withEtcd connects to etcd for one command.
func (in *invocation) withEtcd(do func(*connection) error) error {
	conn, err := in.connect()
	if err != nil {
		return err
	}
	defer conn.close()
	return do(conn)
}

// withState connects and reads the declaration, which may be empty.
func (in *invocation) withState(ctx context.Context, do func(*connection, *declared.State) error) error {
	return in.withEtcd(func(conn *connection) error {
		state, err := conn.state(ctx)
		if err != nil {
			return err
		}
		return do(conn, state)
	})
}

// withCluster connects and reads the cluster. It fails if none is declared.
func (in *invocation) withCluster(ctx context.Context, do func(*connection, *cluster.Cluster) error) error {
	return in.withState(ctx, func(conn *connection, state *declared.State) error {
		if state.Cluster == nil {
			return fmt.Errorf("etcd at %v has no cluster %q: locus apply declares one, --cluster names another", conn.config.Etcd.Endpoints, conn.config.Cluster)
		}
		return do(conn, state.Cluster)
	})
}

// declaredCluster returns the declared cluster, without keeping the connection.
func (in *invocation) declaredCluster(ctx context.Context) (c *cluster.Cluster, err error) {
	err = in.withCluster(ctx, func(_ *connection, declared *cluster.Cluster) error {
		c = declared
		return nil
	})
	return c, err
}

// clusterFile reads cluster.yaml. The path "-" means standard input.
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
