package kept

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// session is a session with its own memory.
type session struct {
	*Statements
	memory *Memory
	open   atomic.Int64
}

func newSession(t testing.TB) *session {
	t.Helper()
	s := &session{memory: NewMemory(DefaultMemory)}
	s.Statements = NewStatements(NewShare(s.memory, 1<<20), 1<<20, &s.open)
	t.Cleanup(func() {
		s.Reset()
		if n := s.open.Load(); n != 0 || s.share.Held() != 0 || s.memory.Held() != 0 {
			t.Errorf("%d statements, %d and %d bytes are still counted", n, s.share.Held(), s.memory.Held())
		}
	})
	return s
}

// add prepares a statement with the given number of parameters.
func (s *session) add(t testing.TB, params int) *Statement {
	t.Helper()
	p := &Statement{Text: "SELECT ?", Params: params}
	if err := s.Hold(p); err != nil {
		t.Fatal(err)
	}
	s.Add(p)
	s.Release(p) // Release applies only to statements that were not added
	return p
}

func piece(p *Statement, param uint16, n int) wire.LongData {
	return wire.LongData{Statement: p.ID, Param: param, Piece: make([]byte, n)}
}

// Statements are found by their numbers until they are closed.
func TestStatements(t *testing.T) {
	s := newSession(t)
	a, b := s.add(t, 1), s.add(t, 0)
	command := func(id uint32) []byte { return []byte{mysql.COM_STMT_EXECUTE, byte(id), 0, 0, 0} }
	if found, err := s.Find(command(b.ID)); found != b || err != nil || a.ID == b.ID || s.open.Load() != 2 {
		t.Errorf("%v, %v", found, err)
	}
	s.Close(a)
	_, err := s.Find(command(a.ID))
	if e, ok := errors.AsType[*mysql.MyError](err); !ok || e.Code != erUnknownStmt || s.open.Load() != 1 {
		t.Error(err)
	}
	_, err = s.Find([]byte{mysql.COM_STMT_EXECUTE, 1})
	if e, ok := errors.AsType[*mysql.MyError](err); !ok || e.Code != wire.ErMalformed {
		t.Error(err)
	}
	if c := s.add(t, 0); c.ID == a.ID || c.ID == b.ID {
		t.Error("a number is given twice")
	}
}

// A statement that could not be prepared keeps no memory.
func TestRelease(t *testing.T) {
	s := newSession(t)
	p := new(Statement)
	p.Lexed.Lex([]byte("SELECT 1"), 0)
	if err := s.Hold(p); err != nil || s.share.Held() == 0 {
		t.Fatal(err)
	}
	s.Release(p)
	if n := s.share.Held(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
}

// The number of statements by number and by name is limited.
func TestStatementsAreCounted(t *testing.T) {
	s := newSession(t)
	for range most - 1 {
		s.Add(new(Statement))
	}
	if err := errors.Join(s.Full(), s.FullOfNames(), s.Name("a", Text{Text: "SELECT 1"})); err != nil {
		t.Error(err)
	}
	if s.FullOfNames() == nil || s.Full() != nil {
		t.Error("the name does not count, or counts as a number")
	}
	s.Add(new(Statement))
	if s.Full() == nil {
		t.Error("there is room for one more")
	}
}

// Values in pieces are kept up to a limit for all parameters together. Beyond it they are dropped, and only the failure of the execution is kept.
func TestLongDataIsBounded(t *testing.T) {
	s := newSession(t)
	p := s.add(t, 1<<16)
	alone := s.share.Held()
	for i := range 20 {
		s.Lengthen(piece(p, uint16(i), 100_000))
	}
	if e, ok := errors.AsType[*mysql.MyError](p.TooLong); !ok || e.Code != mysql.ER_UNKNOWN_ERROR || !strings.Contains(e.Message, "max_allowed_packet") {
		t.Errorf("%v", p.TooLong)
	}
	if p.Long != nil || s.share.Held() != alone {
		t.Errorf("%d values, %d bytes are still kept", len(p.Long), s.share.Held()-alone)
	}
	s.ForgetLong(p)
	for i := range 10 {
		s.Lengthen(piece(p, uint16(i), 100_000))
	}
	if p.TooLong != nil || s.share.Held() != alone+10*(100_000+sliceSize) || len(p.Long) != 10 {
		t.Errorf("%v, %d bytes", p.TooLong, s.share.Held()-alone)
	}
	s.Lengthen(wire.LongData{Statement: 99, Piece: []byte("x")})
	s.Lengthen(piece(s.add(t, 1), 1, 1)) // the parameter does not exist
	if n := s.share.Held(); n != 2*alone+10*(100_000+sliceSize) {
		t.Errorf("%d bytes", n)
	}
}

// Many statements, each with only the last of many parameters sent, keep no more memory than a session may.
func TestStatementsAreBoundedTogether(t *testing.T) {
	s := newSession(t)
	refused := 0
	for range most {
		p := &Statement{Params: 1 << 16}
		s.Add(p)
		s.Lengthen(piece(p, 65_534, 1))
		if p.TooLong != nil {
			refused++
		}
	}
	if s.share.Held() > least || refused < most/2 {
		t.Errorf("%d bytes, %d refused", s.share.Held(), refused)
	}
}

// The memory of all sessions is limited too, and released when a session ends.
func TestAllSessionsAreBounded(t *testing.T) {
	memory := NewMemory(DefaultMemory)
	var all []*Share
	for {
		s := NewShare(memory, 1<<20)
		if err := s.Take(least); err != nil {
			if !strings.Contains(err.Error(), "locus-1009") {
				t.Error(err)
			}
			break
		}
		all = append(all, s)
	}
	if n := int64(len(all)); n*least > memory.Most() || (n+1)*least <= memory.Most() {
		t.Errorf("%d sessions", n)
	}
	for _, s := range all {
		s.End()
	}
	if memory.Held() != 0 {
		t.Error("some of it is still counted")
	}
}

// The texts of PREPARE count too.
func TestTextsAreBounded(t *testing.T) {
	s := newSession(t)
	text, kept := strings.Repeat("x", 1<<20), 0
	for i := range 100 {
		if s.Name(fmt.Sprint(i), Text{Text: text}) == nil {
			kept++
		}
	}
	if kept != least>>20-1 { // the names and the entries take a little
		t.Errorf("%d MiB are kept", kept)
	}
	if s.Named("0") == nil || s.Named("99") != nil {
		t.Error("a name is not the text that was kept under it")
	}
	s.Forget("0")
	s.Forget("nothing")
	if s.Named("0") != nil {
		t.Error("it is still there")
	}
}

// Variables are few and small enough to be compared at each SET.
func TestVariablesAreBounded(t *testing.T) {
	if err := Settable(backend.Default.With("@a", "'"+strings.Repeat("x", mostSettings)+"'")); err == nil {
		t.Error("a large one is kept")
	}
	if err := Settable(backend.Default.With("@a", "'x'")); err != nil {
		t.Error(err)
	}
}

// The values that a session has set count while they are set, and not before.
func TestSettingsCount(t *testing.T) {
	memory := NewMemory(least)
	s := NewShare(memory, 0)
	small, large := backend.Default.With("@a", "'x'"), backend.Default.With("@a", "'"+strings.Repeat("x", 1<<20)+"'")
	if err := s.Carriable(large); err != nil || s.Held() != 0 {
		t.Errorf("%v, %d bytes", err, s.Held())
	}
	s.Carry(large)
	if s.Held() != weightOf(large) || memory.Held() != int64(weightOf(large)) {
		t.Errorf("%d bytes", s.Held())
	}
	if err := s.Take(least - s.Held()); err != nil {
		t.Fatal(err)
	}
	if s.Carriable(large.With("@b", "1")) == nil {
		t.Error("there is no room for more")
	}
	if err := s.Carriable(small); err != nil {
		t.Error(err)
	}
	s.Carry(small)
	s.Carry(backend.Default)
	if s.Held() != least-weightOf(large) {
		t.Errorf("%d bytes", s.Held())
	}
	s.End()
	if memory.Held() != 0 || memory.Most() != least {
		t.Error("some of it is still counted")
	}
}

// A prepared statement is parsed with the settings that its connection had when it was prepared.
func TestReading(t *testing.T) {
	now := backend.Default.WithDatabase("shop").With("sql_mode", "'ANSI_QUOTES'")
	r := Reading{Settings: now.Reading(), Mode: stmt.AnsiQuotes}
	if r.On(now) != now || r.On(nil) != nil {
		t.Error("what decides the reading has not changed")
	}
	later := now.With("sql_mode", "''").With("@a", "1")
	under := r.On(later)
	if mode, _ := under.Lookup("sql_mode"); mode != "'ANSI_QUOTES'" || under == later || r.On(later) != under {
		t.Errorf("sql_mode is %s", mode)
	}
	if _, set := under.Lookup("@a"); !set {
		t.Error("what does not decide the reading is the connection's")
	}
	large := later.With("@b", "'"+strings.Repeat("x", 2*lightReading)+"'")
	if mode, _ := r.On(large).Lookup("sql_mode"); mode != "'ANSI_QUOTES'" || r.present == large {
		t.Error("large settings are kept for the next execution")
	}
}

// TestRecent tests that the number 0xffffffff refers to the statement that was prepared last, until it is closed.
func TestRecent(t *testing.T) {
	var open atomic.Int64
	l := NewStatements(NewShare(NewMemory(1<<20), 1<<20), 1<<20, &open)
	execute := []byte{mysql.COM_STMT_EXECUTE, 0xff, 0xff, 0xff, 0xff}
	if _, err := l.Find(execute); err == nil {
		t.Error("without a statement there is no error")
	}
	first, second := new(Statement), new(Statement)
	l.Add(first)
	l.SetRecent(first)
	l.Add(second)
	l.SetRecent(second)
	if got, err := l.Find(execute); got != second {
		t.Errorf("the last of two: %v, %v", got, err)
	}
	l.Close(first)
	if got, err := l.Find(execute); got != second {
		t.Errorf("after the other one was closed: %v, %v", got, err)
	}
	l.Close(second)
	if got, err := l.Find(execute); err == nil {
		t.Errorf("after it was closed: %v", got)
	}
}
