package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/internal/test/fakeshard"
	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
)

// stand is a mirror between two fake shards.
type stand struct {
	*Mirror
	t              *testing.T
	pools          *backend.Registry
	source, target *fakeshard.Server
	spare          *fakeshard.Server // replaces the target later
	routes         atomic.Pointer[router.Map]
	applied        func() error
	waits          int // number of waits for the stream
}

const question = "SELECT amount FROM orders WHERE user_id = 4711"

func newStand(t *testing.T, c Config) *stand {
	t.Helper()
	s := &stand{t: t, source: fakeshard.Start(t), target: fakeshard.Start(t), spare: fakeshard.Start(t), applied: func() error { return nil }}
	s.pools = backend.NewRegistry(backend.Limits{ConnectTimeout: time.Second}, slog.New(slog.DiscardHandler))
	s.pools.Apply([]backend.Target{s.source.Target("s0"), s.target.Target("s1")})
	t.Cleanup(func() {
		if err := s.pools.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s.moves(100, "s0")
	c.Pools, c.Map = s.pools, s.routes.Load
	c.Applied = func(_ context.Context, job string, from, to router.ShardName) error {
		if s.waits++; job != "split-1" || from != "s0" || to != "s1" {
			t.Errorf("%s from %s to %s", job, from, to)
		}
		return s.applied()
	}
	if c.Deadline == 0 {
		c.Deadline = 10 * time.Second
	}
	s.Mirror = New(c)
	s.Follow(s.routes.Load().Moves())
	return s
}

// moves publishes a map in which the given percentage of the reads of genes 0 to 7 is mirrored, and owner owns these genes.
func (s *stand) moves(percent int, owner router.ShardName) {
	s.t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 7, Shard: owner}, {Bound: 0xffff, Shard: "s0"}})
	if err == nil {
		m, err = m.Step([]router.Move{{Job: "split-1", Genes: gene.NewSet(gene.Range{Last: 7}), From: "s0", To: "s1", Mirror: percent}})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.routes.Store(m)
}

// answers makes a server answer the query with rows, always or once.
func answers(on *fakeshard.Server, always bool, rows ...string) {
	r := fakeshard.Reply{Prefix: "SELECT amount", Always: always, Columns: []wire.Column{amount}, Rows: [][]string{}}
	for _, row := range rows {
		r.Rows = append(r.Rows, []string{row})
	}
	on.Next(r)
}

func asked() *Read {
	return &Read{
		Job: "split-1", From: "s0", To: "s1", Genes: []gene.Gene{3}, Settings: backend.Default.WithDatabase("shop"), Text: []byte(question),
	}
}

// repeats mirrors a read that the client was answered with rows.
func (s *stand) repeats(r *Read, rows ...string) {
	s.t.Helper()
	s.Offer(r, read(s.t, packets(amount, rows...), whole))
	var in Reader
	select {
	case r = <-s.queue:
		s.repeat(s.t.Context(), r, &in)
	default:
	}
}

// checks checks the reads that differ until none is left. It returns how many checks it made.
func (s *stand) checks() (times int) {
	for s.again.any() {
		s.checkAll(s.t.Context(), new(Reader))
		times++
	}
	return times
}

func (s *stand) counted(want Counts) Report {
	s.t.Helper()
	r := s.Reports()["split-1"]
	if r.Counts != want {
		s.t.Errorf("%+v\nwant %+v", r.Counts, want)
	}
	return r
}

// TestEqualAnswers: equal answers are counted, with the time that each took, and are not checked again.
func TestEqualAnswers(t *testing.T) {
	s := newStand(t, Config{})
	answers(s.target, true, "3", "1")
	s.repeats(asked(), "1", "3")
	ordered := asked()
	ordered.Ordered = true
	s.repeats(ordered, "1", "3")
	r := s.counted(Counts{Sampled: 2, Compared: 2, Reordered: 1})
	if len(r.Source.Times) == 0 || len(r.Target.Times) == 0 || s.again.any() {
		t.Errorf("%+v", r)
	}
	if sent := s.source.Sent(); len(sent) > 0 {
		t.Errorf("the source was sent %q", sent)
	}
}

// TestPrepared: an execution is repeated with its parameters.
func TestPrepared(t *testing.T) {
	s := newStand(t, Config{})
	answers(s.source, true, "1")
	answers(s.target, true, "1")
	r := asked()
	r.Text, r.Prepared, r.Under = []byte("SELECT amount FROM orders WHERE user_id = ?"), true, r.Settings
	r.Params = []wire.Param{{Type: mysql.MYSQL_TYPE_LONGLONG, Value: make([]byte, 8)}}
	s.repeats(r, "1") // the client got text, so the answer differs
	s.checks()
	s.counted(Counts{Sampled: 1, Compared: 1, Lag: 1})
	if heard := fmt.Sprint(s.source.Heard(), s.target.Heard()); strings.Count(heard, "[execute]") < 4 {
		t.Errorf("heard %s", heard)
	}
}

// TestDifference: an answer that stays different while the source's stays the same is a difference. It is kept without literals.
func TestDifference(t *testing.T) {
	s := newStand(t, Config{})
	answers(s.source, true, "1", "3")
	answers(s.target, true, "1")
	s.repeats(asked(), "1", "3")
	s.repeats(asked(), "1", "3")
	if n := s.checks(); n != confirmations || s.waits != confirmations {
		t.Errorf("%d looks, %d waits for the stream", n, s.waits)
	}
	r := s.counted(Counts{Sampled: 2, Compared: 2, Different: 2})
	if len(r.Differences) != 1 {
		t.Fatalf("%+v", r.Differences)
	}
	d := r.Differences[0]
	if d.SourceRows != 2 || d.TargetRows != 1 || d.Times != 2 || d.Gene != "0x0003" || d.SourceHash == d.TargetHash || strings.Contains(d.Statement, "4711") || d.Digest == "" {
		t.Errorf("%+v", d)
	}
	s.repeats(asked(), "1", "3") // the same difference again
	s.checks()
	if r = s.counted(Counts{Sampled: 3, Compared: 3, Different: 3}); len(r.Differences) != 1 || r.Differences[0].Times != 3 {
		t.Errorf("%+v", r.Differences)
	}
}

// TestRefusedByTheTarget: an error of the target for a read that the source answers is a difference.
func TestRefusedByTheTarget(t *testing.T) {
	s := newStand(t, Config{})
	answers(s.source, true, "1")
	s.target.Next(fakeshard.Reply{Prefix: "SELECT amount", Always: true, Code: mysql.ER_BAD_FIELD_ERROR})
	s.repeats(asked(), "1")
	s.checks()
	if r := s.counted(Counts{Sampled: 1, Compared: 1, Different: 1}); len(r.Differences) != 1 || r.Differences[0].Code != mysql.ER_BAD_FIELD_ERROR {
		t.Errorf("%+v", r.Differences)
	}
}

// TestLag: the answer was late if the target later gives either of the source's answers.
func TestLag(t *testing.T) {
	for name, last := range map[string][]string{"as before": {"1"}, "as after": {"2"}} {
		s := newStand(t, Config{})
		answers(s.source, false, "1")
		answers(s.source, false, "2")
		answers(s.target, false, "0")
		answers(s.target, false, last...)
		s.repeats(asked(), "1")
		s.checks()
		if r := s.counted(Counts{Sampled: 1, Compared: 1, Lag: 1}); len(r.Differences) > 0 {
			t.Errorf("%s: %+v", name, r.Differences)
		}
	}
}

// TestSeenOnce: a difference that one check finds is none, because the source may show rows later than it logs them.
func TestSeenOnce(t *testing.T) {
	s := newStand(t, Config{})
	answers(s.target, false, "0")
	answers(s.target, false, "2") // applied, and
	answers(s.source, false, "1") // not shown yet
	answers(s.source, false, "1")
	answers(s.source, true, "2")
	answers(s.target, true, "2")
	s.repeats(asked(), "1")
	if n := s.checks(); n != 2 {
		t.Errorf("%d looks", n)
	}
	s.counted(Counts{Sampled: 1, Compared: 1, Lag: 1})
}

// TestUnsettled: a read stays unsettled if its rows change with each check, or if the progress of the stream can't be read.
func TestUnsettled(t *testing.T) {
	s := newStand(t, Config{})
	for i := range 2 * mostChecks {
		answers(s.source, false, fmt.Sprint(i))
	}
	answers(s.target, true, "elsewhere")
	s.repeats(asked(), "1")
	if n := s.checks(); n != mostChecks {
		t.Errorf("%d looks", n)
	}
	s.counted(Counts{Sampled: 1, Compared: 1, Unsettled: 1})
	s.applied = func() error { return errors.New("the mover is away") }
	answers(s.source, true, "1")
	s.repeats(asked(), "1")
	s.checks()
	s.counted(Counts{Sampled: 2, Compared: 2, Unsettled: 2})
}

// TestCutByLimit: with LIMIT, servers may choose different rows, so only their number is compared.
func TestCutByLimit(t *testing.T) {
	s := newStand(t, Config{})
	r := asked()
	r.Cut = true
	answers(s.target, true, "2")
	s.repeats(r, "1")
	s.counted(Counts{Sampled: 1, Compared: 1})
}

// TestNotMirroredAnyMore: a read is not sent if its genes were handed over or are no longer mirrored. One that differed is not
// checked again.
func TestNotMirroredAnyMore(t *testing.T) {
	for name, changes := range map[string]func(*stand){
		"handed over": func(s *stand) { s.moves(100, "s1") },
		"none":        func(s *stand) { s.moves(0, "s0") },
	} {
		s := newStand(t, Config{})
		answers(s.target, true, "2")
		s.repeats(asked(), "1") // differs
		changes(s)
		s.target.Sent()
		s.repeats(asked(), "1")
		s.checks()
		if sent := append(s.target.Sent(), s.source.Sent()...); len(sent) > 0 {
			t.Errorf("%s: sent %q", name, sent)
		}
		s.counted(Counts{Sampled: 2, Compared: 1, Unsent: 1, Unsettled: 1})
	}
}

// TestTargetAway: a target that is down gets only occasional attempts, which the report shows. Copies are sent again once it is
// back.
func TestTargetAway(t *testing.T) {
	s := newStand(t, Config{Pause: time.Hour})
	s.target.Stop()
	s.repeats(asked(), "1")
	s.repeats(asked(), "1")
	if r := s.counted(Counts{Sampled: 2, Failed: 1, Unsent: 1}); r.Away == "" || r.AwaySince.IsZero() {
		t.Errorf("%+v", r)
	}
	s.count(asked(), func(f *figures) { f.outage.next = time.Time{} }) // an hour later
	answers(s.spare, true, "1")
	s.pools.Apply([]backend.Target{s.source.Target("s0"), s.spare.Target("s1")})
	s.repeats(asked(), "1")
	s.repeats(asked(), "1")
	if r := s.counted(Counts{Sampled: 4, Failed: 1, Unsent: 1, Compared: 2}); r.Away != "" {
		t.Errorf("%+v", r)
	}
}

// TestDeadline: a copy that takes too long is ended, and counts with the deadline, so that a missing index is visible in the
// figures.
func TestDeadline(t *testing.T) {
	s := newStand(t, Config{Deadline: 20 * time.Millisecond})
	s.target.Next(fakeshard.Reply{Prefix: "SELECT amount", Waits: true})
	s.repeats(asked(), "1")
	r := s.counted(Counts{Sampled: 1, Late: 1})
	if len(r.Target.Times) != 1 || time.Duration(r.Target.Times[0].UpToNs) < 20*time.Millisecond {
		t.Errorf("%+v", r.Target)
	}
}

// TestBound: without workers, copies wait up to the limit, and further ones are dropped at once.
func TestBound(t *testing.T) {
	s := newStand(t, Config{})
	for range mostWaiting + 44 {
		s.Offer(asked(), Answer{})
	}
	s.counted(Counts{Sampled: mostWaiting + 44, Dropped: 44})
	for i := range mostDoubtful + 5 {
		r := asked()
		r.Text = fmt.Append(r.Text, i)
		s.doubt(r)
	}
	if r := s.Reports()["split-1"]; r.Looking != mostDoubtful || r.Unsettled != 5 {
		t.Errorf("%d looked at, %d unsettled", r.Looking, r.Unsettled)
	}
}

// TestCopies: a copy doesn't refer to the client's command, whose memory is reused.
func TestCopies(t *testing.T) {
	s := newStand(t, Config{})
	text, value, genes := []byte(question), []byte{1}, []gene.Gene{3}
	r := asked()
	r.Text, r.Params, r.Genes = text, []wire.Param{{Value: value}, {}}, genes
	s.Offer(r, Answer{})
	copy(text, "DELETE")
	value[0], genes[0] = 2, 4
	kept := <-s.queue
	if string(kept.Text) != question || kept.Params[0].Value[0] != 1 || kept.Params[1].Value != nil || kept.Genes[0] != 3 {
		t.Errorf("%+v", kept)
	}
	r.Params = []wire.Param{{Value: make([]byte, mostText)}}
	if r.Fits() {
		t.Error("a parameter of that length is copied")
	}
}

// TestFollow: figures begin at zero each time that a move is mirrored, remain when it is not mirrored any more, and are deleted
// with the job.
func TestFollow(t *testing.T) {
	s := newStand(t, Config{})
	answers(s.target, true, "1")
	s.repeats(asked(), "1")
	s.moves(0, "s0")
	s.Follow(s.routes.Load().Moves())
	if r := s.counted(Counts{Sampled: 1, Compared: 1}); r.Percent != 0 || len(r.Target.Times) == 0 {
		t.Errorf("%+v", r)
	}
	s.moves(10, "s0")
	s.Follow(s.routes.Load().Moves())
	if r := s.counted(Counts{}); r.Percent != 10 || len(r.Target.Times) > 0 {
		t.Errorf("%+v", r)
	}
	s.Follow(nil)
	if all := s.Reports(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	s.Offer(asked(), Answer{}) // this read is of a job that has ended
	if len(s.queue) > 0 {
		t.Error("it waits")
	}
}

func TestShare(t *testing.T) {
	for percent, want := range map[int][2]int{0: {0, 0}, 100: {10_000, 10_000}, 30: {2000, 4000}} {
		n := 0
		for range 10_000 {
			if (*Mirror)(nil).Chooses(&router.Move{Mirror: percent}) {
				n++
			}
		}
		if n < want[0] || n > want[1] {
			t.Errorf("%d of 10,000 at %d %%", n, percent)
		}
	}
}

// TestRunEnds: when Run returns, everything that it began has ended, including copies that wait for a silent server.
func TestRunEnds(t *testing.T) {
	s := newStand(t, Config{Pause: time.Millisecond})
	answers(s.source, true, "1")
	answers(s.target, false, "2")
	answers(s.target, false, "1")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	s.Offer(asked(), read(t, packets(amount, "1"), whole))
	for s.Reports()["split-1"].Lag == 0 {
		if t.Context().Err() != nil {
			t.Fatal("it does not settle")
		}
		if !pause(t.Context(), time.Millisecond) {
			t.Fatal("it does not settle")
		}
	}
	s.target.Next(fakeshard.Reply{Prefix: "SELECT amount", Waits: true, Always: true})
	s.Offer(asked(), read(t, packets(amount, "1"), whole))
	<-s.target.Asleep()
	cancel()
	<-ended
}
