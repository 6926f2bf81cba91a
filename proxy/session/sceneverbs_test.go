package session_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/internal/test/fakeshard"
	"locus/proxy/interrupt"
	"locus/proxy/session"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
)

// actor performs the lines of a scene.
type actor struct {
	*stand
	person *person
	other  *person // the second client
	// awaited is true if the next line waits for a statement on a shard. The shards' statements are then shown at that line.
	awaited bool
}

// act performs one line, and returns its outcome.
func (a *actor) act(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	if shard, colon := strings.CutSuffix(word, ":"); colon {
		a.script(shard, rest)
		return ""
	}
	verb, known := verbs[word]
	if !known {
		a.t.Fatalf("nobody can do %q", line)
	}
	told := verb(a, a.ids.named(rest))
	if word == "send" || word == "await" || word == "file" || rest == "read the tables" {
		return ""
	}
	told = append(told, a.person.rests()...)
	return a.shown(told)
}

// verbs contains the actions of a client, and events of its session.
var verbs map[string]func(a *actor, rest string) []string

func init() {
	verbs = map[string]func(a *actor, rest string) []string{
		">":      func(a *actor, sql string) []string { return a.query(a.person, sql) },
		"b>":     (*actor).otherQuery,
		"send":   func(a *actor, sql string) []string { a.person.send(a.text(sql)); return nil },
		"answer": func(a *actor, _ string) []string { return a.person.answer(nil, false) },
		"prepare": func(a *actor, rest string) []string {
			name, text, _ := strings.Cut(rest, ": ")
			return a.person.prepare(name, text)
		},
		"execute":    (*actor).execute,
		"fetch":      (*actor).fetch,
		"long":       (*actor).long,
		"reset":      (*actor).reset,
		"close":      func(a *actor, name string) []string { a.ofStatement(mysql.COM_STMT_CLOSE, name); return nil },
		"ping":       func(a *actor, _ string) []string { return a.command(mysql.COM_PING, "") },
		"use":        func(a *actor, db string) []string { return a.command(mysql.COM_INIT_DB, db) },
		"debug":      func(a *actor, _ string) []string { return a.command(mysql.COM_DEBUG, "") },
		"quit":       func(a *actor, _ string) []string { a.person.send([]byte{mysql.COM_QUIT}); return nil },
		"option":     (*actor).option,
		"statistics": (*actor).statistics,
		"fields":     (*actor).fields,
		"kill":       (*actor).kill,
		"user":       (*actor).user,
		"raw":        (*actor).raw,
		"packet":     (*actor).packet,
		"file":       func(a *actor, text string) []string { a.person.file = unquoted(text); return nil },
		"leave":      func(a *actor, _ string) []string { _ = a.person.net.Close(); a.person.near.left(); return nil },
		"await":      (*actor).await,
		"hears": func(a *actor, rest string) []string {
			shard, prefix, _ := strings.Cut(rest, " ")
			if !a.shards[router.ShardName(shard)].AwaitHeard(prefix, patience) {
				a.t.Fatalf("%s is not sent %q", shard, prefix)
			}
			return nil
		},
		"do": func(a *actor, name string) []string { return a.happen(name) },
	}
}

// await waits until a shard has a statement that waits to be killed, or until the proxy holds one.
func (a *actor) await(what string) []string {
	came := (<-chan struct{})(a.holding)
	if what != "held" {
		came = a.shards[router.ShardName(what)].Asleep()
	}
	select {
	case <-came:
	case <-time.After(patience):
		a.t.Fatalf("in vain for %q", what)
	}
	return nil
}

func unquoted(text string) string {
	s, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		return text
	}
	return s
}

// text returns a COM_QUERY.
func (a *actor) text(sql string) []byte {
	out := []byte{mysql.COM_QUERY}
	if a.options.capabilities&mysql.CLIENT_QUERY_ATTRIBUTES != 0 {
		out = append(out, 0, 1) // no attributes, in one set
	}
	return append(out, strings.NewReplacer(`\n`, "\n", `\xfc`, "\xfc").Replace(sql)...)
}

func (a *actor) query(p *person, sql string) []string {
	p.send(a.text(sql))
	return p.answer(nil, false)
}

// otherQuery sends a query of a second client.
func (a *actor) otherQuery(sql string) []string {
	if a.other == nil {
		user := a.options.user
		if rest, is := strings.CutPrefix(sql, "as "); is {
			user, sql, _ = strings.Cut(rest, " ")
		}
		a.other, _ = a.join(user, "shop")
	}
	told := a.query(a.other, sql)
	told = append(told, a.other.rests()...)
	for i := range told {
		told[i] = "b " + told[i]
	}
	return told
}

func (a *actor) command(command byte, argument string) []string {
	a.person.send(append([]byte{command}, argument...))
	return a.person.answer(nil, false)
}

// execute executes a prepared statement: "p: 7, 'x'", or "p with cursor: 7".
func (a *actor) execute(rest string) []string {
	name, list, _ := strings.Cut(rest, ":")
	name, cursor := strings.CutSuffix(name, " with cursor")
	var values []string
	if list = strings.TrimSpace(list); list != "" {
		values = strings.Split(list, ", ")
	}
	kind := byte(0)
	if cursor {
		kind = mysql.CURSOR_TYPE_READ_ONLY
	}
	a.person.execute(name, kind, values)
	return a.person.answer(nil, true)
}

func (a *actor) fetch(rest string) []string {
	name, count, _ := strings.Cut(rest, " ")
	n, _ := strconv.ParseUint(count, 10, 32)
	p := a.person.statements[name]
	a.person.seq = 0
	a.person.write(wire.AppendFetch(nil, wire.Fetch{Statement: p.id, Rows: uint32(n)}))
	lines, _ := a.person.rows(p.columns, true)
	return lines
}

// long sends a parameter before the execution: "p 0 text", or "p 0 of 2000000".
func (a *actor) long(rest string) []string {
	words := strings.SplitN(rest, " ", 3)
	param, _ := strconv.Atoi(words[1])
	piece := []byte(words[2])
	if size, is := strings.CutPrefix(words[2], "of "); is {
		n, _ := strconv.Atoi(size)
		piece = []byte(strings.Repeat("x", n))
	}
	a.person.write(wire.AppendLongData(nil, wire.LongData{Statement: a.person.statements[words[0]].id, Param: uint16(param), Piece: piece}))
	return nil
}

func (a *actor) ofStatement(command byte, name string) {
	id := uint32(999)
	if p := a.person.statements[name]; p != nil {
		id = p.id
	}
	a.person.send(binary.LittleEndian.AppendUint32([]byte{command}, id))
}

// reset resets a statement, or the connection.
func (a *actor) reset(name string) []string {
	if name == "connection" {
		return a.command(mysql.COM_RESET_CONNECTION, "")
	}
	a.ofStatement(mysql.COM_STMT_RESET, name)
	return a.person.answer(nil, false)
}

func (a *actor) option(number string) []string {
	n, _ := strconv.Atoi(number)
	a.person.send([]byte{mysql.COM_SET_OPTION, byte(n), 0})
	payload, ok := a.person.next()
	defer a.person.packets.Done()
	switch {
	case !ok:
		return []string{cut}
	case wire.IsERR(payload):
		return []string{a.person.refusal(payload)}
	}
	lines, _ := a.person.end(payload)
	return lines
}

// statistics returns the answer to COM_STATISTICS without its numbers.
func (a *actor) statistics(string) []string {
	a.person.send([]byte{mysql.COM_STATISTICS})
	payload, _ := a.person.next()
	defer a.person.packets.Done()
	var words []string
	for _, part := range strings.Split(string(payload), "  ") {
		word, _, _ := strings.Cut(part, ":")
		words = append(words, word)
	}
	return []string{strings.Join(words, ", ")}
}

func (a *actor) fields(table string) []string {
	a.person.send(append([]byte{mysql.COM_FIELD_LIST}, table+"\x00"...))
	var names []string
	for {
		payload, ok := a.person.next()
		defer a.person.packets.Done()
		switch {
		case !ok:
			return []string{cut}
		case wire.IsERR(payload):
			return []string{a.person.refusal(payload)}
		case payload[0] == mysql.EOF_HEADER:
			lines, _ := a.person.end(payload)
			return append([]string{"fields " + strings.Join(names, ", ")}, lines...)
		}
		field, err := wire.ParseColumn(payload)
		if err != nil {
			a.t.Error(err)
		}
		names = append(names, string(field.Name))
		a.person.packets.Done()
	}
}

func (a *actor) kill(number string) []string {
	id, _ := strconv.ParseUint(number, 10, 32)
	a.person.send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_PROCESS_KILL}, uint32(id)))
	return a.person.answer(nil, false)
}

// user sends a COM_CHANGE_USER with a name, and optionally a database.
func (a *actor) user(rest string) []string {
	name, database, _ := strings.Cut(rest, " ")
	payload := append([]byte{mysql.COM_CHANGE_USER}, name...)
	payload = append(payload, 0, 0) // no password
	payload = append(payload, database...)
	payload = append(payload, 0, 45, 0)
	payload = append(payload, mysql.AUTH_NATIVE_PASSWORD+"\x00"...)
	a.person.send(payload)
	return a.person.answer(nil, false)
}

// raw sends the bytes of a command.
func (a *actor) raw(digits string) []string {
	payload, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		a.t.Fatal(err)
	}
	a.person.send(payload)
	return a.person.answer(nil, false)
}

// packet sends a COM_QUERY in a packet whose sequence number isn't 0.
func (a *actor) packet(rest string) []string {
	number, sql, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(number)
	packets, _ := wire.AppendPacket(nil, byte(n), a.text(sql))
	a.person.write(packets)
	a.person.seq = 255 // the answer is numbered as if from 0
	return a.person.answer(nil, false)
}

// left waits until the session is over.
func (w *watched) left() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.over {
		w.changes.Wait()
	}
}

// happen triggers an event from outside the session.
func (a *actor) happen(name string) []string {
	h := a.person.session.Interrupts()
	switch name {
	case "kill query":
		return ended(h.Cancel(context.Background(), interrupt.Killed, 0))
	case "kill query at the next snapshot":
		kill := func() {
			if first, err := h.Cancel(context.Background(), interrupt.Killed, 0); !first || err != nil {
				a.t.Errorf("cancelled: %t, %v", first, err)
			}
		}
		session.OnNextCommand(&a.planning, h, kill)
	case "fence as the shards are looked at again":
		fence := func() {
			a.move("announce")
			a.move("fence")
		}
		a.looking.Store(&fence)
	case "give way":
		return ended(h.Cancel(context.Background(), interrupt.Preempted, 0))
	case "time out":
		return ended(h.Cancel(context.Background(), interrupt.TimedOut, 0))
	case "shut down":
		return ended(h.Cancel(context.Background(), interrupt.ShuttingDown, 0))
	case "kill":
		if err := h.Kill(context.Background()); err != nil {
			return []string{err.Error()}
		}
	case "drain":
		h.Drain()
	case "dismiss":
		h.Dismiss()
		a.person.near.left()
	case "hold locks", "hold no locks":
		for _, shard := range a.shards {
			shard.Hold(name == "hold locks")
		}
		return nil
	case "lose the generator":
		a.ids.failed = errors.New("etcd can't be reached")
	case "exhaust the sequence":
		a.ids.failed = orderid.ErrSequenceExhausted
	case "announce to nobody":
		a.beside.redefine = errors.New("proxy2 has not answered")
	case "begin to rename orders to bought":
		a.beside.renaming = []catalog.Rename{{From: catalog.TableName{Schema: "shop", Name: "orders"}, To: catalog.TableName{Schema: "shop", Name: "bought"}}}
		if err := a.beside.Redefined(context.Background(), catalog.Anything); err != nil {
			a.t.Fatal(err)
		}
		a.beside.said()
	case "read the tables":
		a.recatalog(shopTables(a.t), nil)
		return nil
	case "lose the numbers":
		a.beside.unnumbered = errors.New("etcd can't be reached")
	case "lose the declarations":
		a.beside.undeclared = errors.New("etcd can't be reached")
	default:
		if shard, is := strings.CutPrefix(name, "stop "); is {
			a.shards[router.ShardName(shard)].Stop()
			return nil
		}
		if shard, is := strings.CutPrefix(name, "switch "); is {
			pool, _ := a.services.Pools.Pool(router.ShardName(shard))
			return []string{fmt.Sprintf("there is something to wait for: %t", a.person.session.PreemptAt(pool))}
		}
		return a.move(name)
	}
	return nil
}

func ended(first bool, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	if !first {
		return []string{"there was nothing to end"}
	}
	return nil
}

// script sets a shard's reply: "UPDATE -> error 1062 Duplicate entry". "all" means all shards. With "always" in front, the reply
// applies repeatedly.
func (a *actor) script(shard, rest string) {
	prefix, what, is := strings.Cut(rest, " -> ")
	if !is {
		a.t.Fatalf("%q says nothing", rest)
	}
	var r fakeshard.Reply
	prefix, r.Always = strings.CutPrefix(prefix, "always ")
	prefix, r.Prepare = strings.CutPrefix(prefix, "[prepare] ")
	r.Prefix = prefix
	a.fill(&r, what)
	for _, name := range a.names {
		if shard == "all" || shard == string(name) {
			a.shards[name].Next(r)
		}
	}
}

// fill parses a reply. A further result follows after " THEN ".
func (a *actor) fill(r *fakeshard.Reply, what string) {
	what, then, more := strings.Cut(what, " THEN ")
	if more {
		r.Then = new(fakeshard.Reply)
		a.fill(r.Then, then)
	}
	word, rest, _ := strings.Cut(what, " ")
	switch strings.TrimSuffix(word, ",") {
	case "error":
		number, message, _ := strings.Cut(rest, " ")
		n, _ := strconv.ParseUint(number, 10, 16)
		r.Code, r.Message = uint16(n), message
		if state, text, has := strings.Cut(message, ": "); has && len(state) == 5 {
			r.State, r.Message = state, text
		}
		r.Ends = r.Code == mysql.ER_LOCK_DEADLOCK
	case "lost":
		r.Cut = map[string]fakeshard.Cut{"": fakeshard.Before, "within": fakeshard.Within, "amid": fakeshard.Amid}[rest]
		if r.Cut == fakeshard.Amid {
			a.rows(r, "n | 7")
		}
	case "waits":
		r.Waits = true
	case "file":
		r.File = true
		a.okay(r, rest)
	case "ok":
		a.okay(r, rest)
	default:
		a.rows(r, what)
	}
}

// okay parses the values of an OK: "3 rows, id 7, 2 warnings, info …".
func (a *actor) okay(r *fakeshard.Reply, words string) {
	for part := range strings.SplitSeq(words, ", ") {
		first, rest, _ := strings.Cut(part, " ")
		n, _ := strconv.ParseUint(first, 10, 64)
		switch {
		case rest == "rows":
			r.Affected, r.None = n, n == 0
		case rest == "warnings":
			r.Warnings = uint16(n)
		case first == "id":
			r.InsertID, _ = strconv.ParseUint(rest, 10, 64)
		case first == "info":
			r.Info = rest
		case part == "ends":
			r.Ends = true
		}
	}
}

// rows parses columns and rows: "id, name:text | 7, a | 8, NULL", optionally with "2 warnings" at the end.
func (a *actor) rows(r *fakeshard.Reply, what string) {
	parts := strings.Split(what, " | ")
	for name := range strings.SplitSeq(parts[0], ", ") {
		if name, text := strings.CutSuffix(name, ":text"); text {
			r.Columns = append(r.Columns, fakeshard.Text(name))
		} else {
			r.Columns = append(r.Columns, fakeshard.Number(name))
		}
	}
	for _, row := range parts[1:] {
		if n := 0; strings.HasSuffix(row, " warnings") {
			if _, err := fmt.Sscanf(row, "%d warnings", &n); err == nil {
				r.Warnings = uint16(n)
				continue
			}
		}
		var values []string
		for value := range strings.SplitSeq(row, ", ") {
			value = strings.ReplaceAll(unquoted(value), "%2C", ",")
			if value == "NULL" {
				value = fakeshard.Null
			}
			values = append(values, value)
		}
		r.Rows = append(r.Rows, values)
	}
}
