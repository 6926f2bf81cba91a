package watch

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/migrate/job"
	"locus/migrate/phase"
)

// Canvas is the output to draw on.
type Canvas struct {
	Width   int  // in columns; 0 for no limit
	Colours bool // uses escape sequences
	Entries int  // number of journal entries shown per job, the latest ones
}

// Draw returns a job's display.
func (c Canvas) Draw(s Seen, now time.Time) string {
	j, r := s.Job, s.Report
	p := job.See(j, s.Earlier, r, now)
	d := drawing{Canvas: c}
	d.line("%s  %s  %s → %s  %s%s", d.bold(j.ID), d.phase(j.State), j.From, j.Target(), genes(j), since(r))
	d.field("why", j.State.Why, red)
	d.field("remedy", j.State.Remedy, yellow)
	d.next(j.Next())
	d.bars(j, r, p)
	d.figures(j, r, p)
	d.mirror(j.Mirror, s.Mirror)
	d.field("trouble", r.Trouble, red)
	if p.Silent > 0 {
		d.field("silent", "no report for "+Rounded(p.Silent)+"; the next free mover takes over the job", red)
	}
	d.journal(j.Journal)
	return d.String()
}

func since(r job.Report) string {
	if r.Runner == "" {
		return ""
	}
	return "  " + r.Doing + ", by " + r.Runner
}

// drawing is text built from lines.
type drawing struct {
	Canvas
	strings.Builder
}

func (d *drawing) line(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	d.WriteString(d.cut(strings.TrimRight(text, " ")) + "\n")
}

// cut truncates a line at the canvas's edge. Escape sequences have no width.
func (c Canvas) cut(line string) string {
	if c.Width <= 0 {
		return line
	}
	var b strings.Builder
	columns, escape := 0, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case columns == c.Width:
			continue // but keeps escape sequences, which end colours
		default:
			columns++
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (d *drawing) field(name, value string, colour int) {
	if value != "" {
		d.line("  %-9s  %s", name, d.in(colour, value))
	}
}

// next shows the commands that the job waits for.
func (d *drawing) next(commands []job.Next) {
	name := "next"
	for _, c := range commands {
		d.line("  %-9s  %s  %s", name, d.bold(c.Command), d.in(faint, c.Effect))
		name = ""
	}
}

// genes describes how many genes move, and how.
func genes(j *job.Job) string {
	text := fmt.Sprintf("%d genes", j.Genes.Len())
	if j.Genes.Len() == 1 {
		text = "1 gene"
	}
	if j.BySequence {
		text += " by sequence"
	}
	return text
}

func (d *drawing) bars(j *job.Job, r job.Report, p job.Progress) {
	if r.Lanes > 0 || j.State.Copied || r.RowsCopied > 0 {
		text := ""
		if r.Lanes > 0 {
			text = fmt.Sprintf("%s rows, %d of %d lanes", Count(r.RowsCopied), r.LanesDone, r.Lanes)
		}
		d.bar("copied", p.Copied, 0, blue, text)
	}
	if r.RowsVerified > 0 || j.State.Verified {
		text := ""
		if r.RowsVerified > 0 {
			text = Count(r.RowsVerified) + " rows"
		}
		if !r.Verified.IsZero() {
			text = strings.TrimPrefix(text+", "+Rounded(r.At.Sub(r.Verified))+" ago", ", ")
		}
		d.bar("verified", p.Verified, 0, cyan, text)
	}
	text := ""
	if p.Wanted != p.AtTarget {
		text = "→ " + Percent(p.Wanted)
	}
	d.bar("at target", p.AtTarget, p.Wanted, green, text)
}

func (d *drawing) figures(j *job.Job, r job.Report, p job.Progress) {
	if r.Runner == "" {
		return
	}
	speed := fmt.Sprintf("%s rows/s, %s changes/s", Count(int64(p.Rows)), Count(int64(p.Changes)))
	if p.Left > 0 {
		speed += ", about " + Rounded(p.Left) + " left"
	}
	d.field("speed", speed, plain)
	if r.RowsDeleted > 0 {
		d.field("deleted", Count(r.RowsDeleted)+" rows", plain)
	}
	stream := fmt.Sprintf("%s changes, lag %d ms, back %d ms", Count(r.Changes), r.LagMs, r.BackLagMs)
	colour := plain
	if r.Conflicts > 0 {
		colour = yellow
	}
	d.field("stream", stream+", "+counted(r.Conflicts, "conflict"), colour)
	if r.Overwritten > 0 {
		d.field("overwritten", Count(r.Overwritten)+" rows differed from their owner's, and were replaced by these: locus.move_conflict lists them", yellow)
	}
	if r.Strays > 0 {
		d.field("strays", Count(r.Strays)+" changes bypassed the proxies, to a server that does not own the rows: find the client that writes there", yellow)
	}
	var step []string
	if p.NextStep >= 0 {
		step = append(step, "in "+Rounded(p.NextStep))
	}
	if r.LastFenceMs > 0 {
		step = append(step, fmt.Sprintf("the last one paused statements for %d ms", r.LastFenceMs))
	}
	if j.State.At() == phase.Cutting || p.NextStep >= 0 || r.LastFenceMs > 0 {
		d.field("next step", strings.Join(step, "; "), plain)
	}
	d.fares(r)
}

// fares compares the results of statements on the moved genes with those before.
func (d *drawing) fares(r job.Report) {
	if r.After.Statements == 0 && r.Before.Statements == 0 {
		return
	}
	d.field("moved", "at the target "+Fared(r.After)+"; before "+Fared(r.Before), plain)
}

// Fared formats the results of statements.
func Fared(f job.Fared) string {
	if f.Statements == 0 {
		return "no statements"
	}
	return fmt.Sprintf("p99 %s ms, %s failed", strconv.FormatFloat(f.P99Ms, 'g', 3, 64), Percent(100*float64(f.Failed)/float64(f.Statements)))
}

func (d *drawing) journal(entries []job.Entry) {
	if d.Entries <= 0 {
		return
	}
	if over := len(entries) - d.Entries; over > 0 {
		entries = entries[over:]
	}
	for _, e := range entries {
		d.line("  %s", d.in(faint, e.At.UTC().Format("15:04:05")+"  "+e.By+"  "+e.What))
	}
}

const barWidth = 30

// bar draws a percentage and its goal.
func (d *drawing) bar(name string, percent, wanted float64, colour int, text string) {
	full := min(barWidth, int(percent/100*barWidth))
	goal := max(full, min(barWidth, int(wanted/100*barWidth)))
	drawn := d.in(colour, strings.Repeat("█", full)+strings.Repeat("▒", goal-full)) + d.in(faint, strings.Repeat("░", barWidth-goal))
	d.line("  %-9s  %s %7s  %s", name, drawn, Percent(percent), text)
}

// Percent formats a percentage with at most one decimal.
func Percent(p float64) string {
	return strconv.FormatFloat(float64(int(p*10+0.5))/10, 'f', -1, 64) + " %"
}

// Count formats a number in groups of three digits.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// counted formats a number of things with the plural if needed.
func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Count(n) + " " + thing
}

// Rounded formats a duration in at most two units.
func Rounded(d time.Duration) string {
	switch s, m := int(d.Round(time.Second).Seconds()), int(d.Round(time.Minute).Minutes()); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min", m/60, m%60)
	}
}

// Colours of SGR.
const (
	plain  = 0
	bold   = 1
	faint  = 2
	red    = 31
	green  = 32
	yellow = 33
	blue   = 34
	cyan   = 36
)

func (c Canvas) in(colour int, text string) string {
	if !c.Colours || colour == plain || text == "" {
		return text
	}
	return "\x1b[" + strconv.Itoa(colour) + "m" + text + "\x1b[m"
}

func (c Canvas) bold(text string) string { return c.in(bold, text) }

func (c Canvas) phase(s phase.State) string {
	colour := cyan
	switch s.Shown() {
	case phase.Failed:
		colour = red
	case phase.Paused, phase.Repairing, phase.RollingBack, phase.Aborting, phase.Aborted:
		colour = yellow
	case phase.Ready, phase.Cut, phase.Done:
		colour = green
	case phase.Planned, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Cutting, phase.Retiring:
	}
	return c.in(colour, string(s.Shown()))
}
