package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
)

// testMemory is that of sessions without a proxy.
var testMemory = NewMemory(DefaultMemory)

// longSession is one that prepares statements without a shard.
func longSession(params int) (*Session, *prepared) {
	p := &prepared{id: 1, text: "SELECT ?", params: params}
	s := &Session{vars: sysvars.State{Values: sysvars.Values{Settings: backend.Default}}, Services: &Services{MaxStatement: 1 << 20, Counts: &Counts{}, Memory: testMemory}, prepared: map[uint32]*prepared{1: p}}
	return s, p
}

func piece(param uint16, n int) []byte {
	return wire.AppendLongData(nil, wire.LongData{Statement: 1, Param: param, Piece: make([]byte, n)})[wire.HeaderSize:]
}

// Values that came in pieces are kept up to a bound, whichever parameters they are
// for; beyond it they are dropped, and what is kept of it is that the execution fails.
func TestLongDataIsBounded(t *testing.T) {
	before := testMemory.Held()
	s, p := longSession(1 << 16)
	for i := range 20 {
		if err := s.longData(piece(uint16(i), 100_000)); err != nil {
			t.Fatal(err)
		}
	}
	if e, ok := p.tooLong.(*mysql.MyError); !ok || e.Code != mysql.ER_UNKNOWN_ERROR || !strings.Contains(e.Message, "max_allowed_packet") { //nolint:errorlint // as it is
		t.Errorf("%v", p.tooLong)
	}
	if p.long != nil || s.weight != 0 || testMemory.Held() != before {
		t.Errorf("%d values, %d bytes are still kept", len(p.long), s.weight)
	}
	s.forgetLong(p)
	for i := range 10 {
		_ = s.longData(piece(uint16(i), 100_000))
	}
	if p.tooLong != nil || s.weight != 10*(100_000+sliceSize) || len(p.long) != 10 {
		t.Errorf("%v, %d bytes", p.tooLong, s.weight)
	}
	s.forgetPrepared()
	if s.weight != 0 || testMemory.Held() != before {
		t.Errorf("%d bytes are still kept", s.weight)
	}
}

// Many statements with the last of many parameters sent hold no more than a session may.
func TestStatementsAreBoundedTogether(t *testing.T) {
	s, _ := longSession(1 << 16)
	for id := range uint32(mostPrepared) {
		s.prepared[id] = &prepared{id: id, params: 1 << 16}
		_ = s.longData(wire.AppendLongData(nil, wire.LongData{Statement: id, Param: 65_534, Piece: []byte("x")})[wire.HeaderSize:])
	}
	refused := 0
	for _, p := range s.prepared {
		if p.tooLong != nil {
			refused++
		}
	}
	if s.weight > leastHeld || refused < mostPrepared/2 {
		t.Errorf("%d bytes, %d refused", s.weight, refused)
	}
	s.forgetPrepared()
}

// What all sessions keep is bounded too, and given back with a session's end.
func TestAllSessionsAreBounded(t *testing.T) {
	before := testMemory.Held()
	var all []*Session
	for {
		s, _ := longSession(1)
		if err := s.hold(leastHeld); err != nil {
			if !strings.Contains(err.Error(), "locus-1009") {
				t.Error(err)
			}
			break
		}
		all = append(all, s)
	}
	if n := int64(len(all)); n*leastHeld > testMemory.Most() || (n+1)*leastHeld+before <= testMemory.Most() {
		t.Errorf("%d sessions", n)
	}
	for _, s := range all {
		s.letGo(leastHeld)
	}
	if testMemory.Held() != before {
		t.Error("some of it is still counted")
	}
}

// The texts of PREPARE count as well.
func TestTextsAreBounded(t *testing.T) {
	before := testMemory.Held()
	s, _ := longSession(1)
	text, kept := strings.Repeat("x", 1<<20), 0
	for i := range 100 {
		if s.holdText(fmt.Sprint(i), text) == nil {
			kept++
		}
	}
	if kept != leastHeld>>20-1 { // names and what is kept for each take a little
		t.Errorf("%d MiB are kept", kept)
	}
	s.forgetTexts()
	if len(s.texts) != 0 || testMemory.Held() != before {
		t.Errorf("%d texts", len(s.texts))
	}
}

// Variables are few and small enough to be compared at each SET.
func TestVariablesAreBounded(t *testing.T) {
	large := backend.Default.With("@a", "'"+strings.Repeat("x", mostSettings)+"'")
	if err := settable(large); err == nil {
		t.Error("a large one is kept")
	}
	if err := settable(backend.Default.With("@a", "'x'")); err != nil {
		t.Error(err)
	}
}
