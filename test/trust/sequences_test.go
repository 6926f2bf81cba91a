package trust

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/shop"
)

const (
	sequencesSeed   = 20261123
	stepsOfSequence = 24
	kindsOfSequence = 12
	preparedOneOf   = 4
	renewOneOf      = 40 // one of so many sequences begins with the stand's initial rows
)

// sequences is the number of sequences on each engine.
var sequences = scale.Of(30, 4000)

// firstSequence selects the number of the first sequence, in order to repeat a failed one.
var firstSequence = flag.Int("sequence", 0, "the first of the sequences that are said")

// controls begin and end transactions, locks and all that a session keeps.
var controls = []string{
	"SET autocommit = 0", "SET autocommit = 0", "SET autocommit = 1", "BEGIN", "START TRANSACTION READ ONLY", "START TRANSACTION READ WRITE", "START TRANSACTION WITH CONSISTENT SNAPSHOT",
	"COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "ROLLBACK TO b", "RELEASE SAVEPOINT a", "RELEASE SAVEPOINT b",
	"LOCK TABLES plain WRITE", "LOCK TABLES plain READ", "LOCK TABLES plain WRITE, secret READ", "LOCK TABLES test_order WRITE", "LOCK TABLES test_order READ, plain WRITE", "LOCK TABLES product WRITE, test_order WRITE",
	"UNLOCK TABLES", "UNLOCK TABLES", "HANDLER plain OPEN", "HANDLER plain READ FIRST", "HANDLER plain READ NEXT", "HANDLER plain CLOSE",
	makesTemporary, "INSERT INTO tt VALUES ({k})", "SELECT a FROM tt", "DROP TEMPORARY TABLE tt", "TRUNCATE TABLE secret",
	"PREPARE p FROM 'SELECT COUNT(*) FROM test_order WHERE buyer_uid = {k}'", "PREPARE p FROM 'UPDATE plain SET note = {k}'", "EXECUTE p", "DEALLOCATE PREPARE p",
	resets, resets, changesUser, "SET @m = {k}", "SET NAMES latin1",
}

// Commands of the protocol that are not texts.
const (
	resets      = "COM_RESET_CONNECTION"
	changesUser = "COM_CHANGE_USER"
)

const makesTemporary = "CREATE TEMPORARY TABLE tt (a INT)"

// accesses are reads and writes of no, one, two and all shards.
var accesses = []string{
	"SELECT DATABASE()", "SELECT @@autocommit, @m", "SELECT FOUND_ROWS()", "SELECT ROW_COUNT()", "SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SELECT @@session.{isolation}, @@session.{readonly}",
	"SELECT id, note FROM plain", "SELECT id FROM plain WHERE id = {k} FOR UPDATE", "SELECT SQL_CALC_FOUND_ROWS id FROM plain ORDER BY id LIMIT 1", "SELECT SQL_CALC_FOUND_ROWS buyer_uid FROM test_order WHERE buyer_uid = {k} LIMIT 1", "SELECT * FROM secret",
	"SELECT COUNT(*), MAX(amount) FROM test_order", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = {k}", "SELECT status, amount FROM test_order WHERE buyer_uid IN ({k}, {l})", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = {k} FOR UPDATE",
	"SELECT COUNT(*), MAX(@m) FROM test_order", "SELECT COUNT(*) FROM test_order o JOIN plain p ON p.id = o.buyer_uid", "SELECT COUNT(*) FROM product", "SELECT COUNT(*) FROM order_item",
	"INSERT INTO test_order (buyer_uid, amount, status) VALUES ({k}, {l}, 'new')", "INSERT INTO test_order (buyer_uid, amount, status) VALUES ({k}, 1, 'two'), ({l}, 2, 'two')",
	"UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = {k}", "UPDATE test_order SET amount = amount + 1, status = 'x{l}' WHERE buyer_uid IN ({k}, {l})", "UPDATE test_order SET amount = amount + {k}", "DELETE FROM test_order WHERE buyer_uid = {k}", "DELETE FROM test_order WHERE buyer_uid IN ({k}, {l})",
	"UPDATE product SET price = price + {k}", "INSERT INTO product VALUES ({k}, 'p', {l})", "INSERT INTO plain VALUES ({k}, 'new')", "UPDATE plain SET note = '{k}-{l}'", "DELETE FROM plain WHERE id = {k}", "INSERT INTO secret VALUES ({k}, 'h')",
	"INSERT INTO test_order (buyer_uid, amount, status) SELECT id, {k}, 'q' FROM plain WHERE id < 3", "INSERT INTO plain SELECT 1, 'twice'", "INSERT INTO test_order (buyer_uid, amount) VALUES ({k}, 'x')",
	"SELECT nothing FROM plain", "SELECT nothing FROM test_order WHERE buyer_uid = {k}", "SELECT nothing FROM test_order", "SELEC",
}

// step is one statement of a sequence.
type step struct {
	text   string
	binary bool
}

func (s step) String() string {
	if s.binary {
		return s.text + "   -- prepared"
	}
	return s.text
}

// sequence makes one of few kinds of statements, so that they meet.
func sequence(random *rand.Rand, engine servers.Engine) []step {
	variables := []string{"{isolation}", "tx_isolation", "{readonly}", "tx_read_only"}
	if engine == servers.MySQL {
		variables = []string{"{isolation}", "transaction_isolation", "{readonly}", "transaction_read_only"}
	}
	var few []string
	for range kindsOfSequence / 2 {
		few = append(few, controls[random.IntN(len(controls))], accesses[random.IntN(len(accesses))])
	}
	var steps []step
	made := false // otherwise the proxy would wait, because it reads the shards for an unknown table
	for range stepsOfSequence {
		fill := strings.NewReplacer(append(variables[:4:4], "{k}", fmt.Sprint(1+random.IntN(8)), "{l}", fmt.Sprint(9+random.IntN(8)))...)
		text := fill.Replace(few[random.IntN(len(few))])
		if !made && strings.Contains(text, " tt") {
			text = makesTemporary
		}
		if made = made || text == makesTemporary; strings.HasPrefix(text, "DROP") || text == resets || text == changesUser {
			made = false
		}
		binary := random.IntN(preparedOneOf) == 0 && text != resets && text != changesUser && text != "SELECT FOUND_ROWS()" // a fresh MariaDB counts the PREPARE
		steps = append(steps, step{text, binary})
	}
	return steps
}

const (
	erReadLocked          = 1099
	erReadOnlyTransaction = 1792
)

// refusals are errors of statements that nothing was done of.
var refusals = map[uint16]bool{erNotLocked: true, erReadLocked: true, erNoSuchTable: true, erReadOnlyTransaction: true}

// do runs a step on one side.
func (s *session) do(l login, p step) answer {
	switch {
	case p.text == resets:
		return answer{err: reset(s)}
	case p.text == changesUser:
		return answer{err: s.change(l)}
	case p.binary:
		return s.say(p.text, nothing{})
	}
	return s.say(p.text)
}

// change logs in again on the same connection, by COM_CHANGE_USER.
func (s *session) change(l login) error {
	const utf8mb4GeneralCI = 45
	plugin := mysql.AUTH_NATIVE_PASSWORD
	b := append([]byte{0, 0, 0, 0, mysql.COM_CHANGE_USER}, l.user...)
	b = append(append(b, 0, 0), l.schema...)
	b = append(append(b, 0, utf8mb4GeneralCI, 0), plugin...)
	s.ResetSequence()
	if err := s.WritePacket(append(b, 0, 0)); err != nil { // no attributes
		return err
	}
	for {
		packet, err := s.ReadPacket()
		if err != nil {
			return err
		}
		switch packet[0] {
		case mysql.OK_HEADER:
			s.HandleOKPacket(packet)
			return nil
		case mysql.ERR_HEADER:
			return s.HandleErrorPacket(packet)
		case mysql.EOF_HEADER:
			name, salt, _ := strings.Cut(string(packet[1:]), "\x00")
			salt = strings.TrimSuffix(salt, "\x00")
			response := mysql.CalcNativePassword([]byte(salt), []byte(l.password))
			if name == mysql.AUTH_CACHING_SHA2_PASSWORD {
				response = mysql.CalcCachingSha2Password([]byte(salt), []byte(l.password))
			}
			if err := s.WritePacket(append(make([]byte, 4), response...)); err != nil {
				return err
			}
		case mysql.MORE_DATE_HEADER:
			if packet[1] != mysql.CACHE_SHA2_FAST_AUTH {
				return errors.New("the server has forgotten the password")
			}
		}
	}
}

// seen returns the comparable part of an answer: rows, errors' numbers, and whether a transaction is open. IDs differ, because
// the proxy stamps the shards' rows.
func (s *session) seen(a answer) string {
	if a.number() == noServers {
		return a.err.Error()
	}
	if a.err != nil {
		return fmt.Sprintf("error %d", a.number())
	}
	var b strings.Builder
	for _, r := range a.results {
		fmt.Fprintf(&b, "%q %d %q ", r.columns, r.affected, r.rows)
	}
	return b.String() + fmt.Sprintf("autocommit %v, in a transaction %v", s.IsAutoCommit(), s.IsInTransaction())
}

// played sends a sequence to both sides, and returns the first difference. done are the steps up to it, and refused is how
// many of them the proxy has refused.
func (s *stand) played(t *testing.T, steps []step) (difference string, done, refused int) {
	t.Helper()
	logins := [2]login{{s.Addr, shop.User, shop.Password, s.Schema}, {s.server.Addr(), shop.User, password, s.Schema}}
	proxy, plain := logins[0].open(t, "proxy"), logins[1].open(t, "plain")
	defer func() { _, _ = proxy.Quit(), plain.Quit() }()
	counted := false // on MariaDB, FOUND_ROWS() of a new session may come from another session
	for i, p := range steps {
		counted = counted && p.text != resets && p.text != changesUser
		if !counted && strings.Contains(p.text, "FOUND_ROWS()") {
			continue
		}
		got := proxy.do(logins[0], p)
		if got.err != nil && code.MatchString(got.err.Error()) {
			refused++
			_, _ = proxy.say("DO 0"), plain.say("DO 0") // for ROW_COUNT()
			continue                                    // and was not done
		}
		want := plain.do(logins[1], p)
		counted = counted || want.err == nil && strings.HasPrefix(p.text, "SELECT id")
		if refusals[got.number()] && refusals[want.number()] {
			continue // each side may choose another one of several reasons, and the proxy does not know a missing object
		}
		if want.number() == erReadOnlyTransaction && strings.HasPrefix(p.text, "PREPARE") {
			_ = proxy.say("DEALLOCATE PREPARE p") // the proxy reports that only when the statement is executed
			_, _ = proxy.say("DO 0"), plain.say("DO 0")
			continue
		}
		if a, b := proxy.seen(got), plain.seen(want); a != b {
			difference, done = fmt.Sprintf("%s: %s (%v), and on one server %s (%v)", p, a, got.err, b, want.err), i+1
			break
		}
	}
	if done == 0 {
		done = len(steps)
	}
	for i, c := range []*session{proxy, plain} {
		if err := c.do(logins[i], step{text: resets}).err; err != nil && difference == "" {
			difference = fmt.Sprintf("%s can't be reset: %v", c.who, err)
		}
	}
	s.rowsNow(t, func(name, ours, theirs string) {
		a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
		difference += fmt.Sprintf("\nafterwards %s has other rows: on the shards alone %.200q, on the plain server alone %.200q", name, without(a, b), without(b, a))
	})
	if strings.Contains(difference, "\nafterwards") {
		s.restore(t)
	}
	return strings.TrimSpace(difference), done, refused
}

// shortened removes steps without which the difference remains.
func (s *stand) shortened(t *testing.T, steps []step) []step {
	for i := len(steps) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		if difference, done, _ := s.played(t, fewer); difference != "" {
			steps = fewer[:done]
			i = min(i, len(steps))
		}
	}
	return steps
}

// Transactions, locks, handlers, temporary tables and resets, in any order, with reads
// and writes of one shard and of several among them, are answered as by one server, by
// texts and by prepared statements, and leave the same rows.
func TestSequences(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		said, refused, failed := 0, 0, 0
		for n := *firstSequence; n < *firstSequence+sequences; n++ {
			if n%renewOneOf == renewOneOf-1 {
				s.restore(t)
			}
			steps := sequence(rand.New(rand.NewPCG(sequencesSeed, uint64(n))), s.engine)
			difference, done, not := s.played(t, steps)
			said, refused = said+done, refused+not
			if difference == "" {
				continue
			}
			steps = s.shortened(t, steps[:done])
			if again, _, _ := s.played(t, steps); again != "" {
				difference = again
			}
			t.Errorf("sequence %d: %s, after\n  %s", n, difference, strings.ReplaceAll(strings.TrimSpace(fmt.Sprintln(inLines(steps))), "\n", "\n  "))
			if failed++; failed >= mostDifferences {
				break
			}
		}
		if refused > said/10 {
			t.Errorf("%d of %d statements are refused: nothing is compared", refused, said)
		}
		t.Logf("%d statements, %d refused", said, refused)
	})
}

// mostDifferences are shown.
const mostDifferences = 12

func inLines(steps []step) string {
	lines := make([]string, len(steps))
	for i, p := range steps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
