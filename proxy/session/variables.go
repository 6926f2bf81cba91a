package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/wire"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// set runs SET. One that warns of nothing leaves MariaDB the warnings of the
// statement before.
func (s *Session) set(r *request) error {
	before := s.warnings
	s.warnings = nil
	if err := s.assignAll(r); err != nil {
		return s.writeError(err)
	}
	told := len(s.warnings)
	if told == 0 && r.world.Flavor.KeepsWarnings() {
		s.warnings = before
	}
	return s.writeOK(wire.OK{Warnings: uint16(min(told, mostWarnings))})
}

// assignAll makes all of the assignments, or none.
func (s *Session) assignAll(r *request) error {
	if err := s.readsDeclared(r); err != nil {
		return err
	}
	next, before := *s.settingsView(), s.settings
	for _, v := range r.plan.Statement.Variables {
		if err := s.interrupts.Unwanted(); err != nil {
			return err
		}
		if err := settable(next.settings); err != nil {
			return err
		}
		if err := s.assign(&next, r.world, v); err != nil {
			return err
		}
		next.assigned = append(next.assigned, carriedNames(v, r.world.Flavor)...)
	}
	next.learned(before, s.settings)
	if err := s.adopt(next); err != nil {
		return err
	}
	s.trackVariables(r.world, r.plan.Statement.Variables)
	return nil
}

// readsDeclared refuses values that are read from declared tables: expressions are
// computed by the first shard, which has undeclared ones.
func (s *Session) readsDeclared(r *request) error {
	for _, name := range r.plan.Statement.Tables {
		full := catalog.TableName{Schema: name.Schema, Name: name.Name}
		if full.Schema == "" {
			full.Schema = s.settings.Database()
		}
		if t, err := r.world.Catalog.Find(full); t != nil || err != nil {
			return &plan.Refusal{Code: plan.Unsupported, Message: fmt.Sprintf("SET to a value that is read from the declared table %s: use SELECT … INTO, or, where it reads several shards, SELECT and then SET to what was answered", full)}
		}
	}
	return nil
}

func (s *Session) assign(next *view, w *World, v stmt.Variable) error {
	if v.Global {
		return fail(mysql.ER_SPECIFIC_ACCESS_DENIED_ERROR, "42000", "SET GLOBAL %s through the proxy: set it on every shard", v.Name)
	}
	if v.User {
		return s.assignUser(next, v)
	}
	switch v.Name {
	case "names":
		return assignNames(next, string(v.Value.Text), v.Collation)
	case "charset":
		return s.assignCharset(next, v)
	case "autocommit":
		return s.assignAutocommit(next, v)
	case "tx_isolation", "transaction_isolation":
		return s.assignTransaction(next, w, v, "isolation")
	case "tx_read_only", "transaction_read_only":
		return s.assignTransaction(next, w, v, "read_only")
	case "last_insert_id", "identity":
		return s.assignInsertID(next, v)
	case "insert_id":
		n, ok := v.Value.Integer()
		if v.Expression != "" || !ok {
			return fail(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", v.Name)
		}
		next.forcedID = n.Bits()
		return nil
	case "locus_read":
		literal, err := s.literal(v)
		if err == nil {
			next.late, err = readFrom(literal)
		}
		return err
	case "locus_context":
		literal, err := s.literal(v)
		if err == nil {
			next.context, err = readContext(literal)
		}
		return err
	case "session_track_transaction_info":
		return s.assignTransactionTracking(next, v)
	}
	switch variableClasses[v.Name] {
	case ignored:
		literal, err := s.literal(v)
		if err != nil {
			return err
		}
		return keepIgnored(next, v, literal)
	case forbidden:
		return fail(erReadOnly, stateGeneral, "variable '%s' can't be set through the proxy", v.Name)
	case readOnly:
		return fail(erReadOnly, stateGeneral, "Variable '%s' is a read only variable", v.Name)
	case equalOnly:
		return s.assignEqual(next, v)
	case unclassified:
		return s.refuseUnclassified(next, v.Name)
	case applied, answered:
	}
	return s.assignPlain(next, v)
}

// refuseUnclassified leaves it to the server to say that a session has no such
// variable.
func (s *Session) refuseUnclassified(next *view, name string) error {
	if !plainName(name) {
		return fail(erUnknownVariable, stateGeneral, "Unknown system variable '%s'", name)
	}
	if _, err := s.compute(next.settings, "@@session."+name); err != nil {
		err = s.onFirst(next.settings, func(c *backend.Conn) error {
			_, err := c.Exec(s.ctx, "SET SESSION "+name+" = DEFAULT")
			return err
		})
		if err != nil {
			return err
		}
	}
	return fail(erReadOnly, stateGeneral, "variable '%s' can't be set through the proxy, which doesn't know what it does: set it on every shard, with SET GLOBAL or in the configuration", name)
}

// assignEqual lets a variable be set to the value that it has on the shards.
func (s *Session) assignEqual(next *view, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil || literal == "DEFAULT" {
		return err
	}
	have, err := s.compute(next.settings, "@@"+v.Name)
	if err != nil {
		return err
	}
	if !strings.EqualFold(switched(have), switched(literal)) {
		return fail(erReadOnly, stateGeneral, "variable '%s' can't be set to %s through the proxy, only to what it is on the shards: %s", v.Name, literal, have)
	}
	return nil
}

// switched gives a constant without quotes, and the words for a switch's
// positions as numbers.
func switched(literal string) string {
	word := strings.Trim(literal, "'")
	switch strings.ToLower(word) {
	case "on", "true":
		return "1"
	case "off", "false", "no_chain": // the last is completion_type's
		return "0"
	}
	return word
}

// assignPlain carries a variable to every connection that serves the session;
// whether it exists and takes the value is the server's to say.
func (s *Session) assignPlain(next *view, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	if v.Name == "character_set_client" || v.Name == "character_set_connection" {
		if literal, err = s.charsetLiteral(v.Name, literal, literal == "DEFAULT"); err != nil {
			return err
		}
	}
	next.mode = next.mode || v.Name == "sql_mode"
	if incremental[v.Name] && literal != "DEFAULT" {
		if literal, err = s.effective(v.Name, literal); err != nil {
			return err
		}
	}
	next.settings = next.settings.With(v.Name, literal)
	if v.Name != "profiling" || s.flavor() != flavor.MariaDB { // which would have the second SET in its profile, and warns of nothing
		next.say(v.Name + " = " + literal)
	}
	return nil
}

// incremental variables take changes of what they have.
var incremental = map[string]bool{"optimizer_switch": true, "optimizer_trace": true}

// effective gives the whole value that a change of such a variable leads to, so
// that a fresh connection can be given it.
func (s *Session) effective(name, change string) (string, error) {
	value := ""
	err := s.onFirst(s.settings, func(c *backend.Conn) error {
		before, err := valueOf(s.ctx, c, name)
		if err != nil {
			return err
		}
		if _, err := c.Own().Exec(s.ctx, "SET "+name+" = "+change); err != nil {
			return err
		}
		if value, err = valueOf(s.ctx, c, name); err == nil {
			_, err = c.Own().Exec(s.ctx, "SET "+name+" = "+before) // the connection may stay the session's
		}
		if err != nil {
			c.Note(backend.State)
		}
		return err
	})
	return value, err
}

// valueOf gives a variable's value on a connection as a constant.
func valueOf(ctx context.Context, c *backend.Conn, name string) (string, error) {
	rows, err := c.Own().Query(ctx, "SELECT @@"+name)
	if err != nil {
		return "", err
	}
	return backend.Quote(string(rows.Rows[0][0])), nil
}

func plainName(name string) bool {
	for _, c := range name {
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func (s *Session) assignAutocommit(next *view, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.Trim(literal, "'")) {
	case "1", "on", "default", "true":
		next.autocommit = true
		next.settings = next.settings.Without("autocommit")
	case "0", "off", "false":
		next.autocommit = false
		next.settings = next.settings.With("autocommit", "0")
	default:
		return fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "Variable 'autocommit' can't be set to the value of '%s'", literal)
	}
	return nil
}

func (s *Session) assignInsertID(next *view, v stmt.Variable) error {
	n, ok := v.Value.Integer()
	if v.Expression != "" || !ok {
		return fail(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", v.Name)
	}
	next.insertID = n.Bits()
	return nil
}
