package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/session/kept"
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
	s.beginTrace(&p.Lexed)
	err = s.executePrepared(p, payload)
	s.ended(&p.Lexed, err)
	return err
}

func (s *Session) executePrepared(p *kept.Statement, payload []byte) error {
	w := s.snapshot()
	if err := s.replan(w, p); err != nil {
		return s.writeError(err)
	}
	if !s.readsAsThen(w, &p.Reading, p.Text, p.Plan) {
		return s.writeError(outlived())
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
	s.values = plan.Values{Args: &s.args, InsertID: s.vars.InsertID}
	s.client.Binary = true
	defer func() { s.client.Binary = false }()
	err = s.finish(s.observed(&request{plan: p.Plan, facts: p.Plan.About(), values: &s.values, snapshot: w, statement: p, payload: payload, cursor: wantsCursor(e, p)}))
	s.kept.ForgetLong(p)
	return err
}

// executePacket builds COM_STMT_EXECUTE for one connection, on which the
// statement is prepared first if it isn't yet. With the client's own text and
// parameters its packet goes out with nothing changed but the statement's ID.
func (s *Session) executePacket(c *backend.Conn, r *request, text []byte, params []wire.Param, before []string) ([]byte, error) {
	p := r.statement
	sql := p.Text
	if text != nil {
		if string(text) != p.Sent {
			p.Sent = string(text)
		}
		sql = p.Sent
	}
	under := p.Reading.On(c.Settings())
	there, ok := c.PreparedUnder(under, sql)
	if !ok {
		var err error
		if there, err = c.PrepareUnder(s.ctx, under, sql); err != nil {
			if lost, ok := errors.AsType[*backend.LostError](err); ok {
				lost.Sent = false // the execution, which alone has an effect
			}
			return nil, err
		}
	}
	cursor := byte(mysql.CURSOR_TYPE_NO_CURSOR)
	if r.cursor {
		cursor, s.executed = mysql.CURSOR_TYPE_READ_ONLY, there
	}
	out := s.client.Out[:0]
	for _, b := range before {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(b))
	}
	if params == nil && s.client.Capabilities&mysql.CLIENT_QUERY_ATTRIBUTES == 0 && asItCame(r.payload, p, there) {
		start := len(out)
		out, _ = wire.AppendPacket(out, 0, r.payload)
		binary.LittleEndian.PutUint32(out[start+wire.HeaderSize+1:], there.ID)
		out[start+wire.HeaderSize+5] = cursor
		there.Types = p.Types
		s.client.Out = out
		return out, nil
	}
	if params == nil {
		params = s.params
		out = appendLong(out, there.ID, p.Long, params)
	}
	out, _ = wire.AppendExecute(out, wire.Execute{Statement: there.ID, Cursor: cursor, Params: params})
	there.Types = nil
	s.client.Out = out
	return out, nil
}

// longPiece is how much of a value goes into one packet, in bytes.
const longPiece = 1 << 20

// appendLong sends long values as the client did: in one packet with the others
// they could be more than a shard takes at once.
func appendLong(out []byte, statement uint32, long [][]byte, params []wire.Param) []byte {
	for i, value := range long {
		if len(value) < longPiece || i >= len(params) {
			continue
		}
		params[i].Long = true
		for piece := range slices.Chunk(value, longPiece) {
			out = wire.AppendLongData(out, wire.LongData{Statement: statement, Param: uint16(i), Piece: piece})
		}
	}
	return out
}

// asItCame tells whether the client's packet says everything that the
// connection needs: the types of the parameters are sent once per statement and
// connection, and this connection may have them from another session.
func asItCame(payload []byte, p *kept.Statement, there *backend.Statement) bool {
	if len(p.Long) > 0 || len(p.Added) > 0 {
		return false
	}
	return p.Params == 0 || bytes.Equal(there.Types, p.Types) || typesSent(payload, p.Params)
}

// typesSent tells whether a COM_STMT_EXECUTE carries types: a flag behind the
// command, the statement, the cursor, the iterations and the bitmap of NULLs.
func typesSent(payload []byte, params int) bool {
	at := 1 + 4 + 1 + 4 + (params+7)/8
	return at < len(payload) && payload[at] == 1
}
