package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"locus/router"
	"locus/router/catalog"
)

// Verified records that a process has read the whole schema of a shard. Processes with the same schema need not read it themselves. It is part
// of the cluster's protocol, as JSON.
type Verified struct {
	Marker Marker `json:"marker"` // read before the schema
	Digest string `json:"digest"` // digest of the schema; see [Found.Digest]
}

// Verifies reports whether a shard still has the schema that f contains, because another process has verified it within the duration fresh.
// now is the shard's marker.
func (f *Found) Verifies(shard router.ShardName, v Verified, now *Marker, fresh time.Duration) bool {
	return now.Same(&v.Marker) && now.At.Sub(v.Marker.At) < fresh && v.Digest != "" && v.Digest == f.Digest(shard)
}

// Digest returns a digest of everything that was read from a shard, or "" if the shard was not read. Processes that declare the same tables
// and read the same schema get the same digest.
func (f *Found) Digest(shard router.ShardName) string {
	if f == nil || f.servers[shard] == nil {
		return ""
	}
	s := f.servers[shard]
	hash := xxhash.New()
	if err := json.NewEncoder(hash).Encode(s.listing); err != nil {
		panic(fmt.Sprintf("schema: plain fields can't fail to marshal: %v", err))
	}
	names := make([]catalog.TableName, 0, len(s.queried))
	for name := range s.queried {
		names = append(names, name)
	}
	slices.SortFunc(names, catalog.TableName.Compare)
	for _, name := range names {
		fmt.Fprintf(hash, "%q ", name)
		if t := s.tables[name]; t != nil {
			fmt.Fprintf(hash, "%#v\n", *t) // maps are printed in the order of their keys
		}
	}
	fmt.Fprint(hash, s.flavor, s.hidden)
	return strconv.FormatUint(hash.Sum64(), 16)
}
