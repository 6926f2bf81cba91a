package failover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"locus/control/switchover"
)

// At log level debug, the watching process logs each poll of a shard whose servers locus promotes, and the decision. The entries
// are everything by which [Observe] decides, so that a failover can be decided again later, by [Replay].
const (
	startedEntry  = "started"  // the record that the process began with
	polledEntry   = "polled"   // a [Poll]
	promotedEntry = "promoted" // the server that the process has promoted
	tidiedEntry   = "tidied"   // the servers of the last poll are set up as the document declares
	decidedEntry  = "decided"  // the decision for the last poll
)

// TraceMessage begins the messages of the entries. The name of the entry follows.
const TraceMessage = "failover trace: "

func (s *shard) trace(ctx context.Context, entry string, value any) {
	if !s.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	s.Log.DebugContext(ctx, TraceMessage+entry, slog.String("shard", string(s.name)), slog.String("value", text(value)))
}

// text returns a value as JSON without fields that are zero.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case Decision:
		return v.String()
	case Poll:
		value = compact(reflect.ValueOf(tracedPoll{v, tracedErrors(v.Seen), errorText(v.NoVotes)}))
	case switchover.View:
		value = compact(reflect.ValueOf(v))
	}
	out, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// tracedPoll is a Poll with its errors as text.
type tracedPoll struct {
	Poll
	Errors  map[string]string // by server
	Unasked string            // NoVotes
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func tracedErrors(seen []switchover.Sight) map[string]string {
	list := map[string]string{}
	for _, s := range seen {
		if s.Err != nil {
			list[s.Addr] = s.Err.Error()
		}
	}
	return list
}

// compact returns a value for JSON: structs become maps without zero fields and without errors.
func compact(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		if _, is := v.Interface().(json.Marshaler); is {
			return v.Interface()
		}
		fields := map[string]any{}
		addFields(fields, v)
		return fields
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = compact(v.Index(i))
		}
		return list
	case reflect.Map:
		list := map[string]any{}
		for _, key := range v.MapKeys() {
			list[key.String()] = compact(v.MapIndex(key))
		}
		return list
	default:
		return v.Interface()
	}
}

// addFields adds the fields of a struct, including the fields of embedded structs.
func addFields(to map[string]any, v reflect.Value) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		_, isError := reflect.TypeAssert[error](value)
		switch {
		case field.Anonymous:
			addFields(to, value)
		case !field.IsExported() || value.IsZero() || isError:
		default:
			to[field.Name] = compact(value)
		}
	}
}

// String describes a decision, with the problem that is reported.
func (d Decision) String() string {
	words := d.Do.String()
	if d.Do == Promote {
		words += " " + d.To
	}
	if d.Inspects {
		words += ", inspect replicas"
	}
	if d.Err != nil {
		words += ": " + d.Err.Error()
	}
	return words
}

// Entry is an entry of a trace: its name, and the value as it was logged.
type Entry struct{ Name, Value string }

// Replay decides again by the entries of a trace, from the first entry of a process that began to watch the shard. It returns the
// decisions, one for each poll, next to those of the trace. The error names an entry that can't be read.
func Replay(entries []Entry) (now, then []string, err error) {
	var state State
	var last Poll
	started := false
	for i, e := range entries {
		if !started && e.Name != startedEntry {
			continue
		}
		switch e.Name {
		case startedEntry:
			state, started = State{}, true
			err = json.Unmarshal([]byte(e.Value), &state.Record)
		case polledEntry:
			if last, err = readPoll(e.Value); err == nil {
				var d Decision
				state, d = Observe(state, last)
				now = append(now, d.String())
			}
		case promotedEntry:
			var server switchover.View
			if err = json.Unmarshal([]byte(e.Value), &server); err == nil {
				state = state.Promoted(server)
			}
		case tidiedEntry:
			state = state.WithFollowers(last)
		case decidedEntry:
			then = append(then, e.Value)
		default:
			err = errors.New("no such entry")
		}
		if err != nil {
			return now, then, fmt.Errorf("entry %d, %s: %w", i+1, e.Name, err)
		}
	}
	if !started {
		return nil, nil, errors.New("the trace has no beginning: the log level must be debug when a process begins to watch a shard")
	}
	return now, then, nil
}

func readPoll(value string) (Poll, error) {
	var t tracedPoll
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Poll{}, err
	}
	for i := range t.Seen {
		if why, failed := t.Errors[t.Seen[i].Addr]; failed {
			t.Seen[i].Err = errors.New(why)
		}
	}
	if t.Unasked != "" {
		t.NoVotes = errors.New(t.Unasked)
	}
	if len(t.Seen) == 0 {
		return Poll{}, errors.New("no servers")
	}
	return t.Poll, nil
}
