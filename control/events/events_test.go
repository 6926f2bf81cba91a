package events

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/internal/test/parallel"
)

var (
	shared   *embedded.Server
	clusters atomic.Int64
	noon     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func TestMain(m *testing.M) {
	parallel.Raise()
	dir, err := os.MkdirTemp("", "events")
	if err == nil {
		shared, err = embedded.Start(context.Background(), embedded.Config{Dir: dir, Unflushed: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := errors.Join(shared.Close(), os.RemoveAll(dir), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// newKV returns the keys of a new cluster.
func newKV(t testing.TB) *etcd.KV {
	t.Helper()
	return kvOf(t, shared)
}

func kvOf(t testing.TB, server *embedded.Server) *etcd.KV {
	t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client.Under(fmt.Sprintf("/locus/%d/", clusters.Add(1)))
}

func write(t testing.TB, kv *etcd.KV, list ...Event) {
	t.Helper()
	for part := range slices.Chunk(list, maxWrites) {
		writes, left := Add(nil, part...)
		if _, err := kv.Commit(t.Context(), nil, writes...); err != nil || len(left) > 0 {
			t.Fatal(err, len(left))
		}
	}
}

// random returns an event with texts that tests can compare.
func random(r *rand.Rand) Event {
	return Event{
		At: noon.Add(-time.Duration(r.Int64N(int64(40 * time.Hour)))).Truncate(time.Millisecond), Kind: Kinds()[r.IntN(len(Kinds()))],
		Subject: fmt.Sprintf("shard s%d", r.IntN(20)), What: fmt.Sprintf("event %d", r.Uint64()), By: "ann",
		Took: time.Duration(r.IntN(100)) * time.Millisecond, Failed: r.IntN(5) == 0,
	}
}

// plainRead selects from all events by the plainest means.
func plainRead(all []Event, q Query) (list []Event) {
	for _, e := range all {
		if (q.Kinds == nil || slices.Contains(q.Kinds, e.Kind)) && strings.Contains(e.Subject, q.Subject) &&
			(q.Since.IsZero() || !e.At.Before(q.Since)) && (q.Until.IsZero() || e.At.Before(q.Until)) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Event) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.What, b.What)) })
	return list
}

// TestPagesHaveWhatWasWritten compares pages of random queries with a plain selection from all events.
func TestPagesHaveWhatWasWritten(t *testing.T) {
	kv := newKV(t)
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]Event, 1500)
	for i := range all {
		all[i] = random(r)
	}
	write(t, kv, all...)
	for range 60 {
		q := Query{Limit: 1 + r.IntN(400)}
		if r.IntN(2) == 0 {
			q.Kinds = Kinds()[:r.IntN(3)+1]
		}
		if r.IntN(2) == 0 {
			q.Subject = fmt.Sprintf("s%d", r.IntN(22))
		}
		if r.IntN(2) == 0 {
			q.Since = all[r.IntN(len(all))].At
		}
		if r.IntN(2) == 0 {
			q.Until = all[r.IntN(len(all))].At
		}
		want := plainRead(all, q)
		var got []Event
		for more := true; more; {
			p, err := Read(t.Context(), kv, q)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Events) > q.Limit || len(p.Events) < q.Limit && p.Next != "" {
				t.Fatalf("%+v: a page of %d events, next %q", q, len(p.Events), p.Next)
			}
			got = append(got, p.Events...)
			q.After, more = p.Next, p.Next != ""
		}
		if !slices.IsSortedFunc(got, func(a, b Event) int { return b.At.Compare(a.At) }) {
			t.Fatalf("%+v: an earlier event precedes a later one", q)
		}
		for i := range got {
			got[i].ID, got[i].revision = "", 0
		}
		if got = plainRead(got, Query{}); !reflect.DeepEqual(got, want) { // events of one millisecond have any order
			t.Fatalf("%+v: %d events, want %d", q, len(got), len(want))
		}
	}
}

// A page of a query that selects nothing reads a bounded number of events.
func TestAPageReadsABoundedNumberOfEvents(t *testing.T) {
	kv := newKV(t)
	all := make([]Event, maxScanned+10)
	for i := range all {
		all[i] = Event{At: noon.Add(time.Duration(i) * time.Second), Kind: Job, Subject: "job split-1", What: "-"}
	}
	all[0].Subject = "job split-2"
	write(t, kv, all...)
	p, err := Read(t.Context(), kv, Query{Subject: "split-2"})
	if err != nil || len(p.Events) != 0 || p.Next == "" {
		t.Fatalf("%d events, next %q, %v", len(p.Events), p.Next, err)
	}
	list, more, err := ReadAll(t.Context(), kv, Query{Subject: "split-2", Limit: 5})
	if err != nil || len(list) != 1 || more {
		t.Fatalf("%v, %v, %v", list, more, err)
	}
}

// Events of one transaction have the order in which they were given.
func TestATransactionKeepsTheOrder(t *testing.T) {
	kv := newKV(t)
	var list []Event
	for i := range 20 {
		list = append(list, Event{At: noon, Kind: Job, What: fmt.Sprint(i)})
	}
	write(t, kv, list...)
	p, err := Read(t.Context(), kv, Query{})
	if err != nil || len(p.Events) != 20 {
		t.Fatal(err, len(p.Events))
	}
	for i, e := range p.Events {
		if want := fmt.Sprint(19 - i); e.What != want {
			t.Fatalf("event %d is %s, want %s", i, e.What, want)
		}
	}
}

// Events of one moment are in the order in which they were written.
func TestEventsOfOneMoment(t *testing.T) {
	kv := newKV(t)
	for i := range 30 {
		write(t, kv, Event{At: noon, Kind: Job, What: fmt.Sprint(2 * i)}, Event{At: noon, Kind: Job, What: fmt.Sprint(2*i + 1)})
	}
	p, err := Read(t.Context(), kv, Query{})
	for i, e := range p.Events {
		if want := fmt.Sprint(59 - i); err != nil || e.What != want {
			t.Fatalf("event %d is %s, want %s: %v", i, e.What, want, err)
		}
	}
}

// Events never make a transaction larger than a server accepts.
func TestEventsThatDoNotFitAreLeft(t *testing.T) {
	e := Event{At: noon, Kind: Declaration, What: "changed"}
	for _, c := range []struct{ writes, events, left int }{{0, 3, 0}, {126, 2, 0}, {126, 3, 1}, {128, 1, 1}, {200, 2, 2}} {
		all, left := Add(make([]etcd.Write, c.writes), slices.Repeat([]Event{e}, c.events)...)
		if len(left) != c.left || len(all) != c.writes+c.events-c.left {
			t.Errorf("%d writes and %d events: %d writes, %d left", c.writes, c.events, len(all), len(left))
		}
	}
}

// TestAnEventIsBounded encodes events with texts that grow when they are encoded.
func TestAnEventIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"quotes": `"`, "backslashes": `\`, "control characters": "\x01", "escapes of a terminal": "\x1b[31m", "broken UTF-8": "a\xff", "separators": "\u2028",
		"wide": "漢", "emoji": "👍🏽", "angles": "<", "lines": "a\n",
	} {
		long := strings.Repeat(text, 1<<20/len(text))
		e := Event{At: noon, Kind: Definition, Subject: long, What: long, By: long, Took: 1<<62 - 1, Failed: true}
		value := e.encode()
		if len(value) > MaxBytes {
			t.Errorf("%s: %d bytes", name, len(value))
		}
		got, err := decode(Prefix+"x", value)
		if err != nil || got.At != noon || got.Kind != Definition || !got.Failed {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if strings.ContainsFunc(got.What+got.Subject+got.By, func(r rune) bool { return r < ' ' || r == '\x7f' || r == '\ufffd' || r == '\u2028' }) {
			t.Errorf("%s: %q", name, got.What)
		}
	}
}

// TestPruning removes events by their age and their number, and nothing else.
func TestPruning(t *testing.T) {
	kv := newKV(t)
	old := Event{At: noon.Add(-MaxAge - time.Second), Kind: Keys, What: "old"}
	kept := Event{At: noon.Add(-MaxAge + time.Second), Kind: Keys, What: "kept"}
	write(t, kv, old, kept)
	if _, err := kv.Commit(t.Context(), nil, etcd.Put("eventsx", nil), etcd.Put("event", nil)); err != nil {
		t.Fatal(err)
	}
	if err := Prune(t.Context(), kv, noon); err != nil {
		t.Fatal(err)
	}
	list, _, err := ReadAll(t.Context(), kv, Query{Limit: 10})
	if err != nil || len(list) != 1 || list[0].What != "kept" {
		t.Fatal(list, err)
	}
	all, before, err := kv.GetPrefix(t.Context(), "")
	if err != nil || len(all) != 3 {
		t.Fatal(len(all), err)
	}
	if err := Prune(t.Context(), kv, noon); err != nil {
		t.Fatal(err)
	}
	if _, after, err := kv.GetPrefix(t.Context(), ""); err != nil || after != before {
		t.Errorf("pruning nothing wrote to etcd: revision %d, then %d, %v", before, after, err)
	}
}

// If there are too many events, the latest ones are kept: at most the limit, and at least four fifths of it.
func TestTheLatestEventsStay(t *testing.T) {
	kv := newKV(t)
	r := rand.New(rand.NewPCG(3, 4))
	var all []Event
	for range 1000 {
		all = append(all, random(r))
	}
	write(t, kv, all...)
	for _, limit := range []int64{900, 500, 100, 10} {
		first, err := firstKept(t.Context(), kv, limit)
		if err != nil {
			t.Fatal(err)
		}
		if err := removeBefore(t.Context(), kv, first); err != nil {
			t.Fatal(err)
		}
		list, _, err := ReadAll(t.Context(), kv, Query{Limit: 2000})
		if n := int64(len(list)); err != nil || n > limit || n < limit*4/5-1 {
			t.Fatalf("limit %d: %d events, %v", limit, n, err)
		}
		want := plainRead(all, Query{})[:len(list)]
		if got := list[len(list)-1].At; !got.Equal(want[len(want)-1].At) {
			t.Errorf("limit %d: the earliest event is of %v, want %v", limit, got, want[len(want)-1].At)
		}
	}
}

func TestTimesThatKeysCannotExpress(t *testing.T) {
	kv := newKV(t)
	write(t, kv, Event{At: noon, Kind: Job, What: "-"})
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{Since: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)}, 1}, {Query{Since: time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)}, 0},
		{Query{Until: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)}, 0}, {Query{Until: time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)}, 1},
	} {
		if p, err := Read(t.Context(), kv, c.q); err != nil || len(p.Events) != c.want {
			t.Errorf("%+v: %d events, %v", c.q, len(p.Events), err)
		}
	}
}

// TestARecorder checks that events are written in the order in which they were recorded, including those that are still queued
// when the recorder ends.
func TestARecorder(t *testing.T) {
	kv := newKV(t)
	r := NewRecorder(kv, slog.New(slog.DiscardHandler))
	for i := range 300 {
		r.Record(Event{At: noon.Add(time.Duration(i)), Kind: Definition, What: fmt.Sprint(i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	list, _, err := ReadAll(t.Context(), kv, Query{Limit: 1000})
	if err != nil || len(list) != 300 || r.Counts() != (Counts{Written: 300}) {
		t.Fatal(len(list), err, r.Counts())
	}
	for i, e := range list {
		if e.What != fmt.Sprint(299-i) {
			t.Fatalf("event %d is %s", i, e.What)
		}
	}
}

// TestARecorderWithoutEtcd checks that the recorder drops and counts events that don't fit into the queue, writes the rest
// once etcd answers, and ends in time if etcd doesn't answer.
func TestARecorderWithoutEtcd(t *testing.T) {
	dir := t.TempDir()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(server.Endpoint())
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	kv := kvOf(t, server)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r := NewRecorder(kv, slog.New(slog.NewTextHandler(&log, nil)))
	const more = 50
	for range maxQueued + more {
		r.Record(Event{At: noon, Kind: Definition, What: "-"})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_ = r.Run(ended)
	if got := r.Counts(); got != (Counts{Dropped: maxQueued + more}) || !strings.Contains(log.String(), fmt.Sprintf("events=%d", maxQueued)) {
		t.Fatalf("%+v: %s", got, log.String())
	}

	r = NewRecorder(kv, slog.New(slog.DiscardHandler))
	r.Record(Event{At: noon, Kind: Definition, What: "kept"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	server, err = embedded.Start(t.Context(), embedded.Config{Dir: dir, Port: port, Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for deadline := time.Now().Add(time.Minute); r.Counts().Written == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	cancel()
	<-done
	if list, _, err := ReadAll(t.Context(), kv, Query{Limit: 10}); err != nil || len(list) != 1 || list[0].What != "kept" {
		t.Error(list, err)
	}
}

// The budget of a recorder bounds its events of any time.
func TestTheBudget(t *testing.T) {
	var b budget
	r := rand.New(rand.NewPCG(7, 8))
	now, began, taken := noon, noon, 0
	for range 20_000 {
		now = now.Add(time.Duration(r.Int64N(int64(2 * time.Second))))
		if b.take(now) {
			taken++
		}
		if most := maxBurst + now.Sub(began).Hours()*perHour; float64(taken) > most+1 {
			t.Fatalf("%d events after %v", taken, now.Sub(began))
		}
	}
	if least := maxBurst + int(now.Sub(began).Hours()*perHour) - 1; taken < least {
		t.Errorf("%d events, want %d at least", taken, least)
	}
}

// TestTheRateOfErrors has one event when many statements fail, and one when that ends.
func TestTheRateOfErrors(t *testing.T) {
	var rate Rate
	var statements uint64
	codes := map[uint16]uint64{}
	now := noon
	var got []string
	observe := func(times int, ran, of1213, of1062 uint64) {
		for range times {
			now = now.Add(10 * time.Second)
			statements += ran
			codes[1213] += of1213
			codes[1062] += of1062
			for _, e := range rate.Observe(now, statements, codes) {
				got = append(got, fmt.Sprintf("%v %v %s (%v)", now.Sub(noon), e.Failed, e.What, e.Took))
			}
		}
	}
	observe(12, 1000, 1, 20) // 2 %
	observe(12, 20, 5, 1)    // many, but few errors
	observe(6, 1000, 90, 10) // 10 %
	observe(30, 1000, 1, 30) // 3 %: between half of the limit and the limit
	observe(3, 1000, 0, 0)
	observe(3, 1000, 90, 10)
	observe(12, 1000, 0, 0)
	observe(12, 0, 0, 0)
	want := []string{
		"4m10s true 11 % of the statements fail: 112 in 30s, most of them with error 1213 (0s)",
		"12m30s false few statements fail again, after 1842 errors, most of them 1062 (7m50s)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestFollowing shows the existing events, and then each new event once, including events with times in the
// past.
func TestFollowing(t *testing.T) {
	kv := newKV(t)
	now := time.Now()
	event := func(i int) Event {
		return Event{At: now.Add(time.Duration(i) * time.Second), Kind: Job, Subject: "job a", What: fmt.Sprint(i)}
	}
	write(t, kv, event(1), event(2), event(3))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown := make(chan Event, 100)
	done := make(chan error, 1)
	go func() {
		done <- Follow(ctx, kv, Query{Subject: "job a", Limit: 2}, func(list []Event) {
			for _, e := range list {
				shown <- e
			}
		})
	}()
	for _, want := range []string{"2", "3"} {
		if e := <-shown; e.What != want {
			t.Errorf("%s, want %s", e.What, want)
		}
	}
	for _, i := range []int{4, -5, 6} {
		write(t, kv, Event{At: now, Kind: Job, Subject: "job b", What: "of another job"}, event(i))
		if e := <-shown; e.What != fmt.Sprint(i) {
			t.Errorf("%s, want %d", e.What, i)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || len(shown) > 0 {
		t.Error(err, len(shown))
	}
}

// BenchmarkPage reads pages of a timeline of 50,000 events: the latest events, and the events of a subject that none of the
// first thousands has.
func BenchmarkPage(b *testing.B) {
	kv := newKV(b)
	r := rand.New(rand.NewPCG(5, 6))
	for range MaxCount / 1000 {
		var writes []etcd.Write
		for range 1000 {
			e := random(r)
			e.What = strings.Repeat("x", 150)
			writes = append(writes, Put(e))
		}
		if _, err := kv.Commit(b.Context(), nil, writes...); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]Query{"latest": {}, "rare": {Subject: "shard x"}, "since": {Since: noon.Add(-39 * time.Hour), Until: noon.Add(-38 * time.Hour), Kinds: []Kind{Job}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Read(b.Context(), kv, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("prune", func(b *testing.B) {
		for b.Loop() {
			if err := Prune(b.Context(), kv, noon); err != nil {
				b.Fatal(err)
			}
		}
	})
}
