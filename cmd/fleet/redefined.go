package fleet

import (
	"context"

	"locus/config/etcd"
)

// redefinedKey is written when a definition went through a proxy, by that proxy.
const redefinedKey = "redefined/at"

// TellRedefined tells every proxy that tables on the shards have changed.
func TellRedefined(ctx context.Context, kv *etcd.KV, proxy string) error {
	_, err := kv.Commit(ctx, nil, etcd.Put(redefinedKey, []byte(proxy)))
	return err
}

// Redefined hears of it for one proxy.
type Redefined struct {
	KV *etcd.KV
	// Reread has the tables read anew. It does not wait.
	Reread func()
}

// Run hears until ctx ends. What was missed while etcd was away is heard of when it
// is back, and proxies look by themselves as well. The tables are read once at the
// beginning: they may have changed since the proxy read them.
func (r *Redefined) Run(ctx context.Context) error {
	_, seen, err := r.KV.GetPrefix(ctx, redefinedKey)
	if err != nil {
		seen = 0
	}
	r.Reread()
	for range r.KV.Under(redefinedKey).Changes(ctx, seen) {
		r.Reread()
	}
	return ctx.Err()
}
