package session

import (
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// unsafeCharsets have letters whose second byte may be a backslash or a quote,
// so that a text can't be read without knowing where its letters begin.
var unsafeCharsets = map[string]bool{"gbk": true, "big5": true, "sjis": true, "cp932": true, "gb18030": true}

// Readable tells whether clients may use a character set.
func Readable(charset string) bool { return !unsafeCharsets[charset] }

// set runs SET. One that warns of nothing leaves MariaDB the warnings of the
// statement before.
func (s *Session) set(r *request) error {
	before := s.warnings
	s.warnings = nil
	if err := s.assignAll(r); err != nil {
		return s.writeError(err)
	}
	told := len(s.warnings)
	if told == 0 && r.world.MariaDB {
		s.warnings = before
	}
	return s.writeOK(wire.OK{Warnings: uint16(min(told, mostWarnings))})
}

// assignAll makes all of the assignments, or none.
func (s *Session) assignAll(r *request) error {
	if err := s.readsDeclared(r); err != nil {
		return err
	}
	next := *s.settingsView()
	for _, v := range r.plan.Statement.Variables {
		if err := s.assign(&next, r.world, v); err != nil {
			return err
		}
	}
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
			return &plan.Refusal{Code: plan.Unsupported, Message: fmt.Sprintf("SET to a value that is read from the declared table %s: use SELECT … INTO", full)}
		}
	}
	return nil
}

// carry makes settings the session's.
func (s *Session) carry(settings *backend.Settings) {
	if s.settings == nil || s.settings.Database() != settings.Database() {
		s.activity.set(func(a *activity) { a.database = settings.Database() })
	}
	s.settings = settings
	charset, _ := settings.Names()
	if client, ok := settings.Lookup("character_set_client"); ok {
		charset = strings.ToLower(strings.Trim(client, "'"))
	}
	s.foreign = !utf8Charsets[charset]
}

// utf8Charsets are those in which a text's bytes are those of UTF-8, which is
// what owners are hashed in.
var utf8Charsets = map[string]bool{"utf8mb4": true, "utf8mb3": true, "utf8": true, "ascii": true, "binary": true}

// view is the part of a session that SET changes.
type view struct {
	settings   *backend.Settings
	autocommit bool
	insertID   uint64
	forcedID   uint64
	late       bool
	next       string // SET TRANSACTION … for the next one
	mode       bool   // sql_mode changed
	kept       map[string]string
	said       []string // what of it the first shard may warn of
}

func (s *Session) settingsView() *view {
	return &view{settings: s.settings, autocommit: s.autocommit, insertID: s.insertID, forcedID: s.forcedID, late: s.late, next: s.txn.next, kept: s.kept}
}

// adopt makes a view the session's, after a shard has taken it.
func (s *Session) adopt(next view) error {
	if next.autocommit && !s.autocommit {
		if err := s.commit(); err != nil { // as MySQL does
			return err
		}
	}
	if err := s.take(next); err != nil {
		return err
	}
	if next.mode {
		mode, err := s.readMode(next.settings)
		if err != nil {
			return err
		}
		s.mode = mode
	}
	s.carry(next.settings)
	s.late = next.late
	s.waitTimeout.Store(int64(waitTimeout(next.kept["wait_timeout"])))
	s.autocommit, s.insertID, s.txn.next, s.kept = next.autocommit, next.insertID, next.next, next.kept
	s.forcedID = next.forcedID
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
	case applied, answered:
	}
	if !plainName(v.Name) {
		return fail(erUnknownVariable, stateGeneral, "Unknown system variable '%s'", v.Name)
	}
	return s.assignPlain(next, v)
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
	case "off", "false":
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
	if strings.HasPrefix(v.Name, "character_set_c") && unsafeCharsets[strings.ToLower(strings.Trim(literal, "'"))] {
		return unsafeCharset(literal)
	}
	next.mode = next.mode || v.Name == "sql_mode"
	if incremental[v.Name] && literal != "DEFAULT" {
		if literal, err = s.effective(v.Name, literal); err != nil {
			return err
		}
	}
	next.settings = next.settings.With(v.Name, literal)
	if v.Name != "profiling" || !s.World().MariaDB { // which would have the second SET in its profile, and warns of nothing
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
		if _, err := c.Exec(s.ctx, "SET "+name+" = "+change); err != nil {
			return err
		}
		rows, err := c.Query(s.ctx, "SELECT @@"+name)
		if err != nil || len(rows.Rows) != 1 {
			return err
		}
		value = string(rows.Rows[0][0])
		if !c.InTransaction() && s.pins == nil && s.txn.on(c.Shard()) == nil {
			c.Forget()
		}
		return nil
	})
	return backend.Quote(value), err
}

// collated gives a text the character set and collation that it has where the
// client wrote it: a user variable keeps them on every connection. Without them
// a server would take those that the connection had before it was brought over.
func collated(literal string, settings *backend.Settings) string {
	charset, collation := settings.Names()
	switch {
	case strings.HasPrefix(literal, "'"):
		literal = "_" + charset + literal
	case !strings.HasPrefix(literal, "_utf8mb4"), charset != "utf8mb4":
		return literal
	}
	if collation != "" {
		literal += " COLLATE " + collation
	}
	return literal
}

func plainName(name string) bool {
	for _, c := range name {
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func unsafeCharset(name string) error {
	return fail(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", "character set %s: statements in it can't be read safely; use utf8mb4", name)
}

func assignNames(next *view, charset, collation string) error {
	charset = strings.ToLower(charset)
	if charset == "" || charset == "default" {
		charset = "utf8mb4"
	}
	if unsafeCharsets[charset] {
		return unsafeCharset(charset)
	}
	if !plainName(charset) || (collation != "" && !plainName(strings.ToLower(collation))) {
		return fail(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", "Unknown character set: '%s'", charset)
	}
	next.settings = next.settings.WithNames(charset, collation)
	said := "NAMES " + charset
	if collation != "" {
		said += " COLLATE " + collation
	}
	next.say(said)
	return nil
}

// assignCharset is SET CHARACTER SET, which takes the connection's own character
// set from the database.
func (s *Session) assignCharset(next *view, v stmt.Variable) error {
	charset, literal := string(v.Value.Text), "DEFAULT"
	if unsafeCharsets[strings.ToLower(charset)] {
		return unsafeCharset(charset)
	}
	if charset != "" {
		literal = backend.Quote(charset)
	}
	collation, err := s.compute(s.settings, "@@collation_database")
	if err != nil {
		return err
	}
	next.settings = next.settings.With("character_set_client", literal).With("character_set_results", literal).
		With("collation_connection", collation)
	next.say("CHARACTER SET " + literal)
	return nil
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

// assignTransaction sets the isolation level or read-only mode, for the session
// or for the next transaction. The servers have different names for them.
func (s *Session) assignTransaction(next *view, w *World, v stmt.Variable, what string) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	if v.NextOnly {
		if s.txn.running() {
			return fail(mysql.ER_CANT_CHANGE_TX_CHARACTERISTICS, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
		}
		next.next = nextTransaction(next.next, what, strings.ReplaceAll(strings.Trim(literal, "'"), "-", " "))
		return nil
	}
	prefix := "transaction_"
	if w.MariaDB && !strings.HasPrefix(v.Name, prefix) { // which 10.11 doesn't know, and says so
		prefix = "tx_"
	}
	if what == "read_only" && literal != "DEFAULT" {
		literal = switched(literal)
	}
	next.settings = next.settings.With(prefix+what, literal)
	return nil
}

// nextTransaction adds to SET TRANSACTION, which has an isolation level, an access
// mode or both.
func nextTransaction(have, what, value string) string {
	part := "READ WRITE"
	switch {
	case what == "isolation":
		part = "ISOLATION LEVEL " + value
	case switched(value) == "1":
		part = "READ ONLY"
	}
	const begins = "SET TRANSACTION "
	list := []string{part}
	for old := range strings.SplitSeq(strings.TrimPrefix(have, begins), ", ") {
		if old != "" && old[:4] != part[:4] {
			list = append(list, old)
		}
	}
	return begins + strings.Join(list, ", ")
}

func (s *Session) assignInsertID(next *view, v stmt.Variable) error {
	n, ok := v.Value.Integer()
	if v.Expression != "" || !ok {
		return fail(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", v.Name)
	}
	next.insertID = n.Bits()
	return nil
}

// literal gives a value as a constant; what is more than one is computed by the
// first shard.
func (s *Session) literal(v stmt.Variable) (string, error) {
	if v.Expression == "" {
		switch v.Value.Kind {
		case stmt.String:
			return backend.Quote(string(v.Value.Text)), nil
		case stmt.Default:
			return "DEFAULT", nil
		default:
			return v.Value.String(), nil
		}
	}
	// Nothing that the same SET assigns is seen by its values.
	return s.compute(s.settings, v.Expression)
}

func (s *Session) compute(settings *backend.Settings, expression string) (string, error) {
	literal := ""
	err := s.onFirst(settings, func(c *backend.Conn) error {
		rows, err := c.Query(s.ctx, "SELECT "+expression)
		if err != nil {
			return err
		}
		if len(rows.Rows) != 1 || len(rows.Rows[0]) != 1 {
			return fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "SET needs one value, and %q gives another number of them", expression)
		}
		literal = constant(rows.Rows[0][0], rows.Columns[0].Type)
		return nil
	})
	return literal, err
}

func constant(value []byte, columnType byte) string {
	switch {
	case value == nil:
		return "NULL"
	case columnType <= mysql.MYSQL_TYPE_DOUBLE, columnType == mysql.MYSQL_TYPE_LONGLONG,
		columnType == mysql.MYSQL_TYPE_INT24, columnType == mysql.MYSQL_TYPE_NEWDECIMAL:
		return string(value)
	}
	return backend.Quote(string(value))
}

// try has a connection carry the settings, so that the server can refuse them.
func (s *Session) try(settings *backend.Settings) error {
	return s.onFirst(settings, func(*backend.Conn) error { return nil })
}

// onFirst runs f on a connection to the first shard that carries the settings:
// the transaction's own if it is there, so that it sees the same.
func (s *Session) onFirst(settings *backend.Settings, f func(*backend.Conn) error) error {
	shard := s.World().Catalog.First()
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, settings); err != nil {
			return err
		}
		return f(b.conn)
	}
	b, err := s.borrow(shard, settings)
	if err != nil {
		return err
	}
	if err := f(b.conn); err != nil {
		s.release(b, err)
		return err
	}
	s.handBack(b)
	return nil
}

// askFirst asks the first shard something small, in the session's settings.
func (s *Session) askFirst(text string) (columns []wire.Column, rows [][][]byte, err error) {
	err = s.onFirst(s.settings, func(c *backend.Conn) error {
		answer, err := c.Query(s.ctx, text)
		if err != nil {
			return err
		}
		columns, rows = answer.Columns, answer.Rows
		return nil
	})
	return columns, rows, err
}

// readMode learns what a sql_mode means for the reading of texts; ANSI, say,
// stands for several modes.
func (s *Session) readMode(settings *backend.Settings) (stmt.Mode, error) {
	var mode stmt.Mode
	err := s.onFirst(settings, func(c *backend.Conn) error {
		rows, err := c.Query(s.ctx, "SELECT @@sql_mode")
		if err != nil || len(rows.Rows) != 1 {
			return err
		}
		mode = stmt.ModeOf(string(rows.Rows[0][0]))
		return nil
	})
	return mode, err
}

func (s *Session) shardOf(w *World, p *plan.Plan) router.ShardName {
	if p.Place == plan.Fixed {
		return p.Shard
	}
	return w.Catalog.First()
}
