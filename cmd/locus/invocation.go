package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/finding"
)

// invocation is one run of the program: the global flags and the environment.
type invocation struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	random         io.Reader // for salts

	// terminal reports whether a stream is a terminal.
	terminal func(any) bool

	args   []string         // the command line without the program's name
	began  bool             // the command has started its own work, so its errors are not usage errors
	yes    bool             // ask no questions; see confirm
	failOn finding.Severity // the lowest severity with an exit status of its own
	misled error            // help was requested for a command that doesn't exist

	configFile, endpoints, cluster string
	output                         format
}

func (in *invocation) flags(root *cobra.Command) {
	flags := root.PersistentFlags()
	in.output = table
	flags.StringVarP(&in.configFile, "config", "c", in.getenv("LOCUS_CONFIG"), "the `file` locus.yaml of this process (LOCUS_CONFIG)")
	flags.StringVar(&in.endpoints, "etcd", in.getenv("LOCUS_ETCD"), "etcd's `host:port,...`, instead of the configuration's (LOCUS_ETCD)")
	flags.StringVar(&in.cluster, "cluster", in.getenv("LOCUS_CLUSTER"), "the cluster's `name`, instead of the configuration's (LOCUS_CLUSTER)")
	flags.VarP(&in.output, "output", "o", "print as table, json or yaml")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.MarkPersistentFlagFilename("config", "yaml")
}

// configuration returns the configuration of the file, or the default one, with the values of flags in place.
func (in *invocation) configuration() (*config.Config, error) {
	c := config.Default()
	if in.configFile != "" {
		var err error
		if c, err = config.Load(in.configFile); err != nil {
			return nil, err
		}
	}
	if in.endpoints != "" {
		c.Etcd.Endpoints = slices.DeleteFunc(strings.Split(in.endpoints, ","), func(e string) bool { return e == "" })
	}
	c.Cluster = cmp.Or(in.cluster, c.Cluster)
	return c, c.Validate()
}

// namesCluster reports whether a flag or the environment says where the cluster is.
func (in *invocation) namesCluster() bool { return in.configFile != "" || in.endpoints != "" }

// connection gives access to the keys of one cluster in etcd.
type connection struct {
	config *config.Config
	client *etcd.Client
	kv     *etcd.KV
}

// connect opens a connection, which the caller closes. It sends no request yet.
func (in *invocation) connect() (*connection, error) {
	c, err := in.configuration()
	if err != nil {
		return nil, err
	}
	tls, err := c.Etcd.ClientTLS()
	if err != nil {
		return nil, err
	}
	client, err := etcd.Open(etcd.Config{
		Endpoints: c.Etcd.Endpoints, Username: c.Etcd.Username, Password: c.Etcd.Password,
		TLS: tls, DialTimeout: c.Etcd.DialTimeout.Std(),
	})
	if err != nil {
		return nil, err
	}
	return &connection{c, client, client.Under(c.Prefix())}, nil
}

func (c *connection) close() { _ = c.client.Close() }

// state reads the declaration. If etcd is unreachable, the error contains the remedy.
func (c *connection) state(ctx context.Context) (*declared.State, error) {
	state, err := declared.Read(ctx, c.kv)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: check that etcd runs there; --etcd or -c names another\nwhile it does not answer, proxies serve from the last state; they refuse statements on shards with failover: follow or promote (plain reads go on with stale_reads: true, and are marked), "+
			"and INSERTs once their IDs are used up: /readyz of each proxy says so", err)
	}
	return state, err
}
