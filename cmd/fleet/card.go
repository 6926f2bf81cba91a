package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/router/cluster"
)

// Card is what a proxy says of itself in etcd, under proxies/<ID>.
type Card struct {
	ID         string    `json:"id"`
	Addr       string    `json:"addr"`
	MapVersion int64     `json:"map_version"` // that it obeys; 0: not yet any
	Version    string    `json:"version"`
	PID        int       `json:"pid"`
	Started    time.Time `json:"started"`
	// Answers tells that it answers questions; older builds don't.
	Answers bool `json:"answers,omitempty"`
}

// Obeying is the card of a proxy that obeys a version of the route map.
func (c Card) Obeying(version int64) Card {
	c.MapVersion = version
	return c
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
	pairs, _, err := kv.GetPrefix(ctx, cluster.ProxyPrefix)
	if err != nil {
		return nil, err
	}
	cards := make([]Card, len(pairs))
	for i, p := range pairs {
		if err := json.Unmarshal(p.Value, &cards[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Key, err)
		}
		cards[i].ID = strings.TrimPrefix(p.Key, cluster.ProxyPrefix)
	}
	return cards, nil
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
