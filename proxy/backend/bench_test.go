//go:build servers

package backend

import (
	"testing"

	"locus/internal/test/servers"
)

// BenchmarkBorrowReturn measures the hot path: an idle connection that has the wanted settings. Target: below
// 200 ns, no allocation.
func BenchmarkBorrowReturn(b *testing.B) {
	p := realPool(b, target(sharedServer(b, servers.MariaDB)), Limits{})
	want := Default.WithDatabase("one").With("sql_mode", "'ANSI'")
	warm(b, p, want, 1)
	b.ReportAllocs()
	for b.Loop() {
		c, err := p.Borrow(b.Context(), want, 0)
		if err != nil {
			b.Fatal(err)
		}
		p.Return(c)
	}
}

// BenchmarkBorrowReturnDoubtful is BenchmarkBorrowReturn with a check that the connection is alive, as after a
// second without use.
func BenchmarkBorrowReturnDoubtful(b *testing.B) {
	p := realPool(b, target(sharedServer(b, servers.MariaDB)), Limits{})
	warm(b, p, Default, 1)
	b.ReportAllocs()
	for b.Loop() {
		c, err := p.Borrow(b.Context(), Default, 0)
		if err != nil || !c.pulse.alive() {
			b.Fatal(err)
		}
		p.Return(c)
	}
}

func BenchmarkBorrowReturnParallel(b *testing.B) {
	p := realPool(b, target(sharedServer(b, servers.MariaDB)), Limits{})
	warm(b, p, Default, 32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c, err := p.Borrow(b.Context(), Default, 0)
			if err != nil {
				b.Error(err)
				return
			}
			p.Return(c)
		}
	})
}

// BenchmarkBorrowReturnColdest measures the worst position in a full idle list: all connections above it have
// other settings.
func BenchmarkBorrowReturnColdest(b *testing.B) {
	p := realPool(b, target(sharedServer(b, servers.MariaDB)), Limits{})
	other := Default.With("@x", "1")
	warm(b, p, Default, 1)
	cold := p.idle[0]
	warm(b, p, other, 99)
	b.ReportAllocs()
	for b.Loop() {
		c, err := p.Borrow(b.Context(), Default, 0)
		if err != nil {
			b.Fatal(err)
		}
		p.Return(c)
		p.idle[0], p.idle[len(p.idle)-1] = cold, p.idle[0]
	}
}

// BenchmarkBorrowOtherSettings alternates sessions with different settings: each borrow costs a reset, a SET,
// and a round trip.
func BenchmarkBorrowOtherSettings(b *testing.B) {
	p := realPool(b, target(sharedServer(b, servers.MariaDB)), Limits{MaxOpen: 1})
	wants := []*Settings{Default.With("sql_mode", "'ANSI'"), Default.With("@x", "1")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c, err := p.Borrow(b.Context(), wants[i%2], 0)
		if err != nil {
			b.Fatal(err)
		}
		p.Return(c)
	}
}

func warm(b *testing.B, p *Pool, want *Settings, n int) {
	conns := make([]*Conn, 0, n)
	for range n {
		c, err := p.Borrow(b.Context(), want, 0)
		if err != nil {
			b.Fatal(err)
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		p.Return(c)
	}
}
