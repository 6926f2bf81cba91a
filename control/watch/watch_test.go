package watch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"locus/idgen/gene"
	"locus/internal/test/golden"
	"locus/migrate/job"
	"locus/migrate/phase"
)

var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// fake is records and reports in memory.
type fake struct {
	mu      sync.Mutex // guards the following fields
	jobs    []*job.Job
	reports map[string]job.Report
	err     error
}

func (f *fake) Jobs(context.Context) ([]*job.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs, f.err
}

func (f *fake) Reports(context.Context) (map[string]job.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports, f.err
}

func split(t *testing.T, events ...phase.Event) *job.Job {
	t.Helper()
	genes, err := gene.ParseSet("0x4000-0x7fff", 16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.New("split-1", job.Split, "s0", "s2", 16, genes, "anna", "", began)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if j, err = j.On(e, "proxy-a", "", began.Add(time.Duration(i+1)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func on(kind phase.Kind) phase.Event { return phase.Event{Kind: kind} }

var ready = []phase.Event{on(phase.Announced), on(phase.Copied), on(phase.CaughtUp), on(phase.Verified)}

func cutting(t *testing.T) *job.Job {
	j := split(t, append(ready[:len(ready):len(ready)], phase.Event{Kind: phase.CutTo, Genes: 16384, Step: 820}, phase.Event{Kind: phase.StepTaken, Genes: 820})...)
	j.Every = 2 * time.Second
	return j
}

// stopped returns a job whose cut-over has reached its requested share.
func stopped(t *testing.T, genes int) *job.Job {
	return split(t, append(ready[:len(ready):len(ready)], phase.Event{Kind: phase.CutTo, Genes: genes, Step: genes}, phase.Event{Kind: phase.StepTaken, Genes: genes})...)
}

// The display of each phase; -update rewrites it.
func TestDrawings(t *testing.T) {
	now := began.Add(time.Minute)
	report := func(doing phase.Action) job.Report {
		return job.Report{
			ID: "split-1", Runner: "proxy-a", At: now, Doing: string(doing), RowsCopied: 30_000, RowsEstimate: 120_000, Lanes: 8, LanesDone: 1,
			Changes: 1_234_567, LagMs: 12,
		}
	}
	earlier := report(phase.Copy)
	earlier.At, earlier.RowsCopied, earlier.Changes = now.Add(-5*time.Second), 10_000, 1_234_067
	through := report(phase.Advance)
	through.RowsCopied, through.LanesDone, through.RowsVerified, through.Verified = 120_000, 8, 120_000, now.Add(-30*time.Second)
	through.LastFenceMs, through.NextStep, through.BackLagMs, through.Conflicts = 23, now.Add(1600*time.Millisecond), 5, 2
	through.Before, through.After = job.Fared{Statements: 9000, Failed: 9, P99Ms: 4.096}, job.Fared{Statements: 500, P99Ms: 5.12}
	silent := through
	silent.At = now.Add(-20 * time.Second)
	failed := split(t, append(ready[:1:1], phase.Event{Kind: phase.FailedWith, Why: "the log is gone", Remedy: "raise the retention"})...)
	for _, test := range []struct {
		name string
		seen Seen
	}{
		{"planned", Seen{Job: split(t)}},
		{"copying", Seen{Job: split(t, ready[:1]...), Earlier: earlier, Report: report(phase.Copy)}},
		{"verifying", Seen{Job: split(t, ready[:3]...), Report: through}},
		{"ready", Seen{Job: split(t, ready...), Report: through}},
		{"cutting", Seen{Job: cutting(t), Report: through}},
		{"stopped", Seen{Job: stopped(t, 8192), Report: through}},
		{"cut", Seen{Job: stopped(t, 16384), Report: through}},
		{"paused", Seen{Job: split(t, append(ready[:1:1], on(phase.Pause))...), Report: report(phase.Wait)}},
		{"silent", Seen{Job: cutting(t), Report: silent}},
		{"failed", Seen{Job: failed, Report: report(phase.Wait)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Canvas{Width: 100, Entries: 3}.Draw(test.seen, now) + "\n" + Line(test.seen, now) + "\n"
			path := filepath.Join("testdata", test.name+".txt")
			golden.Update(t, path, got)
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("drawn\n%s\nwant\n%s", got, want)
			}
		})
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]*m")

// Colours don't change the position of any text, and no line is too wide.
func TestColoursTakeNoRoom(t *testing.T) {
	s := Seen{Job: cutting(t), Report: job.Report{Runner: "p", At: began, Trouble: strings.Repeat("x", 200)}}
	for _, width := range []int{20, 40, 80} {
		bare, coloured := Canvas{Width: width, Entries: 9}, Canvas{Width: width, Entries: 9, Colours: true}
		drawn := coloured.Draw(s, began)
		if got, want := escape.ReplaceAllString(drawn, ""), bare.Draw(s, began); got != want {
			t.Errorf("at %d columns\n%s\nwithout colours\n%s", width, got, want)
		}
		for line := range strings.Lines(escape.ReplaceAllString(drawn, "")) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
}

// A rate is of two reports some seconds apart, and of one process.
func TestRates(t *testing.T) {
	f := &fake{jobs: []*job.Job{split(t, ready[:1]...)}, reports: map[string]job.Report{}}
	w := &Watcher{Source: f}
	rate := func(second int, runner string, rows int64) float64 {
		now := began.Add(time.Duration(second) * time.Second)
		f.reports["split-1"] = job.Report{Runner: runner, At: now, Doing: string(phase.Copy), RowsCopied: rows, RowsEstimate: 10_000}
		list, going, err := w.Look(t.Context())
		if err != nil || !going || len(list) != 1 {
			t.Fatalf("%v, %v, %v", list, going, err)
		}
		return job.See(list[0].Job, list[0].Earlier, list[0].Report, now).Rows
	}
	for _, step := range []struct {
		second int
		runner string
		rows   int64
		want   float64
	}{
		{0, "a", 0, 0},
		{2, "a", 200, 100},
		{2, "a", 200, 100}, // the same report again
		{10, "a", 2600, 300},
		{14, "a", 2600, 200}, // since the second 2
		{20, "a", 2600, 0},
		{21, "b", 100, 0}, // its counters were reset
	} {
		if got := rate(step.second, step.runner, step.rows); got != step.want {
			t.Errorf("second %d: %v rows/s, want %v", step.second, got, step.want)
		}
	}
}

func TestLinesEndWithTheJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{jobs: []*job.Job{split(t)}}
		time.AfterFunc(2500*time.Millisecond, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.jobs = []*job.Job{split(t, on(phase.Abort), on(phase.Withdrawn))}
		})
		var out bytes.Buffer
		if err := Lines(t.Context(), &Watcher{Source: f}, &out, time.Now); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 4 || !strings.Contains(lines[3], "split-1  aborted") {
			t.Errorf("%q", lines)
		}
	})
}

func TestKeysAndErrors(t *testing.T) {
	f := &fake{jobs: []*job.Job{cutting(t)}}
	m := &model{watcher: &Watcher{Source: f}, ctx: t.Context(), clock: func() time.Time { return began }, viewport: viewport{canvas: Canvas{Width: 60, Entries: 5}, height: 6}}
	quits := func(c tea.Cmd) bool {
		if c == nil {
			return false
		}
		_, quit := c().(tea.QuitMsg)
		return quit
	}
	if m.found(m.look().(looked)) == nil || !strings.Contains(m.text(), "split-1") || !strings.Contains(m.text(), "scroll") {
		t.Fatalf("drawn: %s", m.text())
	}
	m.pressed("down")
	if strings.Contains(m.text(), "split-1  cutting") {
		t.Errorf("scrolled: %s", m.text())
	}
	m.pressed("up")
	f.err = errors.New("etcd is away")
	if m.found(m.look().(looked)); !strings.Contains(m.text(), "etcd is away") || !strings.Contains(m.text(), "split-1") {
		t.Errorf("etcd away: %s", m.text())
	}
	f.err = nil
	if m.found(m.look().(looked)); strings.Contains(m.text(), "away") {
		t.Errorf("etcd is back: %s", m.text())
	}
	for key, want := range map[string]bool{"q": true, "ctrl+c": true, "esc": true, "x": false} {
		if quits(m.pressed(key)) != want {
			t.Errorf("%s: quits %v", key, !want)
		}
	}
	f.jobs = []*job.Job{split(t, on(phase.Abort), on(phase.Withdrawn))}
	if !quits(m.found(m.look().(looked))) {
		t.Error("it goes on when the job is over")
	}
}

// The complete screen, on a simulated terminal. The key q ends it.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	keys, press := io.Pipe()
	defer press.Close()
	go func() { _, _ = press.Write([]byte("q")) }()
	w := &Watcher{Source: &fake{jobs: []*job.Job{cutting(t)}}}
	if err := Screen(t.Context(), w, keys, &out, time.Now); err != nil {
		t.Fatal(err)
	}
}

func TestScreenEndsWithTheJobs(t *testing.T) {
	var out bytes.Buffer
	keys, press := io.Pipe()
	defer press.Close()
	w := &Watcher{Source: &fake{jobs: []*job.Job{split(t, on(phase.Abort), on(phase.Withdrawn))}}, Only: "split-1"}
	if err := Screen(t.Context(), w, keys, &out, time.Now); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "split-1  aborted") {
		t.Errorf("at the end: %q", out.String())
	}
}
