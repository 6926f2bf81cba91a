package session

import (
	"bytes"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/session/fence"
	"locus/proxy/wire"
	"locus/router/plan"
)

// runLoad runs a LOAD DATA LOCAL whose rows go to several shards: one reads the
// client's file into a temporary table, from which the rows are inserted in one
// transaction.
func (s *Session) runLoad(r *request, load *plan.Load) error {
	if s.capabilities&mysql.CLIENT_LOCAL_FILES == 0 {
		return r.snapshot.Flavor.NoLocalFiles()
	}
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.admit(r, nil, true); err != nil {
		return err
	}
	shard := r.snapshot.Catalog.First() // it has the functions that SET may call
	release, err := s.reserve(shard)
	if err != nil {
		return err
	}
	defer release()
	own := *r
	own.outside = true // of the file: the rows are inserted on its behalf
	g := &gathering{Session: s, r: &own, lex: r.values.Lexed}
	if g.at, err = s.apart(shard, g.settings()); err != nil {
		return err
	}
	b, err := g.load(load)
	g.clean(err)
	if held, ok := err.(*fence.HeldError); ok { //nolint:errorlint // it is never wrapped
		return s.deadlocked("%v", held) // the client's file has been read, and can't be asked for again
	}
	if err != nil {
		return err
	}
	return b.tellLoaded(load.Replace)
}

// load has the file read, and inserts its rows.
func (g *gathering) load(load *plan.Load) (*bulk, error) {
	warnings, err := g.stage(load)
	if err != nil {
		return nil, err
	}
	b, err := g.bulk(g.r, load.Head())
	if err != nil {
		return nil, err
	}
	b.total.Warnings = warnings
	restore, err := g.lenient()
	if err != nil {
		return nil, err
	}
	defer restore() // once all rows are in: the last ones are inserted at the end
	return b, b.run(func() error { return g.insert(b, load.Read(), nil, load.Destination) })
}

// lenient has values read and inserted as they are: what the session's sql_mode has to
// say of them was said when the file was read, in the file's character set; and its
// limits of queries are none of a file's.
func (g *gathering) lenient() (restore func(), err error) {
	rows, err := g.at.Conn.Own().Query(g.ctx, "SELECT @@sql_mode")
	if err != nil {
		return nil, err
	}
	modes := []string{"ALLOW_INVALID_DATES"}
	for mode := range strings.SplitSeq(string(rows.Rows[0][0]), ",") {
		if !strings.HasPrefix(mode, "STRICT_") && !strings.HasPrefix(mode, "NO_ZERO_") && mode != "TRADITIONAL" {
			modes = append(modes, mode)
		}
	}
	before := g.Session.vars.Settings
	g.Session.vars.Settings = before.With("sql_mode", "'"+strings.Join(modes, ",")+"'").WithNames("utf8mb4", "").
		Without("max_join_size").Without("sql_big_selects")
	return func() { g.Session.vars.Settings = before }, nil
}

// stage reads the client's file into the temporary table, as the session's settings
// say. It gives the number of warnings.
func (g *gathering) stage(load *plan.Load) (uint16, error) {
	g.made = append(g.made, load.Temporary())
	for _, text := range load.Make() {
		if _, err := g.at.Conn.Own().Exec(g.ctx, text); err != nil {
			return 0, err
		}
	}
	if err := g.at.Conn.Carry(g.ctx, g.Session.vars.Settings); err != nil {
		return 0, err
	}
	if err := g.send(g.at, g.r, nil, nil); err != nil {
		return 0, err
	}
	if err := g.passFile(g.at.Conn); err != nil {
		return 0, err
	}
	ok, err := g.at.Conn.Outcome()
	if err != nil {
		return 0, err
	}
	if ok.Warnings > 0 {
		g.keepWarnings(g.at)
	}
	g.learn(g.at, g.r.facts.Statement.Assigns)
	return ok.Warnings, nil
}

// passFile asks the client for its file, if the shard wants it, and passes it on.
func (s *Session) passFile(c *backend.Conn) error {
	asked, seq, err := c.Stream().Payload()
	if err != nil {
		return c.Lost(true, err)
	}
	if asked[0] != mysql.LocalInFile_HEADER {
		return nil // it is the outcome
	}
	question, _ := wire.AppendPacket(nil, s.seq, bytes.Clone(asked))
	c.Stream().Done()
	if err := s.pass(question); err != nil {
		return err
	}
	return s.sendFile(c, seq+1)
}
