package session

import (
	"crypto/tls"
	"net"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/compressed"
	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/reply"
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// runRewritten runs a statement that refers to the session, or whose text contains the queries of views. Values of the session
// are written into the text, which is then planned and run like any other statement.
func (s *Session) runRewritten(r *exec.Execution) error {
	if text, expanded := expandedText(r.Plan); expanded {
		return s.runChanged(r, text, s.planContext(r.Snapshot)) // the views' queries may refer to the session too
	}
	if done, err := s.showPatched(r); done || err != nil {
		return err
	}
	answers := s.answers()
	text, under, err := s.rewritten(r, answers)
	if err != nil {
		return err
	}
	if r.Snapshot.Flavor.KeepsWarnings() && sysvars.Diagnoses(r.Facts.Statement) {
		defer s.vars.RestoreConditions(s.vars.TakeConditions())
	}
	err = s.runChanged(r, text, under)
	if err == nil || answers.FirstUnwell || !listsProcesses(r.Facts.Statement) || !s.engine.MayTryNext(err, true) {
		return err
	}
	answers.FirstUnwell = true // the first shard was lost since then; the list does not need it
	if text, under, err = s.rewritten(r, answers); err != nil {
		return err
	}
	return s.runChanged(r, text, under)
}

// expandedText returns the text of a read of views that contains their queries. It returns false for other plans.
func expandedText(p plan.Plan) (text []byte, is bool) {
	r, is := p.(*plan.Rewritten)
	if !is || r.Text == "" {
		return nil, false
	}
	return []byte(r.Text), true
}

// listsProcesses reports whether a statement reads only the list of sessions. The proxy has that list, except for what the first
// shard does for each session.
func listsProcesses(st *stmt.Statement) bool {
	if st.Kind == stmt.Show {
		return st.Shown.What == "processlist"
	}
	lists := false
	for _, b := range st.Blocks {
		for _, t := range b.Tables {
			theirs := strings.EqualFold(t.Schema, "information_schema") || strings.EqualFold(t.Schema, "performance_schema")
			if lists = t.Derived || theirs && strings.EqualFold(t.Name, "processlist"); !lists {
				return false
			}
		}
	}
	return lists && st.Kind == stmt.Select && st.Features&(stmt.NamedLock|stmt.ReadsNamedLock|stmt.UnknownFunction|stmt.Locking) == 0
}

// rewrittenContext returns the context in which a rewritten text is planned.
func (s *Session) rewrittenContext(r *exec.Execution) plan.Context {
	under := s.planContext(r.Snapshot)
	under.Owned, under.Rewritten = nil, true // the text no longer contains any of them
	st := r.Facts.Statement
	if st.Kind == stmt.Show && len(st.Tables) == 0 {
		under.Rights = nil // the text is locus's own
	}
	return under
}

// rewritten returns the text that is run in place of the client's, and the context in which it is planned.
func (s *Session) rewritten(r *exec.Execution, answers *sysvars.Answers) (text []byte, under plan.Context, err error) {
	st := r.Facts.Statement
	under = s.rewrittenContext(r)
	under.Alike = answers.FirstUnwell && listsProcesses(st)
	if st.Kind == stmt.Show {
		text, err = answers.Show(st.Shown)
	} else {
		text, err = answers.Rewrite(st, r.Values.Lexed)
	}
	return text, under, err
}

// showPatched answers SHOW VARIABLES and SHOW STATUS without a rewritten text, if possible. done reports whether it did.
func (s *Session) showPatched(r *exec.Execution) (done bool, err error) {
	st := r.Facts.Statement
	if st.Kind != stmt.Show || st.Shown == nil || r.Prepared != nil && r.Prepared.Params > 0 {
		return false, nil
	}
	columns, rows, done, err := s.answers().Patched(st.Shown)
	if !done || err != nil {
		return false, err
	}
	if err := s.engine.WriteTexts(columns, rows); err != nil {
		return true, &reply.GoneError{Err: err}
	}
	return true, nil
}

// runChanged runs another text in place of the client's, with the client's own parameters.
func (s *Session) runChanged(r *exec.Execution, text []byte, under plan.Context) error {
	lexed, read := new(stmt.Lexed), s.reading()
	if r.Prepared != nil {
		read = r.Prepared.Reading
		under.Schema = read.Settings.Database()
	}
	if err := s.readBy(lexed, text, read.Mode); err != nil {
		return err
	}
	p, err := s.planUnder(lexed, under)
	if err != nil {
		return err
	}
	if r.Prepared != nil && !s.readsAlike(r.Snapshot, &read, string(text), p) {
		return exec.StaleReading()
	}
	if r.Facts.Statement.Kind == stmt.TextPrepare {
		s.vars.Commands.Count(p.About().Statement) // servers count both EXECUTE and the statement that it runs
	}
	args := new(stmt.Args)
	args.Foreign = s.vars.Foreign
	next := &exec.Execution{Engine: s.engine, Plan: p, Facts: p.About(), Snapshot: r.Snapshot, Payload: r.Payload, Params: r.Params, Values: &plan.Values{Args: args, InsertID: s.vars.InsertID, CellVariable: s.cellVariable, CellExpression: s.computedCell}}
	if r.Prepared == nil {
		args.Reset(lexed, nil)
		next.Payload = append([]byte{mysql.COM_QUERY}, text...)
		return s.run(next)
	}
	next.Prepared = &kept.Statement{Text: string(text), Params: lexed.Params, Added: r.Prepared.Added, Reading: read, Types: r.Prepared.Types, Long: r.Prepared.Long, Plan: p}
	next.Prepared.Lexed = *lexed
	args.Reset(&next.Prepared.Lexed, s.bound)
	return s.run(next)
}

// answers returns the source of the answers to questions about the session itself.
func (s *Session) answers() *sysvars.Answers {
	conn := s.client.Stream.NetConn()
	_, port := hostPort(conn.LocalAddr())
	host, _ := hostPort(conn.RemoteAddr())
	return &sysvars.Answers{
		Evaluator: s.eval, ID: s.id, User: s.user, Host: host, Port: port, Version: s.Version(), Hostname: s.Hostname,
		MaxStatement: s.MaxStatement, Timeouts: s.Timeouts, Bounded: s.engine.Account.Rights != nil, Status: s.shownStatus, Processes: s.Processes,
		Admin: s.engine.Account.Admin, Virtual: s.Virtual, Ctx: s.ctx, FirstUnwell: !s.engine.Health().Well(s.Snapshot().Catalog.First()),
	}
}

// hostPort returns the address of one end of a connection, as MySQL writes it without a lookup of names.
func hostPort(a net.Addr) (host, port string) {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "localhost", "0"
	}
	return host, port
}

// shownStatus returns the values of SHOW STATUS about the process and the client's connection.
func (s *Session) shownStatus() sysvars.Status {
	status := sysvars.Status{Prepared: s.Counts.Prepared.Load(), Statements: s.Counts.Statements.Load(), Uptime: time.Since(s.Began)}
	conn := s.client.Stream.NetConn()
	if c, ok := conn.(*compressed.Conn); ok {
		conn = c.NetConn()
	}
	if secured, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := secured.ConnectionState()
		status.TLSVersion = strings.Replace(tls.VersionName(state.Version), "TLS 1.", "TLSv1.", 1)
		status.Cipher = tls.CipherSuiteName(state.CipherSuite)
	}
	return status
}
