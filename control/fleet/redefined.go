package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locus/config/etcd"
)

// Redefined asks proxies to read the tables on the shards anew, which a definition
// through one of them has changed. A proxy answers true once it plans by what it has
// read after it was asked.
const Redefined Question = "redefined"

// Settled is [Redefined], and asks as well whether any statement is still under way that began before: a proxy answers
// true once none is.
const Settled Question = "settled"

// RedefinedPatience is how long proxies have to say that they plan by the tables of now: by then one that is dead is no longer
// listed, whose card outlives it by ten seconds.
const RedefinedPatience = 12 * time.Second

// TellRedefined has every proxy read the tables anew. The error names those that
// haven't told in time that they have.
func TellRedefined(ctx context.Context, kv *etcd.KV, patience time.Duration) error {
	missing, err := untold(ctx, kv, Redefined, patience)
	if err == nil && missing != nil {
		err = fmt.Errorf("no word of it from %s", strings.Join(missing, ", "))
	}
	return err
}

// TellSettled is TellRedefined, and waits also until statements have ended that began by the tables of before.
func TellSettled(ctx context.Context, kv *etcd.KV, patience time.Duration) error {
	missing, err := untold(ctx, kv, Settled, patience)
	if err == nil && missing != nil {
		err = fmt.Errorf("no word of it from %s, where a statement may still be under way that began before", strings.Join(missing, ", "))
	}
	return err
}

// untold are the proxies that have not answered true.
func untold(ctx context.Context, kv *etcd.KV, q Question, patience time.Duration) (missing []string, err error) {
	answers, err := Ask[bool](ctx, kv, q, patience)
	if err != nil {
		return nil, err
	}
	missing = answers.Silent
	for id, known := range answers.By {
		if !known {
			missing = append(missing, id)
		}
	}
	return missing, nil
}
