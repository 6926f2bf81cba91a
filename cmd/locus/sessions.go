package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/control/fleet"
	"locus/control/ops"
)

func sessionsCommand(in *invocation) *cobra.Command {
	group := groupCommand("sessions", "List the clients' sessions at all proxies, and end one")
	group.AddCommand(sessionsListCommand(in), sessionsKillCommand(in))
	return group
}

// sessionList is one call of locus sessions list.
type sessionList struct {
	in          *invocation
	proxy, user string
	running     bool
	longer      time.Duration
	limit       int
}

func sessionsListCommand(in *invocation) *cobra.Command {
	l := sessionList{in: in}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of all proxies",
		Long: `List the sessions of all proxies: those that run a statement first, and the longest
first among these. SECONDS is the time since the session's state has changed. Literals
in statements are replaced by ?. A proxy reports at most 1,000 sessions.`,
		Example: `  locus sessions list
  locus sessions list --running --longer 5s
  locus sessions list --user app --proxy db-proxy-1:4306 -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return l.run(command.Context()) },
	}
	f := c.Flags()
	f.StringVar(&l.proxy, "proxy", "", "only the sessions of this `proxy`: an ID of locus proxies list, or its host and port")
	f.StringVar(&l.user, "user", "", "only the sessions of this `user`")
	f.BoolVar(&l.running, "running", false, "only sessions that run a statement")
	f.DurationVar(&l.longer, "longer", 0, "only sessions that have been in their state for this `time`")
	f.IntVar(&l.limit, "limit", 50, "the `number` of sessions to print; 0: all")
	return c
}

func (l *sessionList) run(ctx context.Context) error {
	if l.limit < 0 {
		return misused("--limit %d: use a number from 0 on", l.limit)
	}
	return l.in.withEtcd(func(conn *connection) error {
		id := ""
		if l.proxy != "" {
			cards, err := fleet.Cards(ctx, conn.kv)
			if err != nil {
				return err
			}
			at, err := fleet.Find(cards, l.proxy)
			if err != nil {
				return err
			}
			id = cards[at].ID
		}
		list, err := fleet.SessionsOf(ctx, conn.kv)
		if err != nil {
			return err
		}
		if len(list.Sessions) == 0 && len(list.Silent) > 0 {
			return ops.NoProxy(list.Silent)
		}
		list.Sessions = slices.DeleteFunc(list.Sessions, func(s fleet.Session) bool {
			return id != "" && s.Proxy != id || l.user != "" && s.User != l.user || l.running && !s.Runs() || time.Duration(s.Seconds)*time.Second < l.longer
		})
		if l.limit > 0 && len(list.Sessions) > l.limit {
			list.Omitted += len(list.Sessions) - l.limit
			list.Sessions = list.Sessions[:l.limit]
		}
		return l.in.show(list, func(w io.Writer) { printSessions(w, list) })
	})
}

// sessionWidth is the number of characters of a statement in a table.
const sessionWidth = 60

func printSessions(w io.Writer, list fleet.SessionList) {
	rows := [][]string{{"PROXY", "ID", "USER", "CLIENT", "SECONDS", "STATE", "STATEMENT"}}
	for _, s := range list.Sessions {
		state := s.Command
		if s.State != "" {
			state += ", " + s.State
		}
		statement := []rune(strings.Join(strings.Fields(s.Statement), " "))
		if len(statement) > sessionWidth {
			statement = append(statement[:sessionWidth-1], '…')
		}
		rows = append(rows, []string{
			s.Proxy, strconv.FormatUint(uint64(s.ID), 10), s.User, s.Client, strconv.Itoa(s.Seconds), state, orDash(string(statement)),
		})
	}
	columns(w, rows)
	if list.Omitted > 0 {
		fmt.Fprintf(w, "%d more sessions are not listed\n", list.Omitted)
	}
	for _, proxy := range list.Silent {
		fmt.Fprintf(w, "proxy %s has not answered\n", proxy)
	}
}

func sessionsKillCommand(in *invocation) *cobra.Command {
	var statement bool
	c := &cobra.Command{
		Use:   "kill PROXY SESSION",
		Short: "End a session, or only its statement",
		Long: `End a session of any proxy as KILL does: its statement is ended on the shards, its
transaction is rolled back, and the connection is closed. With --statement only the
statement ends. PROXY and SESSION are those of locus sessions list.`,
		Example: `  locus sessions kill db-proxy-1:4306 17
  locus sessions kill db-proxy-1:4306 17 --statement --yes`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return misused("session %q: use the ID of a session as locus sessions list shows it", args[1])
			}
			question := "Session %d of proxy %s: end it, and roll its transaction back?"
			if statement {
				question = "Session %d of proxy %s: end its statement?"
			}
			if err := in.confirm(question, id, args[0]); err != nil {
				return err
			}
			return in.withEtcd(func(conn *connection) error {
				r := ops.KillSession{Proxy: args[0], Session: id, Statement: statement}
				proxy, err := in.opsOf(conn).KillSession(command.Context(), r, in.operator())
				if err != nil {
					return err
				}
				r.Proxy = proxy
				return in.show(r, func(w io.Writer) {
					what := "session"
					if statement {
						what = "the statement of session"
					}
					fmt.Fprintf(w, "%s %d of proxy %s has ended\n", what, id, proxy)
				})
			})
		},
	}
	c.Flags().BoolVar(&statement, "statement", false, "end only the statement that the session runs")
	in.addYes(c)
	return c
}
