//go:build servers

package schema

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/router/cluster"
)

func TestTargetReachesTheServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		pem, err := os.ReadFile(server.CA())
		if err != nil {
			t.Fatal(err)
		}
		secret := func(name string) (string, error) {
			return map[string]string{"shards/s0": server.Password, "ca": string(pem)}[name], nil
		}
		for _, mode := range []cluster.TLS{cluster.TLSOff, cluster.TLSOn, cluster.TLSVerify} {
			shard := cluster.Shard{Address: server.Addr(), User: server.User, Secret: "shards/s0", TLS: mode}
			if mode == cluster.TLSVerify {
				shard.CA = "ca"
			}
			target, err := Target("s0", shard, secret)
			if err != nil {
				t.Fatal(err)
			}
			pool := backend.NewPool(target, backend.Limits{}, slog.New(slog.DiscardHandler))
			rows, err := Pooled{pool}.Query(t.Context(), "SHOW STATUS LIKE 'Ssl_cipher'")
			if err != nil {
				t.Fatalf("tls %s: %v", mode, err)
			}
			if encrypted := len(rows[0][1]) > 0; encrypted != (mode != cluster.TLSOff) {
				t.Errorf("tls %s: encrypted is %v", mode, encrypted)
			}
			if _, err := (Pooled{pool}).Query(t.Context(), "SELECT nothing"); err == nil {
				t.Error("no error of a bad statement")
			}
			if err := pool.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestTargetWithoutAuthorities(t *testing.T) {
	shard := cluster.Shard{Address: "a:1", TLS: cluster.TLSVerify, CA: "ca"}
	for text, fail := range map[string]error{"no PEM": nil, "not found": errors.New("not found")} {
		_, err := Target("s0", shard, func(string) (string, error) { return text, fail })
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error is %v, want %s", err, text)
		}
	}
}
