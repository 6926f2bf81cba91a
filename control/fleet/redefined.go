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

// RedefinedPatience is how long proxies have to say that they plan by the tables of now: by then one that is dead is no longer
// listed, whose card outlives it by ten seconds.
const RedefinedPatience = 12 * time.Second

// TellRedefined has every proxy read the tables anew. The error names those that
// haven't told in time that they have.
func TellRedefined(ctx context.Context, kv *etcd.KV, patience time.Duration) error {
	answers, err := Ask[bool](ctx, kv, Redefined, patience)
	if err != nil {
		return err
	}
	missing := answers.Silent
	for id, known := range answers.By {
		if !known {
			missing = append(missing, id)
		}
	}
	if missing != nil {
		return fmt.Errorf("no word of it from %s", strings.Join(missing, ", "))
	}
	return nil
}
