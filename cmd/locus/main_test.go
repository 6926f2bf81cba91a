package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/config"
)

// TestAnErrorNamesTheConfigurationThatIsMissing: where the cause is that no configuration was named, or one without the secret.
func TestAnErrorNamesTheConfigurationThatIsMissing(t *testing.T) {
	missing := errors.Join(errors.New("shard s0"), fmt.Errorf("log in: %w", &config.MissingSecret{Name: "shards/s0", Looked: "nowhere"}))
	away := fmt.Errorf("read: %w", context.DeadlineExceeded)
	for name, test := range map[string]struct {
		in   invocation
		err  error
		want string // empty: nothing is added
	}{
		"a secret, no file":   {invocation{endpoints: "a:1"}, missing, "export LOCUS_CONFIG=locus.yaml"},
		"a secret, a file":    {invocation{configFile: "x.yaml"}, missing, "secrets are where x.yaml says"},
		"etcd, nothing named": {invocation{}, away, "no cluster was named: -c locus.yaml, or export LOCUS_CONFIG=locus.yaml"},
		"etcd, endpoints":     {invocation{endpoints: "a:1"}, away, ""},
		"etcd, a file":        {invocation{configFile: "x.yaml"}, away, ""},
		"another, none named": {invocation{}, errors.New("no such job"), ""},
	} {
		got := strings.TrimPrefix(test.in.withConfigurationHint(test.err).Error(), test.err.Error())
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
