package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// record is the value of a counter's key:
//
//	{"bound":4096,"by":"proxy-1","at":"2026-03-01T12:00:00Z"}
type record struct {
	Bound uint64    `json:"bound"` // the last number granted
	By    string    `json:"by"`    // the process that last extended it
	At    time.Time `json:"at"`
	// Moved: the counter is closed for ever, and its genes have other counters.
	Moved bool `json:"moved,omitempty"`
	// Paused: nothing is granted until the counter is resumed. A build that doesn't know this reads no such record.
	Paused bool `json:"paused,omitempty"`
	// Empty: the counter was set back to its beginning, and nothing is granted since.
	Empty bool `json:"empty,omitempty"`
}

// groupsRecord is the value of the key "groups".
type groupsRecord struct {
	Groups int `json:"groups"`
	// Generation is how often the number was changed. Next is the number that it is being changed to.
	Generation int `json:"generation,omitempty"`
	Next       int `json:"next,omitempty"`

	By string    `json:"by"`
	At time.Time `json:"at"`
}

// versionRecord is the value of a key "keys/VERSION".
type versionRecord struct {
	Does string    `json:"does"` // what the key version does to the sequences of IDs
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil { // every field of a record can be encoded
		panic(err)
	}
	return text
}

func decodeRecord(text []byte) (record, error) {
	var r record
	if err := decode(text, &r); err != nil {
		return record{}, err
	}
	if r.Bound == 0 && !r.Moved && !r.Paused && !r.Empty {
		return record{}, fmt.Errorf("value %.80q has no bound: restore the value, or write a bound above every number in use", text)
	}
	return r, nil
}

// decode is strict. A field unknown to this version may be one that must not be lost when the value is written again.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && !errors.Is(d.Decode(new(any)), io.EOF) {
		err = errors.New("text after the value")
	}
	if err != nil {
		return fmt.Errorf("value %.80q was not written by this version: %w", text, err)
	}
	return nil
}
