package trace

import "testing"

// kept is a sink that stores traces in memory.
type kept struct {
	statements []*Statement
	segments   []Segment
}

func (k *kept) Statement(s *Statement) { k.statements = append(k.statements, s) }
func (k *kept) Segment(s Segment)      { k.segments = append(k.segments, s) }

const example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTheApplicationDecides(t *testing.T) {
	comment := func(parent string) []byte { return []byte("/*app='shop',traceparent='" + parent + "',framework='x'*/") }
	for _, test := range []struct {
		name        string
		share       float64
		first, last []byte
		traced      bool
		child       bool // the span is a child of the application's span
	}{
		{"nobody asks", 0, nil, nil, false, false},
		{"everything", 1, nil, nil, true, false},
		{"a comment of no traces", 1, []byte("/* hello */"), []byte("/* hello */"), true, false},
		{"behind", 0, nil, comment(example), true, true},
		{"before", 0, comment(example), []byte("/* hello */"), true, true},
		{"the application does not trace it", 1, nil, comment(example[:len(example)-1] + "0"), false, false},
		{"another flag is set, too", 0, nil, comment(example[:len(example)-2] + "03"), true, true},
		{"of a later version", 0, nil, comment("cc" + example[2:] + "-what"), true, true},
		{"of no version", 0, nil, comment("ff" + example[2:]), false, false},
		{"longer than its version", 0, nil, comment(example + "-what"), false, false},
		{"too short", 0, nil, comment(example[:30]), false, false},
		{"no number", 0, nil, comment("00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01"), false, false},
		{"nobody's", 0, nil, comment("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), false, false},
		{"unclosed", 0, nil, []byte("/*traceparent='" + example + "*/"), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(new(kept), test.share).Begin(test.first, test.last)
			if (s != nil) != test.traced {
				t.Fatalf("traced is %v", s != nil)
			}
			if s == nil {
				return
			}
			if got := s.Parent.Trace[0] == 0x4b && s.Parent.Span[7] == 0xb7; got != test.child || s.Parent.IsZero() == test.child {
				t.Errorf("%+v", s.Parent)
			}
		})
	}
}

// TestNothingIsAllocatedForOthers: a statement that isn't traced causes no allocation, whatever the reason.
func TestNothingIsAllocatedForOthers(t *testing.T) {
	unsampled := []byte("/*traceparent='" + example[:len(example)-1] + "0'*/")
	tracer := New(new(kept), 0)
	if n := testing.AllocsPerRun(100, func() {
		for _, last := range [][]byte{nil, unsampled} {
			s := tracer.Begin(nil, last)
			defer s.Enter(Issue, "")()
			s.Sent("s0", "")
			s.Answered("s0", 1, 0)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTheShareIsKept(t *testing.T) {
	const of = 20_000
	tracer, traced := New(new(kept), 0.25), 0
	for range of {
		if tracer.Begin(nil, nil) != nil {
			traced++
		}
	}
	if traced < of/5 || traced > of*3/10 { // practically impossible by chance
		t.Errorf("%d of %d", traced, of)
	}
}

// TestPartsOfAStatement: a part is within the innermost open part that began before it. A part that is still open ends with the
// statement.
func TestPartsOfAStatement(t *testing.T) {
	sink := new(kept)
	s := New(sink, 1).Begin(nil, nil)
	gathered := s.Enter(Gather, "")
	table := s.Enter(Table, "o")
	s.Sent("s0", "a:1")
	s.Sent("s1", "a:2")
	s.Answered("s1", 3, 0)
	s.Answered("s0", 4, 1064)
	table()
	s.Sent("s0", "a:1")
	gathered()
	s.Sent("s1", "a:2")
	s.End()
	if len(sink.statements) != 1 {
		t.Fatalf("%d statements", len(sink.statements))
	}
	for i, want := range []Part{
		{Kind: Gather, Under: -1},
		{Kind: Table, Under: 0},
		{Shard: "s0", Under: 1, Rows: 4, Code: 1064},
		{Shard: "s1", Under: 1, Rows: 3},
		{Shard: "s0", Under: 0},
		{Shard: "s1", Under: -1},
	} {
		got := s.Parts[i]
		if got.Kind != want.Kind || got.Under != want.Under || got.Shard != want.Shard || got.Rows != want.Rows || got.Code != want.Code {
			t.Errorf("part %d: %+v, want %+v", i, got, want)
		}
		if got.Ended.Before(got.Began) || got.Ended.After(s.Ended) {
			t.Errorf("part %d: from %v to %v, of a statement to %v", i, got.Began, got.Ended, s.Ended)
		}
	}
}

// TestPartsAreBounded: the memory for a statement of very many parts is limited.
func TestPartsAreBounded(t *testing.T) {
	s := New(new(kept), 1).Begin(nil, nil)
	for range 1000 {
		s.Sent("s0", "")
		s.Answered("s0", 0, 0)
		s.Enter(Hold, "")()
	}
	s.End()
	if len(s.Parts) != mostParts || s.LeftOut != 2000-mostParts {
		t.Errorf("%d parts, %d left out", len(s.Parts), s.LeftOut)
	}
}
