package watch

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"locus/migrate/job"
)

// Line formats a job as one line, for files and pipes.
func Line(s Seen, now time.Time) string {
	j, r := s.Job, s.Report
	p := job.See(j, s.Earlier, r, now)
	parts := []string{
		now.UTC().Format("15:04:05"), j.ID, string(j.State.Shown()),
		"copied " + Percent(p.Copied), "verified " + Percent(p.Verified), "at target " + Percent(p.AtTarget),
	}
	add := func(there bool, format string, args ...any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(p.Rows > 0, "%.0f rows/s", p.Rows)
	add(p.Left > 0, "%s left", Rounded(p.Left))
	add(r.Runner != "", "lag %d ms", r.LagMs)
	add(j.State.Reversible, "back %d ms", r.BackLagMs)
	add(r.Conflicts > 0, "%s", counted(r.Conflicts, "conflict"))
	add(r.Overwritten > 0, "%s overwritten", counted(r.Overwritten, "row"))
	add(r.Strays > 0, "%s bypassed the proxies", counted(r.Strays, "change"))
	add(r.LastFenceMs > 0, "held %d ms", r.LastFenceMs)
	add(r.After.Statements > 0, "moved genes: %s", Fared(r.After))
	add(s.Mirror.Sampled > 0, "mirrored: %s", Mirrored(s.Mirror))
	add(s.Mirror.Away != "", "mirror's target unreachable %s: %s", goneSince(s.Mirror), s.Mirror.Away)
	add(p.NextStep >= 0, "next step in %s", Rounded(p.NextStep))
	add(j.State.Why != "", "why: %s", j.State.Why)
	add(r.Trouble != "", "trouble: %s", r.Trouble)
	for i, next := range j.Next() {
		add(i == 0, "next: %s", next.Command)
	}
	return strings.ReplaceAll(strings.Join(parts, "  "), "\n", " ")
}

// Lines writes a line per job each second until all jobs are over or ctx ends.
func Lines(ctx context.Context, w *Watcher, out io.Writer, clock func() time.Time) error {
	return w.Each(ctx, func(list []Seen) error {
		if len(list) == 0 {
			fmt.Fprintln(out, None)
		}
		for _, s := range list {
			fmt.Fprintln(out, Line(s, clock()))
		}
		return nil
	})
}

// Each calls show with the jobs each second until all are over or ctx ends.
func (w *Watcher) Each(ctx context.Context, show func([]Seen) error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		list, going, err := w.Look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if err := show(list); err != nil || !going {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// None is the text if there is no job to watch.
const None = "no job is running"

// Once writes the jobs' current state.
func Once(ctx context.Context, w *Watcher, out io.Writer, now time.Time) error {
	list, _, err := w.Look(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, page(Canvas{Entries: 3}, list, now))
	return err
}

func page(c Canvas, list []Seen, now time.Time) string {
	if len(list) == 0 {
		return None + "\n"
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.Draw(s, now))
	}
	return b.String()
}
