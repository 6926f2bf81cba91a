package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// options are the command line. Immutable once parsed.
type options struct {
	rounds         int
	length         time.Duration // length of one lane's part of a round, without its warm-up
	rows           *regexp.Regexp
	ready          string // path of a ready file: that demo is used instead of an own one
	engine         string
	output         string
	idle           int // clients of the idle row
	moved          int // rows of the rows about moves
	tables         int // number of tables for the rows about definitions
	haproxyThreads int // 0: haproxy's default
	lastGene       uint64
	deprecateEOF   bool
	before         string   // path of another build, with which the single-shard rows are compared instead
	samples        string   // directory for their rounds, as benchstat reads them
	given          []string // the flags as set, without paths
}

func parseOptions(args []string, usage io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.rounds, "rounds", 5, "alternating rounds per row")
	seconds := f.Float64("seconds", 3, "seconds per lane and round")
	rows := f.String("rows", "", "regexp: only the rows whose names match")
	quick := f.Bool("quick", false, "2 rounds of 0.5 s and 200 idle clients, where not set otherwise")
	f.StringVar(&o.ready, "ready", "", "ready file of a running `locus demo` to use instead of starting one")
	f.StringVar(&o.engine, "engine", "mariadb", "database server of the demo: mariadb or mysql")
	f.StringVar(&o.output, "o", "", "markdown file whose benchmark section is to be replaced")
	f.IntVar(&o.idle, "idle", 10_000, "clients of the idle row")
	f.IntVar(&o.moved, "moved", 200_000, "rows that the rows about moves move")
	f.IntVar(&o.tables, "tables", 5_000, "tables on the first shard in the rows about the time of definitions")
	f.IntVar(&o.haproxyThreads, "haproxy-threads", 0, "haproxy's nbthread; 0 leaves its default, one per core")
	f.Uint64Var(&o.lastGene, "last-gene", 0x7fff, "last gene of shard s0, which owns all from 0 on")
	f.BoolVar(&o.deprecateEOF, "deprecate-eof", false, "clients negotiate CLIENT_DEPRECATE_EOF, as Connector/J does; without, as go-sql-driver does not")
	f.StringVar(&o.before, "before", "", "another build of the product: the rows of one shard compare with it, and with nothing else")
	f.StringVar(&o.samples, "samples", "", "with -before: directory for the rounds of both builds, in the format of benchstat")
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	f.Visit(func(g *flag.Flag) { o.given = append(o.given, withoutPath(g)) })
	o.length = time.Duration(*seconds * float64(time.Second))
	if *quick {
		o.hurry(f)
	}
	var err error
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return options{}, fmt.Errorf("-rows: %w", err)
	}
	return o, o.check(f.Args())
}

// hurry shortens the options that the command line doesn't set.
func (o *options) hurry(f *flag.FlagSet) {
	set := map[string]bool{}
	f.Visit(func(g *flag.Flag) { set[g.Name] = true })
	if !set["rounds"] {
		o.rounds = 2
	}
	if !set["seconds"] {
		o.length = time.Second / 2
	}
	if !set["idle"] {
		o.idle = 200
	}
	if !set["moved"] {
		o.moved = 60_000
	}
}

func (o *options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q: everything is a flag, see -help", rest[0])
	case o.rounds < 1 || o.length <= 0 || o.idle < 1:
		return errors.New("-rounds, -seconds and -idle must be above 0")
	case o.before != "" && o.ready != "":
		return errors.New("-before starts a demo of its own: leave -ready out")
	case o.samples != "" && o.before == "":
		return errors.New("-samples goes with -before")
	case o.lastGene > 0xffff:
		return errors.New("-last-gene is a 16-bit gene, at most 0xffff")
	case o.engine != "mariadb" && o.engine != "mysql":
		return fmt.Errorf("-engine %q: mariadb or mysql", o.engine)
	}
	return nil
}

// withoutPath writes a flag for the report without paths of this machine, because the report is published.
func withoutPath(g *flag.Flag) string {
	switch g.Name {
	case "ready", "o", "before", "samples":
		return "-" + g.Name + " FILE"
	default:
		return fmt.Sprintf("-%s=%s", g.Name, quoted(g.Value.String()))
	}
}

func quoted(s string) string {
	if strings.ContainsAny(s, " |*()[]$&;<>?\\") {
		return "'" + s + "'"
	}
	return s
}

// command returns the command line that produces the report.
func (o *options) command() string {
	return strings.Join(append([]string{"go run ./test/bench"}, o.given...), " ")
}

// selected returns the rows that -rows selects.
func (o *options) selected(all []row) []row {
	var kept []row
	for _, r := range all {
		if o.rows.MatchString(r.name) {
			kept = append(kept, r)
		}
	}
	return kept
}
