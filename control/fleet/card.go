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

// Card is the document that a live process keeps in etcd: a proxy under proxies/<ID>, any other process under
// processes/<ID>.
type Card struct {
	ID         string `json:"id"`
	Addr       string `json:"addr"`
	MapVersion int64  `json:"map_version"` // the version that it obeys; 0 if it obeys none yet
	// Primaries holds the epochs that it obeys, for shards with several servers; nil from builds that don't
	// support them.
	Primaries map[router.ShardName]int64 `json:"primaries,omitempty"`
	// Leases: if a shard's primary may change, the process sends it statements only while its lease on the
	// primary is valid.
	Leases  bool      `json:"leases,omitempty"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// Answers: it answers questions. Older builds don't, nor do their movers.
	Answers bool `json:"answers,omitempty"`
	// Roles lists the tasks of the process. Older builds don't report them and have all tasks.
	Roles []config.Task `json:"roles,omitempty"`
	// Keys describes the key ring that hides order numbers; nil from older builds, which don't report it.
	Keys *Keys `json:"keys,omitempty"`
}

// Proxies reports whether the process accepts MySQL clients.
func (c Card) Proxies() bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, config.ProxyTask) }

// Key returns the key of the card in etcd.
func (c Card) Key() string {
	if c.Proxies() {
		return cluster.ProxyPrefix + c.ID
	}
	return cluster.ProcessPrefix + c.ID
}

// Text returns the card as JSON.
func (c Card) Text() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("locus: plain fields can't fail to marshal: " + err.Error())
	}
	return text
}

// Cards returns the cards of all live proxies, sorted by ID.
func Cards(ctx context.Context, kv *etcd.KV) ([]Card, error) {
	cards, _, err := read(ctx, kv, cluster.ProxyPrefix)
	return cards, err
}

// Processes returns the cards of all live processes, the proxies first.
func Processes(ctx context.Context, kv *etcd.KV) ([]Card, error) {
	proxies, err := Cards(ctx, kv)
	if err != nil {
		return nil, err
	}
	others, _, err := read(ctx, kv, cluster.ProcessPrefix)
	return append(proxies, others...), err
}

// Known returns the same as Processes, and guards which fail a write if a card has changed or a process was
// added since.
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
			continue // it has no lease, so no live process keeps it
		}
		cards = append(cards, c)
	}
	return cards
}

// decodeCard decodes a card. A card that can't be decoded contains only the ID. Its process counts as obeying
// no version of the map, so jobs wait for it.
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

// CheckCard returns an error if a key and its value are not a valid card.
func CheckCard(key string, value []byte) error {
	_, id, _ := strings.Cut(key, "/")
	_, err := decodeCard(key, strings.TrimSuffix(key, id), value)
	return err
}

// Find returns the position of the process that a person names by its ID, by its host and port, or by its address. The name must match exactly
// one process.
func Find(cards []Card, name string) (at int, err error) {
	var found []int
	for i, c := range cards {
		if c.ID == name {
			return i, nil
		}
		if strings.HasPrefix(c.ID, name+"-") || c.Addr == name {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("no process %s is alive: locus proxies list", name)
	case 1:
		return found[0], nil
	}
	return 0, fmt.Errorf("%d processes are called %s: use an ID of locus proxies list, which shows a process that was killed for ten more seconds", len(found), name)
}

// Alive returns the IDs of all live proxies.
func Alive(ctx context.Context, kv *etcd.KV) ([]string, error) {
	cards, err := Cards(ctx, kv)
	ids := make([]string, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return ids, err
}
