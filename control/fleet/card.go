package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/router"
	"locus/router/cluster"
)

// Card is what a process says of itself in etcd: a proxy under proxies/<ID>, any
// other under processes/<ID>.
type Card struct {
	ID         string `json:"id"`
	Addr       string `json:"addr"`
	MapVersion int64  `json:"map_version"` // that it obeys; 0: not yet any
	// Primaries are the epochs that it obeys of shards with several servers; nil: an
	// older build, which knows none.
	Primaries map[router.ShardName]int64 `json:"primaries,omitempty"`
	// Leases: it sends statements to shards whose primary may change without it only while
	// it is sure who that is.
	Leases  bool      `json:"leases,omitempty"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// Answers reports that it answers questions. Older builds don't, nor do their movers.
	Answers bool `json:"answers,omitempty"`
	// Roles is what it does; older builds, which don't say, do everything.
	Roles []config.Task `json:"roles,omitempty"`
	// Keys are those that hide order numbers; nil: an older build, which doesn't say.
	Keys *Keys `json:"keys,omitempty"`
}

// Proxies tells whether the process takes MySQL clients.
func (c Card) Proxies() bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, config.ProxyTask) }

// Key is where the card lies.
func (c Card) Key() string {
	if c.Proxies() {
		return cluster.ProxyPrefix + c.ID
	}
	return cluster.ProcessPrefix + c.ID
}

// Text is the card as it is written.
func (c Card) Text() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("locus: plain fields can't fail to marshal: " + err.Error())
	}
	return text
}

// Cards reads the cards of all living proxies, in the order of their IDs.
func Cards(ctx context.Context, kv *etcd.KV) ([]Card, error) {
	cards, _, err := read(ctx, kv, cluster.ProxyPrefix)
	return cards, err
}

// Processes reads the cards of everything that lives: the proxies, and then those
// that aren't.
func Processes(ctx context.Context, kv *etcd.KV) ([]Card, error) {
	proxies, err := Cards(ctx, kv)
	if err != nil {
		return nil, err
	}
	others, _, err := read(ctx, kv, cluster.ProcessPrefix)
	return append(proxies, others...), err
}

// Known is Processes, and guards for a write that is to be made only if none of them
// has changed its card since, and none has come.
func Known(ctx context.Context, kv *etcd.KV) ([]Card, []etcd.Guard, error) {
	proxies, revision, err := read(ctx, kv, cluster.ProxyPrefix)
	if err != nil {
		return nil, nil, err
	}
	others, _, err := read(ctx, kv, cluster.ProcessPrefix)
	guards := []etcd.Guard{
		{Key: cluster.ProxyPrefix, Revision: revision, Prefix: true},
		{Key: cluster.ProcessPrefix, Revision: revision, Prefix: true},
	}
	return append(proxies, others...), guards, err
}

func read(ctx context.Context, kv *etcd.KV, prefix string) (cards []Card, revision int64, err error) {
	pairs, revision, err := kv.GetPrefix(ctx, prefix)
	if err != nil {
		return nil, 0, err
	}
	return decodeCards(pairs, prefix), revision, nil
}

func decodeCards(pairs []etcd.KeyValue, prefix string) []Card {
	cards := make([]Card, 0, len(pairs))
	for _, p := range pairs {
		c, err := decodeCard(p.Key, prefix, p.Value)
		if err != nil && !p.Leased {
			continue // no process keeps it
		}
		cards = append(cards, c)
	}
	return cards
}

// decodeCard reads a card. One that can't be read has the ID alone: its process is taken to obey no version of the map,
// so that a job waits for it.
func decodeCard(key, prefix string, value []byte) (Card, error) {
	var c Card
	id := strings.TrimPrefix(key, prefix)
	err := json.Unmarshal(value, &c)
	if err == nil && c.ID != id {
		err = fmt.Errorf("it is the card of a process of another name, %q", c.ID)
	}
	if err != nil {
		return Card{ID: id}, fmt.Errorf("%s: %w", key, err)
	}
	return c, nil
}

// CheckCard returns why a key and its value are no card.
func CheckCard(key string, value []byte) error {
	_, id, _ := strings.Cut(key, "/")
	_, err := decodeCard(key, strings.TrimSuffix(key, id), value)
	return err
}

// Alive are the IDs of all living proxies.
func Alive(ctx context.Context, kv *etcd.KV) ([]string, error) {
	cards, err := Cards(ctx, kv)
	ids := make([]string, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return ids, err
}
