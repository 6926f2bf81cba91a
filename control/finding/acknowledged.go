package finding

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
)

// AcknowledgedPrefix begins the keys of acknowledgements; the finding's ID follows.
const AcknowledgedPrefix = "findings/acknowledged/"

// Acknowledgement records that a person knows a finding and accepts it. The finding is listed, and does not count.
type Acknowledgement struct {
	// Fact is the finding as it was then. A finding that is more severe now is not acknowledged.
	Fact
	By string    `json:"by"`
	At time.Time `json:"at"`
	// Why is the reason, in the words of that person.
	Why string `json:"why"`
	// Until is when the acknowledgement ends; zero: it does not end by itself.
	Until time.Time `json:"until,omitzero"`
}

// Covers reports whether the acknowledgement applies to a finding.
func (a Acknowledgement) Covers(f Finding, now time.Time) bool {
	return a.ID == f.ID && f.Severity <= a.Severity && !a.Ended(now)
}

// Ended reports whether the acknowledgement has expired.
func (a Acknowledgement) Ended(now time.Time) bool { return !a.Until.IsZero() && !now.Before(a.Until) }

// String returns who acknowledged the finding, until when, and why.
func (a Acknowledgement) String() string {
	until := ""
	if !a.Until.IsZero() {
		until = " until " + a.Until.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("acknowledged%s by %s at %s: %s", until, a.By, a.At.UTC().Format(time.RFC3339), a.Why)
}

// Key returns the key of the acknowledgement.
func (a Acknowledgement) Key() string { return AcknowledgedPrefix + a.ID }

// Acknowledged reads all acknowledgements, by the IDs of their findings, without those that can't be read.
func Acknowledged(ctx context.Context, kv *etcd.KV) (map[string]Acknowledgement, error) {
	pairs, _, err := kv.GetPrefix(ctx, AcknowledgedPrefix)
	if err != nil {
		return nil, fmt.Errorf("read the acknowledged findings: %w", err)
	}
	return Decode(pairs), nil
}

// Decode returns the acknowledgements in documents of etcd, without those that can't be read.
func Decode(pairs []etcd.KeyValue) map[string]Acknowledgement {
	all := make(map[string]Acknowledgement, len(pairs))
	for _, p := range pairs {
		if a, err := decode(p.Key, p.Value); err == nil {
			all[a.ID] = a
		}
	}
	return all
}

// Check returns why a document is no acknowledgement.
func Check(key string, value []byte) error {
	_, err := decode(key, value)
	return err
}

func decode(key string, value []byte) (a Acknowledgement, err error) {
	if err = json.Unmarshal(value, &a); err == nil && a.ID != strings.TrimPrefix(key, AcknowledgedPrefix) {
		err = fmt.Errorf("it acknowledges finding %q", a.ID)
	}
	return a, err
}

// Acknowledge marks the findings that an acknowledgement covers.
func Acknowledge(list []Finding, all map[string]Acknowledgement, now time.Time) {
	for i, f := range list {
		list[i].Acknowledged = nil
		if a, is := all[f.ID]; is && a.Covers(f, now) {
			list[i].Acknowledged = &a
		}
	}
}

// List returns acknowledgements, the latest first.
func List(all map[string]Acknowledgement) []Acknowledgement {
	list := make([]Acknowledgement, 0, len(all))
	for _, a := range all {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Acknowledgement) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}
