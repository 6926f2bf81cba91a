package job_test

import (
	"encoding/json"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
)

// mirroring is a job in a map.
type mirroring struct {
	t *testing.T
	j *job.Job
	m *router.Map
}

// takes reports whether the job accepts the request.
func (s *mirroring) takes(percent int) bool {
	next, err := s.j.Told(job.Mirror(percent), "ann", noon)
	if err == nil {
		s.j = next
	}
	return err == nil
}

func (s *mirroring) on(k phase.Kind) {
	s.t.Helper()
	next, err := s.j.On(phase.Event{Kind: k}, "mover", "", noon)
	if err != nil {
		s.t.Fatal(err)
	}
	s.j = next
}

// shares writes the share into the map, as each request does, and checks it.
func (s *mirroring) shares(want int) {
	s.t.Helper()
	next, err := s.j.Mirrored(s.m)
	if err != nil {
		s.t.Fatal(err)
	}
	if next != nil {
		s.m = next
	}
	if v, _ := s.m.MoveOf(s.j.ID); v.Mirror != want || s.j.Moves()[0].Mirror != want {
		s.t.Errorf("%s: %d %% in the map, %d by the record, want %d", s.j.State.Shown(), v.Mirror, s.j.Moves()[0].Mirror, want)
	}
}

// Reads are mirrored from when the target has all rows until these are deleted, and the map contains the share.
func TestMirror(t *testing.T) {
	s := &mirroring{t: t, j: planned(t)}
	if s.takes(10) || !s.takes(0) {
		t.Error("reads are mirrored before anything is copied, or that can't be ended")
	}
	var err error
	if s.m, err = router.Equal(gene.W16, []router.ShardName{s.j.From, s.j.To}); err != nil {
		t.Fatal(err)
	}
	if s.m, err = s.m.Step(s.j.Moves()); err != nil {
		t.Fatal(err)
	}
	for _, k := range []phase.Kind{phase.Announced, phase.Copied} {
		if s.on(k); s.takes(10) {
			t.Errorf("mirrored while it is %s", s.j.State.Shown())
		}
	}
	if s.on(phase.CaughtUp); !s.takes(10) || s.takes(101) {
		t.Errorf("10 %% are refused while it is %s, or 101 %% are not", s.j.State.Shown())
	}
	s.shares(10)
	text, err := json.Marshal(s.j)
	if err != nil {
		t.Fatal(err)
	}
	read := new(job.Job)
	if err := json.Unmarshal(text, read); err != nil || read.Mirror != 10 {
		t.Errorf("%d %% are read, %v, of\n%s", read.Mirror, err, text)
	}
	s.on(phase.Verified)
	if next, err := s.j.Mirrored(s.m); next != nil || err != nil {
		t.Error("the same share is written again")
	}
	held, err := s.m.Step(s.j.Held(s.j.Genes, true))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := held.MoveOf(s.j.ID); v.Mirror != 10 {
		t.Error("a step's fence ends it")
	}
	if !s.takes(20) {
		t.Error("20 % are refused within a step")
	}
	if next, err := s.j.Mirrored(held); next != nil || err != nil {
		t.Error("20 % are written into a step")
	}
	s.on(phase.Abort)
	s.shares(0)
	if s.takes(10) || !s.takes(0) {
		t.Error("reads are mirrored while the target's rows are deleted")
	}
}

// Builds that don't support mirroring refuse a map with a share.
func TestMirrorInTheMap(t *testing.T) {
	m, err := router.Equal(gene.W16, []router.ShardName{"s0", "s1"})
	if err != nil {
		t.Fatal(err)
	}
	move := router.Move{Job: "split-1", Genes: gene.NewSet(gene.Range{First: 1, Last: 9}), From: "s0", To: "s1", Mirror: 7}
	next, err := m.Step([]router.Move{move})
	if err != nil {
		t.Fatal(err)
	}
	text := router.Encode(next, router.Stamp{})
	again, _, err := router.Decode(text)
	if err != nil || !strings.HasPrefix(string(text), "schema: 5\n") {
		t.Fatalf("%v\n%s", err, text)
	}
	if v, _ := again.MoveOf("split-1"); v.Mirror != 7 {
		t.Errorf("read %+v", v)
	}
	for _, wrong := range []router.Move{{Mirror: 101}, {Mirror: -1}, {Mirror: 1, BySequence: true}, {Mirror: 1, Tables: []string{"shop.notes"}}} {
		wrong.Job, wrong.Genes, wrong.From, wrong.To = move.Job, move.Genes, move.From, move.To
		if _, err := m.Step([]router.Move{wrong}); err == nil {
			t.Errorf("a map with %+v", wrong)
		}
	}
}
