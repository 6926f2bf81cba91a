package meter

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func (s *Statements) ran(hash uint64, took time.Duration, change ...func(*Run)) {
	r := Run{Kind: Select, Shard: "s0", Took: took, Rows: 1, At: time.Since(Epoch)}
	for _, c := range change {
		c(&r)
	}
	s.add(s.Find("shop", hash, r.Kind, func() (string, []string) { return fmt.Sprintf("select %d", hash), nil }), &r, grid.of(took))
}

func TestDigestsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		began := time.Now().UTC()
		s.Turn(began)
		for i := range 99 {
			s.ran(0xa1, time.Millisecond, func(r *Run) { r.Lane = uint32(i) })
		}
		time.Sleep(time.Minute) // virtual
		s.ran(0xa1, time.Second, func(r *Run) {
			r.Shard, r.Failed, r.Code, r.Rows, r.Waited, r.Held = SeveralShards, true, 1062, 0, 100*time.Millisecond, 200*time.Millisecond
		})
		s.ran(0xb2, 10*time.Millisecond)
		r := s.Report(time.Now(), 10, 8)
		if len(r.Digests) != 2 || r.Kept != 2 || r.Others.Count != 0 || !r.Since.Equal(began) {
			t.Fatalf("%+v", r)
		}
		f := r.Digests[0]
		if f.Hash != "00000000000000a1" || f.Text != "select 1…" || f.Database != "shop" || f.Kind != "select" || f.Count != 100 || f.Failed != 1 || f.LastCode != 1062 ||
			f.Rows != 99 || f.Several != 1 || f.TotalMs != 1099 || f.SlowestMs != 1000 || f.WaitedMs != 100 || f.HeldMs != 200 {
			t.Errorf("%+v", f)
		}
		if p50, p99 := Quantile(f.Times, 0.5), Quantile(f.Times, 0.99); p50 < time.Millisecond || p50 > 1120*time.Microsecond || p99 != p50 || Quantile(f.Times, 0.995) < time.Second {
			t.Errorf("p50 %v, p99 %v", p50, p99)
		}
		if f.First.Sub(began) > time.Second || f.Last.Sub(began) != time.Minute {
			t.Errorf("from %v to %v, beginning at %v", f.First, f.Last, began)
		}
	})
}

// TestDigestsAreBounded: the number of digests with figures is limited. Those that are not seen any more are evicted, and the sum
// still includes their figures.
func TestDigestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		now := func() time.Time { return time.Now() }
		for i := range uint64(MostDigests) {
			s.ran(i, time.Millisecond)
		}
		s.ran(1<<40, time.Millisecond)
		if r := s.Report(now(), 1e6, 500); r.Kept != MostDigests || r.Others.Count != 1 || len(r.Digests) != MostDigests {
			t.Fatalf("%d kept, %d told, %d statements of others", r.Kept, len(r.Digests), r.Others.Count)
		}
		time.Sleep(2 * quiet) // virtual
		s.ran(0, time.Millisecond)
		for i := range uint64(5) {
			s.ran(2<<40+i, time.Millisecond)
		}
		r := s.Report(now(), 1e6, 500)
		all := r.Others.Count
		seen := map[string]bool{}
		for _, f := range r.Digests {
			all += f.Count
			seen[f.Hash] = true
		}
		if r.Kept != MostDigests-atOnce+5 || all != MostDigests+7 {
			t.Errorf("%d kept, %d statements", r.Kept, all)
		}
		if !seen[hashText(0)] || !seen[hashText(2<<40)] || seen[hashText(1<<40)] {
			t.Error("not those that were seen last are kept")
		}
	})
}

// TestADigestComesBack: a plan keeps its digest. An evicted or forgotten digest is restored.
func TestADigestComesBack(t *testing.T) {
	var s Statements
	d := s.Find("", 1, Insert, func() (string, []string) { return "insert", nil })
	run := Run{Took: time.Millisecond}
	s.add(d, &run, grid.of(run.Took))
	s.Forget(time.Now())
	if r := s.Report(time.Now(), 10, 10); len(r.Digests) != 0 || r.Others.Count != 0 {
		t.Fatalf("after it was forgotten: %+v", r)
	}
	s.add(d, &run, grid.of(run.Took))
	if other := s.Find("", 1, Insert, nil); other != d {
		t.Error("it has two places")
	}
	if r := s.Report(time.Now(), 10, 10); len(r.Digests) != 1 || r.Digests[0].Count != 1 {
		t.Errorf("%+v", r)
	}
}

// TestWhatIsHeavyNowIsTold: rates cover the last minutes. A report contains the digests with the highest current load even if
// others have cost more since the start.
func TestWhatIsHeavyNowIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		s.Turn(time.Now())
		for i := range uint64(10) {
			s.ran(100+i, time.Hour)
		}
		for range 60 {
			time.Sleep(10 * time.Second) // virtual
			for range 1000 {
				s.ran(1, 5*time.Millisecond)
			}
			s.Turn(time.Now())
		}
		r := s.Report(time.Now(), 2, 100)
		var heavy *Figures
		for i, f := range r.Digests {
			if f.Hash == hashText(1) {
				heavy = &r.Digests[i]
			}
		}
		if heavy == nil || math.Abs(heavy.PerSecond-100) > 1 || math.Abs(heavy.Load-0.5) > 0.01 {
			t.Fatalf("%+v", r.Digests)
		}
		if all := r.Others.Count + r.Digests[0].Count + r.Digests[1].Count + r.Digests[2].Count; len(r.Digests) > 4 || all != 60_010 && len(r.Digests) == 3 {
			t.Errorf("%d digests, %d statements", len(r.Digests), all)
		}
	})
}

func TestReportsAddUp(t *testing.T) {
	var a, b Statements
	for _, s := range []*Statements{&a, &b} {
		s.ran(1, time.Millisecond)
		s.ran(1, time.Second)
	}
	b.ran(2, time.Millisecond, func(r *Run) { r.Failed, r.Code = true, 1064 })
	for _, s := range []*Statements{&a, &b} {
		s.add(nil, &Run{Took: time.Millisecond}, grid.of(time.Millisecond)) // there was no free place for its digest
	}
	sum := SumReports(a.Report(time.Now(), 10, 100), b.Report(time.Now(), 10, 100))
	if sum.Others.Count != 2 {
		t.Errorf("others: %+v", sum.Others)
	}
	if len(sum.Digests) != 2 || sum.Digests[0].Count != 4 || Quantile(sum.Digests[0].Times, 0.5) > 2*time.Millisecond || sum.Digests[1].LastCode != 1064 || sum.Kept != 2 {
		t.Errorf("%+v", sum)
	}
	text, err := json.Marshal(sum)
	var back Report
	if err != nil || json.Unmarshal(text, &back) != nil || back.Digests[0].Count != 4 {
		t.Errorf("%s: %v", text, err)
	}
}

// TestSessionsCountAtOnce: no count is lost if many sessions count at once, with reports and turns in between.
func TestSessionsCountAtOnce(t *testing.T) {
	m := new(Meter)
	m.Statements.Turn(time.Now().Add(-time.Minute))
	var running sync.WaitGroup
	for session := range uint32(16) {
		running.Go(func() {
			for i := range 10_000 {
				d := m.Statements.Find("", uint64(i%500), Select, func() (string, []string) { return "x", nil })
				m.Ran(d, &Run{Lane: session % 2, Kind: Select, Shard: []string{"s0", "s1"}[i%2], Took: time.Millisecond})
				if i%500 == 0 {
					m.Statements.Turn(time.Now())
				}
			}
		})
	}
	running.Wait()
	statements, latencies := uint64(0), uint64(0)
	for _, f := range m.Statements.Report(time.Now(), 1000, 10).Digests {
		statements += f.Count
	}
	for _, l := range m.Latencies.All() {
		latencies += l.Count
	}
	if statements != 160_000 || latencies != 160_000 || len(m.Latencies.All()) != 2 {
		t.Errorf("%d and %d", statements, latencies)
	}
}

// TestCodesAreBounded: the number of counted codes is limited, whatever codes SIGNAL raises.
func TestCodesAreBounded(t *testing.T) {
	var c Codes
	for code := range uint16(1000) {
		c.Add(code + 1)
		c.Add(code + 1)
	}
	all, numbers := uint64(0), 0
	for code, n := range c.All {
		all += n
		numbers++
		if code != 0 && n != 2 {
			t.Errorf("%d: %d", code, n)
		}
	}
	if all != 2000 || numbers != mostCodes+1 {
		t.Errorf("%d errors of %d numbers", all, numbers)
	}
}

func TestCountingStatementsAllocatesNothing(t *testing.T) {
	m := new(Meter)
	d := m.Statements.Find("", 1, Select, func() (string, []string) { return "x", nil })
	if n := testing.AllocsPerRun(100, func() {
		m.Ran(d, &Run{Lane: 3, Kind: Select, Shard: "s0", Took: time.Millisecond, Rows: 1, At: time.Second})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRan(b *testing.B) {
	m := new(Meter)
	d := m.Statements.Find("", 1, Select, func() (string, []string) { return "x", nil })
	b.RunParallel(func(pb *testing.PB) {
		r := Run{Lane: 3, Kind: Select, Shard: "s0", Took: 200 * time.Microsecond, Rows: 1, At: time.Second}
		for pb.Next() {
			m.Ran(d, &r)
		}
	})
}

// TestADigestTellsItsParts: the shards, the users and the codes of errors of a digest add up to its figures, whatever lane counts them,
// and further names are counted together.
func TestADigestTellsItsParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		s.Turn(time.Now())
		for i := range 100 {
			s.ran(1, time.Millisecond, func(r *Run) {
				r.Lane, r.User, r.Shard = uint32(i), []string{"app", "report"}[i%2], fmt.Sprintf("s%d", i%4)
			})
		}
		s.ran(1, time.Second, func(r *Run) {
			r.User, r.Shard, r.Shards, r.Gathered, r.Copied, r.Keyed = "app", SeveralShards, 4, true, 30, 10
		})
		s.ran(1, time.Second, func(r *Run) { r.User, r.Shard, r.Failed, r.Code = "app", "s0", true, 1205 })
		d, known := s.Details("shop", hashText(1), time.Now())
		if !known || d.Count != 102 || d.Sent != 4 || d.Gathered != 1 || d.Copied != 30 || d.Keyed != 10 {
			t.Fatalf("%+v", d)
		}
		if got := fmt.Sprint(d.Shards); got != "[{s0 26 1 1025 0 0} {s1 25 0 25 0 0} {s2 25 0 25 0 0} {s3 25 0 25 0 0} {(several) 1 0 1000 0 0}]" {
			t.Errorf("shards %s", got)
		}
		if got := fmt.Sprint(d.Users, d.Codes); got != "[{app 52 1 2050 0 0} {report 50 0 50 0 0}] [{1205 1 1 1000 0 0}]" {
			t.Errorf("users and codes %s", got)
		}
		if _, known := s.Details("other", hashText(1), time.Now()); known {
			t.Error("a digest of another database is known")
		}
		for i := range 100 {
			s.ran(2, time.Millisecond, func(r *Run) { r.User = fmt.Sprintf("u%d", i) })
		}
		if d, _ = s.Details("shop", hashText(2), time.Now()); len(d.Users) != mostNames+1 || d.Users[0] != (Part{Name: OtherNames, Count: 36, TotalMs: 36}) {
			t.Errorf("%d users, first %v", len(d.Users), d.Users[0])
		}
	})
}

// TestADigestHasAPast checks that each minute and each quarter of an hour contains the counts of its time, and that the points
// of two proxies add up.
func TestADigestHasAPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		s.Turn(time.Now())
		for i := range 90 {
			for range i {
				s.ran(1, 10*time.Millisecond)
			}
			if i == 80 {
				s.ran(1, time.Second, func(r *Run) { r.Shard, r.Failed = "s1", true })
			}
			time.Sleep(time.Minute) // virtual
			s.Turn(time.Now())
		}
		d, _ := s.Details("shop", hashText(1), time.Now())
		if len(d.Minutes) != keptMinutes || len(d.Quarters) != 6 || !d.Recorded {
			t.Fatalf("%d minutes, %d quarters", len(d.Minutes), len(d.Quarters))
		}
		at80 := d.Minutes[keptMinutes-10]
		if at80.Count != 81 || at80.Failed != 1 || at80.TotalMs != 1800 || fmt.Sprint(at80.Shards) != "[{s0 80 0 800 10 10} {s1 1 1 1000 1000 1000}]" || Quantile(at80.Times, 1) < time.Second {
			t.Errorf("%+v", at80)
		}
		all := uint64(0)
		for _, q := range d.Quarters {
			all += q.Count
		}
		if all != d.Count {
			t.Errorf("the quarters have %d statements of %d", all, d.Count)
		}
		var sum Details
		sum.Add(d)
		later := d
		later.Minutes = d.Minutes[10:]
		sum.Add(later)
		if sum.Count != 2*d.Count || sum.Minutes[0].Count != d.Minutes[0].Count || sum.Minutes[20].Count != 2*d.Minutes[20].Count || len(sum.Minutes) != keptMinutes {
			t.Errorf("of two proxies: %d statements, %+v", sum.Count, sum.Minutes[20])
		}
		if again, _ := s.Details("shop", hashText(1), time.Now()); again.Minutes[20].Count != d.Minutes[20].Count {
			t.Error("adding has changed the past")
		}
	})
}

// TestAPointHasPercentilesByShard checks that a point has the percentiles of each shard in its own period. Any lane may count
// them, and a shard may appear at any time. In the sum of two proxies' points they are the higher ones.
func TestAPointHasPercentilesByShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		time.Sleep(time.Until(time.Now().Truncate(quarter).Add(quarter))) // virtual
		s.Turn(time.Now())
		for i := range 16 {
			took := 10 * time.Millisecond
			if i == 5 {
				took *= 10 // one slow minute, which is less than half of the quarter
			}
			for lane := range uint32(200) {
				each := took
				if lane%lanes == 0 {
					each /= 2 // so the percentiles would differ if only one lane were counted
				}
				s.ran(1, each, func(r *Run) { r.Lane = lane })
			}
			if i >= 3 {
				s.ran(1, time.Second, func(r *Run) { r.Shard = "s1" })
			}
			time.Sleep(time.Second) // virtual
			s.Turn(time.Now())      // the digest gets parts for all lanes
			time.Sleep(59 * time.Second)
			s.Turn(time.Now())
		}
		d, _ := s.Details("shop", hashText(1), time.Now())
		near := func(got float32, want float64) bool { return float64(got) >= want && float64(got) < 1.12*want }
		if first := d.Minutes[0].Shards[0]; first.P99Ms != 0 {
			t.Errorf("the times of the first minute are not counted by shard, and have the percentile %v", first.P99Ms)
		}
		for i, m := range d.Minutes[1:] {
			want := 10.0
			if i+1 == 5 {
				want = 100
			}
			if s0 := m.Shards[0]; s0.Name != "s0" || s0.Count != 200 || !near(s0.P50Ms, want) || !near(s0.P99Ms, want) {
				t.Errorf("minute %d: %+v", i+1, s0)
			}
			if i+1 >= 3 && (len(m.Shards) != 2 || !near(m.Shards[1].P99Ms, 1000)) {
				t.Errorf("minute %d: %+v", i+1, m.Shards)
			}
		}
		if s0 := d.Quarters[0].Shards[0]; s0.Count != 3000 || !near(s0.P50Ms, 10) || !near(s0.P99Ms, 100) {
			t.Errorf("the quarter: %+v", s0)
		}
		slower := d
		slower.Minutes = []Point{{At: d.Minutes[1].At, Count: 1, Shards: []Part{{Name: "s0", Count: 1, P50Ms: 70, P99Ms: 80}}}}
		sum := Details{}
		sum.Add(d)
		sum.Add(slower)
		if s0 := sum.Minutes[1].Shards[0]; s0.Count != 201 || s0.P50Ms != 70 || s0.P99Ms != 80 || sum.Minutes[2].Shards[0].P99Ms > 12 {
			t.Errorf("of two proxies: %+v", s0)
		}
	})
}

// TestPastsAreBounded: the number of digests with a past is limited, and those with the oldest points lose theirs.
func TestPastsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Statements
		s.Turn(time.Now())
		for round := range uint64(5) {
			for i := range uint64(mostNewPasts) {
				s.ran(1000*round+i, time.Second)
			}
			for range 2 {
				time.Sleep(time.Minute) // virtual
				s.Turn(time.Now())
			}
		}
		pasts, latest := 0, 0
		for key, d := range s.kept {
			if d.past != nil {
				pasts++
				if key.hash >= 4000 {
					latest++
				}
			}
		}
		if pasts != mostPasts || latest != mostNewPasts {
			t.Errorf("%d digests have a past, %d of them ran last", pasts, latest)
		}
	})
}
