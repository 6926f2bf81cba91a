package session

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// execute answers COM_STMT_EXECUTE.
func (s *Session) execute(payload []byte) error {
	s.Counts.Statements.Add(1)
	s.vars.Commands[stmt.CountExecute]++
	p, err := s.kept.Find(payload)
	if err != nil {
		return s.writeError(err)
	}
	s.observer.Read(&p.Lexed)
	err = s.executePrepared(p, payload)
	s.observer.Ended(&p.Lexed, err)
	return err
}

// executePrepared executes a prepared statement with the parameters in the command's payload.
func (s *Session) executePrepared(p *kept.Statement, payload []byte) error {
	w, err := s.replan(s.snapshot(), p)
	if err != nil {
		return s.writeError(err)
	}
	if !s.readsAlike(w, &p.Reading, p.Text, p.Plan) {
		return s.writeError(exec.StaleReading())
	}
	if err := p.TooLong; err != nil {
		s.kept.ForgetLong(p)
		return s.writeError(err)
	}
	named := s.client.Capabilities&mysql.CLIENT_QUERY_ATTRIBUTES != 0
	e, err := wire.ParseExecute(payload, wire.Known{Params: p.Given(), Types: p.Types, Long: p.Long, Named: named, Room: s.types}, s.params[:0])
	if err != nil {
		return s.writeError(w.Flavor.WrongArguments())
	}
	s.params = e.Params
	if named && cap(e.Types) > cap(s.types) {
		s.types = e.Types[:0]
	}
	p.Cursor.Close()
	if !bytes.Equal(p.Types, e.Types) {
		p.Types = bytes.Clone(e.Types)
	}
	if len(p.Added) > 0 {
		if err := s.addNumbers(w, p); err != nil {
			return s.writeError(err)
		}
	}
	s.bound = s.bound[:0]
	for _, param := range s.params {
		s.bound = append(s.bound, exec.Value(param))
	}
	s.args.Reset(&p.Lexed, s.bound)
	s.args.Foreign = s.vars.Foreign || p.Reading.Foreign
	s.values = plan.Values{Args: &s.args, InsertID: s.vars.InsertID, CellVariable: s.cellVariable, CellExpression: s.computedCell}
	if s.engine.ReadsDifferently(&p.Reading) { // a shard would compute expressions under the present settings
		s.values.CellExpression = nil
	}
	s.client.Binary = true
	defer func() { s.client.Binary = false }()
	s.execution = exec.Execution{
		Engine: s.engine, Plan: p.Plan, Facts: p.Plan.About(), Values: &s.values, Snapshot: w,
		Prepared: p, Params: s.params, Payload: payload, Cursor: wantsCursor(e, p),
	}
	err = s.finish(s.runObserved(&s.execution))
	s.kept.ForgetLong(p)
	return err
}
