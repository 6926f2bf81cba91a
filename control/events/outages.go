package events

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"locus/config/etcd"
)

// outagesPrefix is the prefix of the keys of outages that have begun and not ended.
const outagesPrefix = "outages/"

// OpenOutage is one thing that keeps clients from being served.
type OpenOutage struct {
	Subject string // the place, such as "shard s0"; with Check it identifies the outage
	Check   string
	What    string
}

func (o OpenOutage) key() string { return outagesPrefix + url.PathEscape(o.Check+" "+o.Subject) }

// ongoing is the document of an outage. The process that wrote it also records the end, because other processes may see the cluster
// differently. Another process does so if that process has ended.
type ongoing struct {
	Subject string    `json:"subject"`
	What    string    `json:"what"`
	Began   time.Time `json:"began"`
	By      string    `json:"by"`
}

// Outages records when outages begin and end, once for all processes: the document of an outage is written and removed in the transaction
// of the event. One goroutine uses it.
type Outages struct {
	KV      *etcd.KV
	Process string
	// Lives reports whether another process still runs.
	Lives func(ctx context.Context, process string) (bool, error)

	began map[string]time.Time // when each outage was first seen, by key
	ended map[string]time.Time // since when each outage with a document is not seen, by key
	read  time.Time            // when the documents were read last
	// ongoing is true if there were any then.
	ongoing bool
}

const (
	// steady is how long an outage must be seen, or not be seen, before that is recorded, so that a short delay makes no event.
	steady = 4 * time.Second
	// unread is the longest interval between two reads of the documents.
	unread = 30 * time.Second
)

// Observe takes the outages that are seen now. It is called every few seconds.
func (o *Outages) Observe(ctx context.Context, now time.Time, open []OpenOutage) error {
	by := map[string]OpenOutage{}
	for _, one := range open {
		by[one.key()] = one
	}
	o.began = noted(o.began, by, now)
	if len(by) == 0 && !o.ongoing && now.Sub(o.read) < unread {
		return nil
	}
	pairs, _, err := o.KV.GetPrefix(ctx, outagesPrefix)
	if err != nil {
		return err
	}
	o.read, o.ongoing = now, len(pairs) > 0
	known, gone := map[string]bool{}, map[string]etcd.KeyValue{}
	for _, p := range pairs {
		known[p.Key] = true
		if _, seen := by[p.Key]; !seen {
			gone[p.Key] = p
		}
	}
	o.ended = noted(o.ended, gone, now)
	var failures []error
	for key, one := range by {
		if !known[key] && now.Sub(o.began[key]) >= steady {
			failures = append(failures, o.begin(ctx, key, one))
		}
	}
	for key, p := range gone {
		if now.Sub(o.ended[key]) >= steady {
			failures = append(failures, o.end(ctx, p))
		}
	}
	return errors.Join(failures...)
}

// noted keeps the times of the keys that are still there, and notes the others.
func noted[T any](before map[string]time.Time, there map[string]T, now time.Time) map[string]time.Time {
	after := map[string]time.Time{}
	for key := range there {
		if after[key] = now; !before[key].IsZero() {
			after[key] = before[key]
		}
	}
	return after
}

func (o *Outages) begin(ctx context.Context, key string, one OpenOutage) error {
	began := o.began[key].UTC()
	text, err := json.Marshal(ongoing{one.Subject, one.What, began, o.Process})
	if err != nil {
		return err
	}
	writes, _ := Add([]etcd.Write{etcd.Put(key, text)}, Event{At: began, Kind: Outage, Subject: one.Subject, What: "outage began: " + one.What, By: o.Process, Failed: true})
	_, err = o.KV.Commit(ctx, []etcd.Guard{{Key: key, Revision: 0}}, writes...)
	return recordedByAnother(err)
}

func (o *Outages) end(ctx context.Context, p etcd.KeyValue) error {
	var one ongoing
	if err := json.Unmarshal(p.Value, &one); err != nil {
		return err
	}
	if one.By != o.Process {
		if lives, err := o.Lives(ctx, one.By); lives || err != nil {
			return err
		}
	}
	ended := o.ended[p.Key].UTC()
	e := Event{At: ended, Kind: Outage, Subject: one.Subject, What: "outage ended: " + one.What, By: o.Process, Took: max(0, ended.Sub(one.Began))}
	writes, _ := Add([]etcd.Write{etcd.Delete(p.Key)}, e)
	_, err := o.KV.Commit(ctx, []etcd.Guard{{Key: p.Key, Revision: p.Revision}}, writes...)
	return recordedByAnother(err)
}

// recordedByAnother returns nil for the error that another process was faster.
func recordedByAnother(err error) error {
	if _, is := errors.AsType[*etcd.Conflict](err); is {
		return nil
	}
	return err
}
