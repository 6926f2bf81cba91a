package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/router/endpoint"
)

// outsideFlags are the flags for the server outside of the cluster that has an import's tables.
type outsideFlags struct {
	from, secret, tls, ca string

	outside *ops.Outside // the result of the flags; nil if a shard has the tables
}

var outsideTLS = []string{string(endpoint.TLSOff), string(endpoint.TLSOn), string(endpoint.TLSVerify)}

func (o *outsideFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.from, "from", "", "`user@host:port` of a server outside of the cluster that has the tables")
	f.StringVar(&o.secret, "secret", "", "the `name` of the secret with that user's password, for the process that runs the job")
	f.StringVar(&o.tls, "tls", string(endpoint.TLSOff), "how the connection to it is protected: off, on or verify, as a `word`")
	f.StringVar(&o.ca, "ca", "", "the `name` of the secret with the authorities that --tls verify trusts")
	_ = c.RegisterFlagCompletionFunc("tls", cobra.FixedCompletions(outsideTLS, cobra.ShellCompDirectiveNoFileComp))
}

func (o *outsideFlags) read(c *cobra.Command) error {
	if o.from == "" {
		for _, name := range []string{"secret", "tls", "ca"} {
			if c.Flags().Changed(name) {
				return misused("--%s is of the server that --from names", name)
			}
		}
		return nil
	}
	at := strings.LastIndexByte(o.from, '@')
	if at < 0 {
		return misused("--from %q: write it as user@host:port", o.from)
	}
	if !slices.Contains(outsideTLS, o.tls) {
		return misused("--tls %s: off, on or verify", o.tls)
	}
	o.outside = &ops.Outside{Address: o.from[at+1:], User: o.from[:at], Secret: o.secret, TLS: endpoint.TLS(o.tls), CA: o.ca}
	if err := o.outside.Check(); err != nil {
		return usageError{err}
	}
	return nil
}
