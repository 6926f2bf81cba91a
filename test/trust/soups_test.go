package trust

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router/stmt"
)

// modes are those that change how texts are read.
var modes = []string{
	"", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "IGNORE_SPACE", "HIGH_NOT_PRECEDENCE", "ANSI", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
	"NO_BACKSLASH_ESCAPES,IGNORE_SPACE,PIPES_AS_CONCAT", "ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE",
}

var soupCharsets = []string{"utf8mb4", "utf8mb4", "utf8mb4", "latin1", "utf8mb3", "greek", "ujis", "euckr", "gb2312", "cp850", "macroman", "binary", "ascii"}

// kettle compares readings of soups on one connection.
type kettle struct {
	pipe   *pipe
	engine servers.Engine
	rand   *rand.Rand
	reading
	whole stmt.Lexed

	// digests: MySQL's digests are compared, in place of answers.
	as literals

	mode, charset             string
	cooked, accepted, refused int
	refusals                  map[string]int
	differences               []string
}

// reads is how a session of the mode and the character set reads.
func (k *kettle) reads() stmt.Mode {
	mode := stmt.ModeOf(k.mode)
	switch k.charset {
	case "utf8mb4", "utf8mb3":
	case "binary":
		mode |= stmt.NotUTF8 | stmt.RawNames
	default:
		mode |= stmt.NotUTF8
	}
	return mode
}

const batch = 200

// prepare sets one sql_mode and one character set for a batch.
func (k *kettle) prepare() (stmt.Mode, *cook, error) {
	k.mode, k.charset = modes[k.rand.IntN(len(modes))], soupCharsets[k.rand.IntN(len(soupCharsets))]
	if _, err := k.pipe.ask("SET NAMES "+k.charset, "SET sql_mode = '"+k.mode+"'"); err != nil {
		return 0, nil, err
	}
	mode := k.reads()
	return mode, &cook{r: k.rand, ansi: mode&stmt.AnsiQuotes != 0, utf8: k.charset == "utf8mb4", answers: k.as == values}, nil
}

// round has one batch of soups compared.
func (k *kettle) round() error {
	mode, c, err := k.prepare()
	if err != nil {
		return err
	}
	soups := make([]soup, batch)
	texts := make([]string, batch)
	for i := range soups {
		soups[i] = c.soup()
		texts[i] = soups[i].String()
	}
	asked, at := k.questions(texts, mode)
	answers, err := k.pipe.ask(asked...)
	if err != nil {
		return fmt.Errorf("%w; among %q", err, asked)
	}
	for i, j := range at {
		k.cooked++
		if j < 0 {
			continue
		}
		k.count(answers[j])
		if d := k.differ(answers[j], answers[j+1]); d && len(k.differences) < enough {
			k.differences = append(k.differences, k.explain(soups[i]))
		}
	}
	return nil
}

// undigested is MySQL's error of a text that it can't read the digest of.
const undigested = 3676

// mixed are the errors of strings of two collations, of three, and of more.
var mixed = []uint16{1267, 1270, 1271}

// misspelt is MySQL's error of a literal whose bytes are none of its character set's.
const misspelt = 1300

const enough = 12

// questions returns, for each text that the proxy does not refuse, the text and the proxy's reading, and their indexes among
// all texts.
func (k *kettle) questions(texts []string, mode stmt.Mode) (asked []string, at []int) {
	for _, text := range texts {
		canonical, refused := k.of(text, mode, k.as)
		if refused != nil {
			k.refused++
			k.refusals[why(refused)]++
			at = append(at, -1)
			continue
		}
		at = append(at, len(asked))
		asked = append(asked, k.question(text), k.question(canonical))
	}
	return asked, at
}

func why(err error) string {
	var u *stmt.Uncertain
	if errors.As(err, &u) {
		return u.Reason
	}
	return err.Error()
}

// question returns the query about a text: the text itself, or a query for its digest.
func (k *kettle) question(text string) string {
	if k.as == values {
		return text
	}
	return fmt.Sprintf("SELECT STATEMENT_DIGEST_TEXT(_%s X'%x')", k.charset, text)
}

func (k *kettle) count(a said) {
	if a.code == 0 {
		k.accepted++
	}
	k.refusals[fmt.Sprintf("the server's %d", a.code)]++
}

// differ reports whether a server reads the canonical text in another way. A text that the server refuses has no reading.
func (k *kettle) differ(text, canonical said) bool {
	if text.code == 1064 && text.results == 0 || k.as == tokenKinds && (text.code == undigested || text.code == misspelt) {
		return false
	}
	if slices.Contains(mixed, text.code) {
		return false // the result depends on whether letters beyond ASCII are escaped
	}
	if canonical.code == undigested && !strings.Contains(canonical.message, "SQL syntax") {
		return false // the error is about a literal that replaces all literals of its kind
	}
	return !text.equal(canonical)
}

// explain shows the smallest soup that is read in two ways.
func (k *kettle) explain(s soup) string {
	mode := k.reads()
	differs := func(s soup) bool {
		canonical, refused := k.of(s.String(), mode, k.as)
		if refused != nil {
			return false
		}
		answers, err := k.pipe.ask(k.question(s.String()), k.question(canonical))
		return err == nil && k.differ(answers[0], answers[1])
	}
	s = shrink(s, differs)
	canonical, _ := k.of(s.String(), mode, k.as)
	answers, err := k.pipe.ask(k.question(s.String()), k.question(canonical))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, %s, sql_mode %q: %q\n  server: %v\n  proxy reads %q: %v", k.engine, k.charset, k.mode, s.String(), answers[0], canonical, answers[1])
}

// shrink removes parts of a soup without which the difference remains: pieces, then bytes of them.
func shrink(s soup, differs func(soup) bool) soup {
	for _, split := range []func(soup) soup{func(s soup) soup { return s }, bytewise} {
		s = split(s)
		for again := true; again; {
			again = false
			for size := max(len(s.pieces)/2, 1); size > 0; size /= 2 {
				for i := 0; i+size <= len(s.pieces); {
					less := soup{append(append([]string(nil), s.pieces[:i]...), s.pieces[i+size:]...)}
					if differs(less) {
						s, again = less, true
					} else {
						i++
					}
				}
			}
		}
	}
	return s
}

func bytewise(s soup) (out soup) {
	text := s.String()
	for i := range len(text) {
		out.pieces = append(out.pieces, text[i:i+1])
	}
	return out
}

func version(t *testing.T, server *servers.Server) stmt.Server {
	t.Helper()
	var said string
	if err := server.DB(t, "").QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&said); err != nil {
		t.Fatal(err)
	}
	v, ok := stmt.ServerOf(said)
	if !ok {
		t.Fatalf("a server of version %q", said)
	}
	return v
}

func soupTable(t *testing.T, server *servers.Server) (schema string) {
	schema = servers.Database(t, server)
	server.Exec(t, "CREATE TABLE "+schema+".zt (z1 INT, z2 VARCHAR(10), `1a` INT DEFAULT 3, `1e5` INT DEFAULT 4, `z``q` INT DEFAULT 5, z$ INT DEFAULT 6, `$z` INT DEFAULT 7, _z INT DEFAULT 8, "+
		"`zä` INT DEFAULT 9, `0xg` INT DEFAULT 10, `1ea` INT DEFAULT 11, `1e5a` INT DEFAULT 12, x INT DEFAULT 13, n INT DEFAULT 14, b INT DEFAULT 15, `0x41` INT DEFAULT 16, "+
		"`z b` INT DEFAULT 17, `0b2` INT DEFAULT 18, `1_` INT DEFAULT 19, `1$` INT DEFAULT 20, `2z` INT DEFAULT 21) DEFAULT CHARSET utf8mb4",
		"INSERT INTO "+schema+".zt (z1, z2) VALUES (1, 'one'), (2, 'two')")
	return schema
}

func fromEnvironment(t *testing.T, name string, usual uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// The servers give the same answer to a text and to the proxy's reading of it.
func TestSoupsAnswers(t *testing.T) { servers.Engines(t, soups(values)) }

// MySQL's own lexer reads a text as the proxy does.
func TestSoupsDigests(t *testing.T) { soups(tokenKinds)(t, servers.MySQL) }

func soups(as literals) func(*testing.T, servers.Engine) {
	return func(t *testing.T, engine servers.Engine) {
		kettles, wait := heat(t, engine, as, (*kettle).round)
		wait()
		report(t, engine, kettles, 4)
	}
}

// heat has kettles go on until all soups are cooked, or enough of them differ.
func heat(t *testing.T, engine servers.Engine, as literals, round func(*kettle) error) (kettles []*kettle, wait func()) {
	seed, total := fromEnvironment(t, "LOCUS_SEED", 1), fromEnvironment(t, "LOCUS_SOUPS", scale.Of[uint64](20_000, 3_000_000))
	server := servers.Shared(t, engine, shards+1)[shards]
	schema := soupTable(t, server)
	const cooks = 2
	var group sync.WaitGroup
	for i := range cooks {
		k := &kettle{
			pipe: login{server.Addr(), server.User, server.Password, schema}.pipe(t), engine: engine, as: as,
			rand: rand.New(rand.NewPCG(seed, uint64(i))), refusals: map[string]int{},
		}
		k.servers = []stmt.Server{version(t, server)}
		kettles = append(kettles, k)
		group.Go(func() {
			for k.cooked < int(total)/cooks && len(k.differences) < enough {
				if err := round(k); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return kettles, group.Wait
}

// report logs the outcomes of the soups. A minimum share must be accepted, because a refused text proves nothing.
func report(t *testing.T, engine servers.Engine, kettles []*kettle, few int) {
	var all kettle
	all.refusals = map[string]int{}
	for _, k := range kettles {
		all.cooked, all.accepted, all.refused = all.cooked+k.cooked, all.accepted+k.accepted, all.refused+k.refused
		for why, n := range k.refusals {
			all.refusals[why] += n
		}
		all.differences = append(all.differences, k.differences...)
	}
	t.Logf("%s: %d soups, of which the server accepts %d; the proxy refuses %d: %v", engine, all.cooked, all.accepted, all.refused, all.refusals)
	if len(all.differences) > 0 {
		t.Errorf("%d soups are read in two ways:\n%s", len(all.differences), strings.Join(all.differences, "\n"))
	}
	if all.accepted*few < all.cooked {
		t.Errorf("the server accepts %d of %d soups: too few to say anything", all.accepted, all.cooked)
	}
}
