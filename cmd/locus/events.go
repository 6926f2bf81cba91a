package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"locus/control/events"
)

func eventsCommand(in *invocation) *cobra.Command {
	e := eventList{in: in}
	c := &cobra.Command{
		Use:   "events",
		Short: "Show what happened: failovers, jobs, definitions, drains, restarts, changes",
		Long: `Show the timeline of the cluster, the latest event last: failovers and switchovers,
the steps of jobs, definitions, changes of declarations, drains, starts and ends of
processes, key rotations, acknowledged findings, outages, and errors above a rate. Times are in
UTC. A line with an exclamation mark describes something that failed.

etcd keeps events for 30 days, at most 50,000.`,
		Example: `  locus events --since 12h
  locus events --since 22:00 --until 06:00
  locus events --kind failover,job --subject s0
  locus events --follow
  locus events --since 7d -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return e.run(command.Context()) },
	}
	var kinds []string
	for _, k := range events.Kinds() {
		kinds = append(kinds, string(k))
	}
	f := c.Flags()
	f.StringSliceVar(&e.kinds, "kind", nil, "only events of these `kinds`: "+strings.Join(kinds, ", "))
	f.StringVar(&e.subject, "subject", "", "only events whose subject contains this `text`, such as split-1 or s0")
	f.StringVar(&e.since, "since", "", "only events since this `time`: an age such as 12h or 7d, 22:00, or 2026-03-01 22:00")
	f.StringVar(&e.until, "until", "", "only events before this `time`")
	f.IntVar(&e.limit, "limit", 50, "the `number` of events, the latest ones; with --since it is 1000 by default")
	f.BoolVar(&e.follow, "follow", false, "also print events as they happen, until interrupted")
	e.limited = func() bool { return f.Changed("limit") }
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
	return c
}

type eventList struct {
	in                    *invocation
	kinds                 []string
	subject, since, until string
	limit                 int
	limited               func() bool // a limit was given
	follow                bool
	day                   string // the day of the last printed line
}

// eventsView is the list as programs read it.
type eventsView struct {
	Events  []events.View `json:"events"`
	Earlier bool          `json:"earlier"` // there are earlier ones
}

// mostEvents is the greatest --limit.
const mostEvents = events.MaxCount

func (l *eventList) query() (q events.Query, err error) {
	q = events.Query{Subject: l.subject, Limit: l.limit}
	for _, name := range l.kinds {
		k, err := events.ParseKind(strings.TrimSpace(name))
		if err != nil {
			return q, misused("--kind: %v", err)
		}
		q.Kinds = append(q.Kinds, k)
	}
	if l.since != "" {
		if q.Since, err = events.Moment(l.since, l.in.now()); err != nil {
			return q, misused("--since: %v", err)
		}
		if !l.limited() {
			q.Limit = events.MaxLimit
		}
	}
	if l.until != "" {
		if q.Until, err = events.Moment(l.until, l.in.now()); err != nil {
			return q, misused("--until: %v", err)
		}
	}
	switch {
	case q.Limit < 1 || q.Limit > mostEvents:
		return q, misused("--limit %d: from 1 to %d", q.Limit, mostEvents)
	case l.follow && l.until != "":
		return q, misused("--follow has no end: leave out --until")
	}
	return q, nil
}

func (l *eventList) run(ctx context.Context) error {
	q, err := l.query()
	if err != nil {
		return err
	}
	return l.in.withEtcd(func(conn *connection) error {
		if l.follow {
			err := events.Follow(ctx, conn.kv, q, l.append)
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		list, earlier, err := events.ReadAll(ctx, conn.kv, q)
		if err != nil {
			return err
		}
		return l.in.show(eventsView{events.Views(list), earlier}, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "no events")
			}
			if earlier {
				fmt.Fprintf(w, "earlier events are not shown: --until '%s', or --limit\n", stamped(list[len(list)-1].At))
			}
			slices.Reverse(list)
			l.print(w, list)
		})
	})
}

// append prints the events that arrived while following. The output for programs has a line or a YAML document
// for each.
func (l *eventList) append(list []events.Event) {
	switch l.in.output {
	case table:
		l.print(l.in.stdout, list)
	case asJSON:
		for _, v := range events.Views(list) {
			_ = json.NewEncoder(l.in.stdout).Encode(v)
		}
	case asYAML:
		for _, v := range events.Views(list) {
			if text, err := l.in.encoded(v); err == nil {
				fmt.Fprintf(l.in.stdout, "---\n%s", text)
			}
		}
	}
}

const (
	eventsWidth  = 80
	eventsIndent = 23 // the column where the text about an event begins
)

// print prints events below the date of their day.
func (l *eventList) print(w io.Writer, list []events.Event) {
	for _, e := range list {
		at := e.At.UTC()
		if day := at.Format(time.DateOnly); day != l.day {
			l.day = day
			fmt.Fprintln(w, day)
		}
		mark := " "
		if e.Failed {
			mark = "!"
		}
		head := fmt.Sprintf("%s %s %-12s", at.Format(time.TimeOnly), mark, e.Kind)
		for _, part := range wrapped(sentence(e), eventsWidth-eventsIndent) {
			fmt.Fprintf(w, "%-*s%s\n", eventsIndent, head, part)
			head = ""
		}
	}
}

// sentence returns the text about an event: what happened to what, how long it took, and who did it.
func sentence(e events.Event) string {
	var after []string
	if e.Took > 0 {
		after = append(after, "took "+brief(e.Took))
	}
	if e.By != "" {
		after = append(after, "by "+e.By)
	}
	text := strings.TrimPrefix(e.Subject, string(e.Kind)+" ") + ": " + e.What
	if after != nil {
		text += " (" + strings.Join(after, ", ") + ")"
	}
	return text
}

// brief rounds a duration to a precision that suits people.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// wrapped divides a text into lines of at most width characters, between words where that is possible.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		for utf8.RuneCountInString(word) > width {
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
