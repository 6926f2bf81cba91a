package advise

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/router/plan"
)

// width is the width of a terminal.
const width = 80

// titles are the ways as reports show them.
var titles = map[plan.Way]string{
	plan.OnProxy:     "answered by the proxy (BEGIN, SET, ...)",
	plan.OnOwner:     "one shard, by the owner",
	plan.OnAny:       "any one shard (global tables)",
	plan.OnSingle:    "the default shard (tables that stay there)",
	plan.OnSome:      "several shards, named by their owners",
	plan.OnAll:       "all shards are asked",
	plan.OnEvery:     "every shard changes (global tables, ALTER)",
	plan.ByKeys:      "rows gathered by key",
	plan.ByGathering: "rows gathered from all shards",
	Refused:          "refused",
	Unread:           "not readable for the planner",
}

// mostShown limits the statements that a terminal shows.
const mostShown = 10

// Print writes the report for a terminal. Lines have up to 80 columns, except for SQL.
func (r *Report) Print(w io.Writer) {
	p := printer{w}
	p.wrap("", "Read: "+strings.Join(r.Sources, "; "))
	total := fmt.Sprintf("%s statements of %d digests", grouped(r.Statements), len(r.Digests))
	if r.Seconds > 0 {
		total += ", which took " + time.Duration(r.Seconds*float64(time.Second)).Round(time.Millisecond).String()
	}
	p.wrap("", total)
	for _, note := range r.Notes {
		p.wrap("  ", "note: "+note)
	}
	p.proposal(r)
	p.ways(r)
	p.costly(r)
	p.reasons(r)
	p.steps(r)
	if summary := r.Summary(); summary != "" {
		fmt.Fprintln(p)
		p.wrap("", summary)
	}
}

type printer struct{ io.Writer }

func (p printer) head(title string) { fmt.Fprintf(p, "\n%s\n", title) }

func (p printer) proposal(r *Report) {
	p.head(fmt.Sprintf("PROPOSAL for %d shards", r.Proposal.Shards))
	if len(r.Proposal.Tables) == 0 {
		p.wrap("  ", "Leave all tables on one shard: no owner was found by which enough statements would run on one of several shards.")
		return
	}
	longest, words := 0, 0
	for name, t := range r.Proposal.Tables {
		longest, words = max(longest, len(name)), max(words, len(t.Declare))
	}
	longest, words = min(longest, 34), min(words, 26)
	for _, name := range slices.Sorted(maps.Keys(r.Proposal.Tables)) {
		t := r.Proposal.Tables[name]
		line := fmt.Sprintf("  %-*s  %-*s  ", longest, name, words, t.Declare)
		why := t.Why
		if t.Add != nil {
			why = "add the column: " + why
		}
		p.hang(line, why)
	}
	if n := len(r.Staying); n > 0 {
		shown := r.Staying[:min(n, 8)]
		text := strings.Join(shown, ", ")
		if n > len(shown) {
			text += fmt.Sprintf(" and %d more", n-len(shown))
		}
		p.wrap("  ", fmt.Sprintf("On one shard stay, with %.0f %% of the rows: %s", r.StayingRows, text))
	}
}

func (p printer) ways(r *Report) {
	p.head("WHAT THE STATEMENTS WOULD DO")
	fmt.Fprintf(p, "  %-46s %12s %8s %8s\n", "", "STATEMENTS", "", "TIME")
	for _, f := range r.Ways {
		fmt.Fprintf(p, "  %-46s %12s %6.1f %% %s\n", titles[f.Way], grouped(f.Count), f.Share.Count, r.percentOfTime(f.Share))
	}
	fmt.Fprintf(p, "  %-46s %12s %6.1f %% %s\n", "one shard of several: more shards do more", "", r.OneShard.Count, r.percentOfTime(r.OneShard))
}

func (r *Report) percentOfTime(s Share) string {
	if r.Seconds == 0 {
		return fmt.Sprintf("%8s", "-")
	}
	return fmt.Sprintf("%6.1f %%", s.Time)
}

// costly prints the statements that run and need more than one shard.
func (p printer) costly(r *Report) {
	shown := 0
	for i := range r.Digests {
		d := &r.Digests[i]
		switch way := d.worst(); way {
		case plan.OnProxy, plan.OnOwner, plan.OnAny, plan.OnSingle, Refused, Unread:
		default:
			if shown++; shown > mostShown {
				continue
			}
			if shown == 1 {
				p.head("THE COSTLIEST STATEMENTS ON SEVERAL SHARDS")
			}
			text := fmt.Sprintf("%s (%.1f %%): %s", times(d.Count), d.Share.Count, titles[way])
			if d.PerDay > 0 {
				text = fmt.Sprintf("%s a day (%.1f %%): %s", times(uint64(d.PerDay)), d.Share.Count, titles[way])
			}
			if len(d.Owners) > 0 {
				text += "; one shard would do if it named " + strings.Join(d.Owners, " and ")
			}
			p.wrap("  ", text)
			p.wrap("    ", short(d.Statement))
		}
	}
	if shown > mostShown {
		fmt.Fprintf(p, "  and %d more; -o json has all\n", shown-mostShown)
	}
}

func (p printer) reasons(r *Report) {
	for _, group := range []struct {
		way   plan.Way
		title string
	}{{Refused, "REFUSED, AND WHY"}, {Unread, "NOT READABLE FOR THE PLANNER"}} {
		shown := 0
		for _, reason := range r.Reasons {
			if reason.Way != group.way {
				continue
			}
			if shown++; shown > mostShown {
				continue
			}
			if shown == 1 {
				p.head(group.title)
			}
			text := fmt.Sprintf("%s (%.1f %%)", times(reason.Count), reason.Share.Count)
			if reason.Digests > 1 {
				text += fmt.Sprintf(", %d digests", reason.Digests)
			}
			if reason.Code != "" {
				text += ", " + reason.Code
			}
			p.wrap("  ", text+": "+short(reason.Why))
			p.wrap("    ", short(reason.Example))
		}
		if shown > mostShown {
			fmt.Fprintf(p, "  and %d more; -o json has all\n", shown-mostShown)
		}
	}
}

func (p printer) steps(r *Report) {
	if len(r.Steps) == 0 {
		return
	}
	p.head("STEPS")
	for i, s := range r.Steps {
		p.hang(fmt.Sprintf("%2d. ", i+1), s.What)
		for _, c := range s.Commands {
			fmt.Fprintf(p, "      %s\n", c)
		}
	}
}

// mostShort is the length at which statements are cut in a terminal.
const mostShort = 300

func short(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > mostShort {
		return string(runes[:mostShort]) + "…"
	}
	return string(runes)
}

// wrap prints a text in lines that begin with indent.
func (p printer) wrap(indent, text string) { p.hang(indent, text) }

// hang prints a text behind head. Further lines are indented as far.
func (p printer) hang(head, text string) {
	indent := strings.Repeat(" ", len([]rune(head)))
	line, empty := head, true
	for _, word := range strings.Fields(printable(text)) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > width {
			fmt.Fprintln(p, strings.TrimRight(line, " "))
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(p, strings.TrimRight(line, " "))
}

// printable replaces the characters that a terminal would not print.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}

// grouped returns a number with separators.
func grouped(n uint64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
