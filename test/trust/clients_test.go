package trust

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/router"
	"locus/test/shop"
)

const (
	clients      = 12
	clientsSeed  = 20261122
	fewOpen      = 6 // connections to each shard
	mostPinned   = 3 // clients that keep one, so that the others find some
	deedsOfALife = 12
	looksPerDeed = 2
	kindsOfALife = 3
	resetOneOf   = 30 // deeds come after a reset
	binaryOneOf  = 6  // texts are prepared and executed
)

// deeds create session state of all kinds, marked with the client's number {n} and a changing number {k}. The
// texts of a deed are run one after the other.
var deeds = [][]string{
	{"SET @m = {n}{k}"},
	{"/* app=web */ SET @m = 'm{n}', @n = CONCAT(@m, {k})"},
	{"SELECT '{n}-{k}' INTO @m"},
	{"SELECT @n := {n}{k}"},
	{"SET @m = NULL"},
	{"SET SESSION group_concat_max_len = {n}{k}"},
	{"SET time_zone = '+{nn}:{kk}'"},
	{"SET @@session.group_concat_max_len = DEFAULT, time_zone = DEFAULT"},
	{"SET NAMES latin1"},
	{"SET NAMES utf8mb4 COLLATE utf8mb4_bin"},
	{"SET NAMES utf8mb4"},
	{"SET SESSION sql_mode = 'ANSI_QUOTES'"},
	{"SET SESSION sql_mode = DEFAULT"},
	{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"},
	{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"},
	{"SET SESSION TRANSACTION READ WRITE"},
	{"INSERT INTO own{n} (b) VALUES ({k})", "SELECT LAST_INSERT_ID()", "SELECT ROW_COUNT()"},
	{"UPDATE own{n} SET b = b + 1 WHERE id < {n}", "SELECT ROW_COUNT()"},
	{"DO LAST_INSERT_ID({n}{k})", "SELECT LAST_INSERT_ID()"},
	{"DELETE FROM own{n}"},
	{"DO {n} + 'x'", "SHOW COUNT(*) WARNINGS"},
	{"SELECT SQL_CALC_FOUND_ROWS a FROM base WHERE a > {n} LIMIT 1", "SELECT FOUND_ROWS()"},
	{"PREPARE p FROM 'SELECT {n}{k}'", "EXECUTE p"},
	{"DEALLOCATE PREPARE p"},
	{"START TRANSACTION", "INSERT INTO own{n} (b) VALUES ({k})", "ROLLBACK"},
	{"START TRANSACTION", "SET @m = 't{n}{k}'", "COMMIT"},
	{"SET autocommit = 0"},
	{"SET autocommit = 1"},
	{"SELECT COUNT(*), MAX(@m) FROM test_order"},
	{"SELECT COUNT(*) FROM test_order WHERE amount < @@group_concat_max_len"},
	{"SELECT buyer_uid FROM test_order WHERE buyer_uid = {n} AND amount <=> @m"},
	{"USE information_schema", "SELECT DATABASE()", "USE {schema}"},
}

// pinning deeds keep a connection.
var pinning = [][]string{
	{"CREATE TEMPORARY TABLE tt (a INT)", "INSERT INTO tt VALUES ({n}{k})"},
	{"CREATE TEMPORARY TABLE base (a INT)", "INSERT INTO base VALUES ({n}{k})"},
	{"DROP TEMPORARY TABLE tt"},
	{"DROP TEMPORARY TABLE base"},
	{"DO GET_LOCK('{schema}.{n}', 60)"},
	{"SELECT GET_LOCK('{schema}.{n}', 60)"},
	{"SELECT RELEASE_LOCK('{schema}.{n}')"},
	{"LOCK TABLES own{n} WRITE"},
	{"LOCK TABLES base READ"},
	{"UNLOCK TABLES"},
	{"HANDLER base OPEN"},
	{"HANDLER base CLOSE"},
	{"SELECT puts({n}{k})"},
	{"SELECT * FROM marked{n}"},
	{"INSERT INTO own{n} (b) VALUES (puts({n}{k}))"},
	{"CALL puts({n}{k})"},
	{"INSERT INTO fired VALUES ({n}{k})", "DELETE FROM fired WHERE a = {n}{k}"},
	{"BEGIN", "INSERT INTO own{n} (b) VALUES ({k})"},
	{"SAVEPOINT s{n}"},
	{"ROLLBACK TO s{n}"},
	{"COMMIT"},
	{"ROLLBACK"},
}

// looks are queries that show this state. {o} is replaced by another client's number.
var looks = []string{
	"SELECT @m, @n", "SELECT @@session.group_concat_max_len", "SELECT @@session.time_zone", "SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SELECT @@sql_mode",
	"SELECT @@session.{isolation}", "SELECT a FROM tt", "SELECT MIN(a) FROM base", "SELECT IS_USED_LOCK('{schema}.{n}') <=> CONNECTION_ID() AS mine", "SELECT IS_USED_LOCK('{schema}.{o}') <=> CONNECTION_ID() AS mine",
	"HANDLER base READ FIRST", "EXECUTE p", "SELECT LAST_INSERT_ID()", "SELECT DATABASE() = '{schema}'", "SELECT @@autocommit", "SELECT COUNT(*) FROM own{n}", "SELECT COUNT(*), MAX(@n) FROM test_order",
}

// clientTables returns the tables that the deeds use.
func clientTables() []string {
	all := []string{
		"CREATE TABLE {schema}.base (a INT PRIMARY KEY)", "INSERT INTO {schema}.base VALUES (1), (2), (3), (40)", "CREATE TABLE {schema}.fired (a INT)",
		"CREATE TRIGGER {schema}.fires BEFORE INSERT ON {schema}.fired FOR EACH ROW SET @m = NEW.a, time_zone = '+09:00'",
		"CREATE FUNCTION {schema}.puts(v INT) RETURNS INT DETERMINISTIC BEGIN SET @m = v; SET SESSION group_concat_max_len = v; RETURN v; END",
		"CREATE PROCEDURE {schema}.puts(v INT) BEGIN SET @n = v; CREATE TEMPORARY TABLE IF NOT EXISTS tt (a INT); INSERT INTO tt VALUES (v); END",
		"CREATE PROCEDURE {schema}.names() BEGIN SET NAMES utf8mb4; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; END",
		"CREATE PROCEDURE {schema}.stops() SET autocommit = 0", "CREATE PROCEDURE {schema}.goes() SET autocommit = 1",
	}
	for n := range clients {
		all = append(all, fmt.Sprintf("CREATE TABLE {schema}.own%d (id INT AUTO_INCREMENT PRIMARY KEY, b INT)", n+10), fmt.Sprintf("CREATE VIEW {schema}.marked%d AS SELECT {schema}.puts(%d) AS a", n+10, n+10))
	}
	return all
}

// isolations are the names of the variable.
var isolations = map[servers.Engine]string{servers.MariaDB: "tx_isolation", servers.MySQL: "transaction_isolation"}

// someone is a client, who does the same on one server.
type someone struct {
	number       int
	random       *rand.Rand
	proxy, plain login
	pins         chan struct{}
	isolation    string
	said         int
	refused      int
}

// clientRounds is the least number of sessions that each client has, one after the other. clientsFor is the
// least duration.
var (
	clientRounds = scale.Of(3, 4)
	clientsFor   = scale.Of(0, 10*time.Minute)
)

// lives runs sessions of a client until it has had enough of them.
func (c *someone) lives(t *testing.T, start time.Time) {
	for round := 0; round < clientRounds || time.Since(start) < clientsFor; round++ {
		if !c.life(t) {
			return
		}
	}
}

// life runs one session. It may keep a connection to a shard if another one is left.
func (c *someone) life(t *testing.T) (well bool) {
	choice := deeds
	select {
	case c.pins <- struct{}{}:
		choice = append(append(choice[:len(choice):len(choice)], pinning...), pinning...)
		defer func() { <-c.pins }()
	default:
	}
	var few [][]string // state of a session causes a reset before the connection is lent again, so many clients must have little of it
	for range kindsOfALife {
		few = append(few, choice[c.random.IntN(len(choice))])
	}
	proxy, err := c.proxy.dial()
	if err != nil {
		t.Error(err)
		return false
	}
	defer func() { c.end(proxy) }()
	plain, err := c.plain.dial()
	if err != nil {
		t.Error(err)
		return false
	}
	a, b := &session{proxy, "proxy"}, &session{plain, "plain"}
	defer func() { _ = b.Close() }()
	if !c.unlocked(t, a, c.proxy.schema) || !c.unlocked(t, b, c.plain.schema) {
		return false
	}
	var history []string
	for range deedsOfALife {
		if c.random.IntN(resetOneOf) == 0 {
			history = append(history, "COM_RESET_CONNECTION")
			if err := errors.Join(reset(a), reset(b)); err != nil {
				t.Error(err)
				return false
			}
		}
		said := c.marked(few[c.random.IntN(len(few))])
		for range looksPerDeed {
			said = append(said, c.marked([]string{looks[c.random.IntN(len(looks))]})...)
		}
		for _, text := range said {
			c.said++
			history = append(history, text)
			var args []any
			if c.random.IntN(binaryOneOf) == 0 {
				args = []any{nothing{}}
				history = append(history, "… by the binary protocol")
			}
			got := a.say(on(c.proxy.schema, text), args...)
			if got.err != nil && code.MatchString(got.err.Error()) {
				c.refused++
				history = append(history, "… refused: "+got.err.Error())
				continue // and was not done
			}
			want := b.say(on(c.plain.schema, text), args...)
			if want.number() == erNotLocked && (strings.Contains(text, "test_order") || got.number() == erNoSuchTable) {
				continue // under LOCK TABLES, the proxy doesn't find tables that are not on that shard
			}
			if ours, theirs := heard(got, c.proxy.schema), heard(want, c.plain.schema); ours != theirs {
				t.Errorf("client %d: %s (%v), and on one server %s (%v), after\n  %s", c.number, ours, got.err, theirs, want.err, strings.Join(history, "\n  "))
				return false
			}
		}
	}
	return true
}

// unlocked waits until the client's lock is free. The session before it disconnected without a COM_QUIT, and
// ends only when the server notices.
func (c *someone) unlocked(t *testing.T, at *session, schema string) bool {
	text := on(schema, fmt.Sprintf("SELECT IS_FREE_LOCK('{schema}.%d')", c.number))
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for {
		is := at.say(text)
		if is.err != nil {
			t.Errorf("client %d, %s: %v", c.number, at.who, is.err)
			return false
		}
		if len(is.results) == 1 && slices.Equal(is.results[0].rows, []string{"1"}) {
			return true
		}
		select {
		case <-look.C:
		case <-late:
			t.Errorf("client %d, %s: its lock is still held, by a session that is gone: %s", c.number, at.who, told(is))
			return false
		}
	}
}

const (
	erNotLocked   = 1100
	erNoSuchTable = 1146
)

// heard returns an answer with the same names on both sides.
func heard(a answer, schema string) string {
	if a.number() == noServers {
		return a.err.Error()
	}
	return strings.ReplaceAll(told(a), schema, "{schema}")
}

const noServers = 0xffff

// end leaves as clients do, or as those whose machine fails.
func (c *someone) end(proxy *client.Conn) {
	if c.random.IntN(2) == 0 {
		_ = proxy.Quit()
	}
	_ = proxy.Close()
}

// reset makes a session as fresh as a new one.
func reset(s *session) error {
	const comResetConnection = 31
	s.ResetSequence()
	if err := s.WritePacket([]byte{0, 0, 0, 0, comResetConnection}); err != nil {
		return err
	}
	_, err := s.ReadOKPacket()
	return err
}

// marked replaces the marks in texts.
func (c *someone) marked(texts []string) []string {
	k := c.random.IntN(60)
	fill := strings.NewReplacer("{n}", fmt.Sprint(c.number), "{nn}", fmt.Sprintf("%02d", c.number-10), "{k}", fmt.Sprint(k+10), "{kk}", fmt.Sprintf("%02d", k),
		"{o}", fmt.Sprint(10+c.random.IntN(clients)), "{isolation}", c.isolation)
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = fill.Replace(text)
	}
	return out
}

// clientShop returns a shop and a server with the tables of the deeds.
func clientShop(t *testing.T, engine servers.Engine) (s *shop.Shop, proxy, plain login) {
	server := servers.Shared(t, engine, 3)[2]
	schema := servers.Database(t, server)
	for _, sql := range append(clientTables(), "CREATE TABLE {schema}.test_order (order_id BIGINT PRIMARY KEY, buyer_uid BIGINT, amount DECIMAL(12,2))") {
		server.Exec(t, on(schema, sql))
	}
	track(t, engine, servers.Shared(t, engine, 3))
	s = shop.Start(t, engine, shop.Options{Servers: servers.Shared(t, engine, 3)[:2], Backends: backend.Limits{MaxOpen: fewOpen, WaitTimeout: time.Minute, ConnectTimeout: time.Minute}})
	foreseenBy(t, s)
	for _, sql := range clientTables() {
		s.Servers[0].Exec(t, on(s.Schema, sql))
	}
	return s, login{s.Addr, shop.User, shop.Password, s.Schema}, login{server.Addr(), server.User, server.Password, schema}
}

// Variables that stored code has set keep their values, whatever the session sets afterwards.
func TestWhatStoredCodeSetsStays(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		_, proxy, plain := clientShop(t, engine)
		a, b := proxy.open(t, "proxy"), plain.open(t, "plain")
		for _, text := range []string{
			"SET @m = 5", "SELECT puts(2003)", "SET @m = 5", "SELECT @m", "SELECT puts(2004)", "SET @m = NULL", "SELECT @m",
			"SET @m = 1, @n = 2", "SET SESSION group_concat_max_len = 1000", "SELECT puts(2000)", "SET NAMES latin1", "SELECT @m, @n, @@group_concat_max_len",
			"INSERT INTO fired VALUES (3)", "SET @n = 4", "SELECT @m, @n, @@time_zone", "SET SESSION sql_mode = 'ANSI_QUOTES'", "SELECT @m, @n, @@time_zone",
			"SET @m = 1", "SELECT @m", "SET SESSION group_concat_max_len = 1000", "SELECT @@group_concat_max_len", "SELECT puts(2001)", "SET SESSION group_concat_max_len = 1000", "SELECT @m, @@group_concat_max_len",
			"SELECT puts(2002)", "SET @m = NULL", "SET SESSION group_concat_max_len = DEFAULT", "SELECT @m, @@group_concat_max_len",
			// assign a value that the session had before and has overwritten
			"SET @m = 'm', @n = CONCAT(@m, 3)", "SELECT * FROM marked19", "SET @m = 'm', @n = CONCAT(@m, 4)", "SELECT @m, @n", "SET @m = 'm', @n = CONCAT(@m, 5)", "SELECT @m, @n",
			"SET SESSION group_concat_max_len = DEFAULT, time_zone = DEFAULT", "SELECT * FROM marked19", "INSERT INTO fired VALUES (4)", "SELECT @m, @@group_concat_max_len, @@time_zone",
			"SET SESSION group_concat_max_len = DEFAULT", "SELECT @m, @@group_concat_max_len, @@time_zone", "SET time_zone = DEFAULT", "SELECT @m, @@group_concat_max_len, @@time_zone",
			"SET time_zone = DEFAULT", "INSERT INTO fired VALUES (5)", "SET time_zone = 'nowhere'", "SET @m = 5, time_zone = 'nowhere'", "SELECT @m, @@time_zone", "SET @m = 5", "SELECT @m, @@time_zone",
			"SELECT puts(7)", "SELECT 5 INTO @m", "SELECT @m", "SELECT puts(8)", "SELECT @m := 5", "SELECT @m",
			"SET NAMES latin1", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "CALL names()", "SELECT @@character_set_client, @@character_set_results, @@collation_connection, @@{isolation}",
			"SET NAMES latin1", "SELECT @@character_set_client, @@character_set_results, @@collation_connection, @@{isolation}",
			"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SELECT @@character_set_client, @@character_set_results, @@collation_connection, @@{isolation}",
			"CALL names()", "SET character_set_results = latin1", "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
			"CALL names()", "SET character_set_results = latin1", "SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SET NAMES utf8mb4",
			"SET autocommit = 1", "CALL stops()", "SELECT @@autocommit", "SET autocommit = 1", "SELECT @@autocommit",
			"CALL stops()", "INSERT INTO own19 (b) VALUES (1)", "SET autocommit = 1", "ROLLBACK", "SELECT COUNT(*) FROM own19", "SET autocommit = 0", "CALL goes()", "SELECT @@autocommit", "SET autocommit = 0", "SELECT @@autocommit",
			"SELECT COUNT(*) FROM own19", "INSERT INTO own19 (b) VALUES (1)", "ROLLBACK", "SELECT COUNT(*) FROM own19", "SET autocommit = 1",
		} {
			text = strings.ReplaceAll(text, "{isolation}", isolations[engine])
			if got, want := heard(a.say(text), proxy.schema), heard(b.say(text), plain.schema); got != want {
				t.Errorf("%s: %s, and on one server %s", text, got, want)
			}
		}
		const buyers = 8 // some on each shard
		a.must(t, "SET @m = 5", "SELECT puts(7)")
		for k := range buyers {
			a.must(t, fmt.Sprintf("INSERT INTO test_order (buyer_uid, amount) VALUES (%d, @m)", k))
		}
		if got := heard(a.say("SELECT COUNT(*), MIN(amount) FROM test_order"), proxy.schema); !strings.HasSuffix(got, ` 8|"7.00"`) {
			t.Errorf("on other connections: %s", got)
		}
	})
}

// A LOCK TABLES that servers refuse while they parse it neither commits nor unlocks.
func TestLockTablesOfNoTables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		_, proxy, plain := clientShop(t, engine)
		a, b := proxy.open(t, "proxy"), plain.open(t, "plain")
		for _, text := range []string{
			"BEGIN", "INSERT INTO own19 (b) VALUES (1)", "USE information_schema", "LOCK TABLES base READ", "USE {schema}", "LOCK TABLES information_schema.base READ",
			"ROLLBACK", "SELECT COUNT(*) FROM own19",
			"LOCK TABLES base READ", "USE information_schema", "LOCK TABLES own19 READ", "USE {schema}", "SELECT COUNT(*) FROM own19", "SELECT COUNT(*) FROM base", "UNLOCK TABLES",
			"BEGIN", "INSERT INTO own19 (b) VALUES (1)", "LOCK TABLES nowhere READ", "ROLLBACK", "SELECT COUNT(*) FROM own19",
		} {
			if got, want := heard(a.say(on(proxy.schema, text)), proxy.schema), heard(b.say(on(plain.schema, text)), plain.schema); got != want {
				t.Errorf("%s: %s, and on one server %s", text, got, want)
			}
		}
	})
}

// Twelve clients share few connections, and each creates state of all kinds. Each must see what it would see
// alone on one server, and never another client's mark.
func TestTwelveClients(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, proxy, plain := clientShop(t, engine)
		pins, start := make(chan struct{}, mostPinned), time.Now()
		all := make([]*someone, clients)
		var wait sync.WaitGroup
		for i := range all {
			all[i] = &someone{
				number: i + 10, random: rand.New(rand.NewPCG(clientsSeed, uint64(i))), pins: pins, isolation: isolations[engine],
				proxy: proxy, plain: plain,
			}
			wait.Go(func() { all[i].lives(t, start) })
		}
		wait.Wait()
		said, refused := 0, 0
		for _, c := range all {
			said, refused = said+c.said, refused+c.refused
		}
		if refused > said/20 {
			t.Errorf("%d of %d statements are refused: nothing is compared", refused, said)
		}
		pool := s.Proxy.Status().Pools[router.ShardName("s0")]
		t.Logf("%d statements, %d refused, in %v; %d resets of %d connections lent", said, refused, time.Since(start).Round(time.Millisecond), pool.Resets, pool.Borrowed)
	})
}
