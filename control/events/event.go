package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"locus/config/etcd"
)

// Kind is the kind of an event.
type Kind string

// The kinds.
const (
	Job         Kind = "job"         // a job was created, or its journal has a new line
	Failover    Kind = "failover"    // another server of a shard became the primary, and no operator requested it
	Switchover  Kind = "switchover"  // an operator requested another primary
	Definition  Kind = "definition"  // a statement that defines something on the shards, or a shard was filled
	Declaration Kind = "declaration" // what the cluster declares, and the route map
	Drain       Kind = "drain"       // a process was asked to stop, or drains
	Process     Kind = "process"     // a process started, stopped or was lost
	Keys        Kind = "keys"        // another version of the key ring is current
	Finding     Kind = "finding"     // a finding was acknowledged, or the acknowledgement was withdrawn
	Outage      Kind = "outage"      // a finding became an outage, or an outage ended
	Errors      Kind = "errors"      // the rate of errors rose above its limit, or fell below it
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Job, Failover, Switchover, Definition, Declaration, Drain, Process, Keys, Finding, Outage, Errors}
}

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(Kinds(), k) {
		return k, nil
	}
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("no kind of events is called %q: use one of %s", name, strings.Join(names, ", "))
}

// Event is one thing that happened to a cluster.
type Event struct {
	// ID is unique. It is empty until the event is read.
	ID   string
	At   time.Time
	Kind Kind
	// Subject is the thing that the event happened to: a word such as job, shard, table or process, and a name.
	Subject string
	What    string // one line
	By      string // the user or the process that caused it
	// Took is the time from the beginning until At. It is 0 for an event without a duration.
	Took time.Duration
	// Failed marks events that need an operator's attention first.
	Failed bool

	revision int64 // revision of the transaction that wrote the event; 0 before it is read
}

// Limits of the texts of an event, in bytes. They bound its encoded size: see [MaxBytes].
const (
	maxName = 120
	maxWhat = 500
	// MaxBytes is the limit of an encoded event.
	MaxBytes = 2 << 10
)

// document is an event as it is stored.
type document struct {
	At      time.Time `json:"at"`
	Kind    Kind      `json:"kind"`
	Subject string    `json:"subject,omitempty"`
	What    string    `json:"what"`
	By      string    `json:"by,omitempty"`
	TookMs  float64   `json:"took_ms,omitempty"`
	Failed  bool      `json:"failed,omitempty"`
}

// encode returns the stored text. Its length is at most [MaxBytes], because the texts are cut and no character of them takes more than twice its
// bytes.
func (e Event) encode() []byte {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	err := out.Encode(document{
		e.At.UTC().Truncate(time.Millisecond), e.Kind, line(e.Subject, maxName), line(e.What, maxWhat), line(e.By, maxName),
		e.tookMs(), e.Failed,
	})
	if err != nil {
		panic("locus: plain fields can't fail to marshal: " + err.Error())
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// decode reads the event of a key.
func decode(key string, value []byte) (Event, error) {
	var d document
	if err := json.Unmarshal(value, &d); err != nil {
		return Event{}, fmt.Errorf("%s: %w", key, err)
	}
	return Event{
		ID: strings.TrimPrefix(key, Prefix), At: d.At, Kind: d.Kind, Subject: d.Subject, What: d.What, By: d.By,
		Took: time.Duration(d.TookMs * float64(time.Millisecond)), Failed: d.Failed,
	}, nil
}

func read(pair etcd.KeyValue) (Event, error) {
	e, err := decode(pair.Key, pair.Value)
	e.revision = pair.Revision
	return e, err
}

// Check returns why a value is no event.
func Check(key string, value []byte) error {
	_, err := decode(key, value)
	return err
}

// line returns a text as one line of printable characters, cut to a number of bytes. A terminal can print it as it is.
func line(text string, limit int) string {
	text = text[:min(len(text), 4*limit)] // a statement may be large
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Name returns the subject without its first word.
func (e Event) Name() string {
	_, name, _ := strings.Cut(e.Subject, " ")
	return name
}

// Command returns the command that shows more about the subject, or "".
func (e Event) Command() string {
	switch e.Kind {
	case Job:
		return "locus jobs " + e.Name()
	case Failover, Switchover:
		return "locus status"
	case Declaration:
		return "locus routes history"
	case Keys:
		return "locus keys status"
	case Finding:
		return "locus doctor"
	case Errors:
		return "locus top"
	case Drain, Process:
		return "locus proxies list"
	case Definition:
	}
	return ""
}
