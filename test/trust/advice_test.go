package trust

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router/cluster"
	"locus/test/shop"
)

// advice is a statement that is refused, and the actions of a user who follows the text of the refusal. In texts, {id} and
// {no} are replaced by the ID and the order number of an order of buyer 7, {schema} by the stand's schema, and {session} by
// the proxy's number of the client.
type advice struct {
	code       string   // of the refusal; "#1064" is a number of MySQL's
	everywhere []string // done before, on each shard and on the plain server
	user       string   // the user whose statement is refused; empty: app
	before     []string // run before by the same client, on both sides
	set        []string // … on the proxy only, because servers don't have such variables
	refused    string
	prepared   bool   // the statement is refused when it is prepared by the binary protocol
	says       string // the part of the refusal's text that is the advice
	// The following fields carry out the advice: on each shard, as in the text (and on the plain server: {plain}); by
	// changing the declaration; and by statements of the client on both sides, whose answers must be equal.
	shards  []string
	only    map[int][]string // on one shard
	declare func(*cluster.Cluster, string)
	instead []string
	alone   []string // … to the proxy alone, since a plain server needs no other way
	after   []string // cleans up, run by the client on both sides; may fail
	clear   []string // … on each shard and on the plain server; may fail
	on      string
}

// adviseStand returns a stand of the sample shop with the tables of writeTables.
func adviseStand(t *testing.T, engine servers.Engine) *stand {
	t.Helper()
	var proxied, plain []string
	for _, sql := range writeTables {
		proxied, plain = append(proxied, ofPlain.ReplaceAllString(sql, "")), append(plain, ofPlain.ReplaceAllString(sql, "$1"))
	}
	s := standOf(t, engine, shop.Options{Tables: proxied, Declarations: writeDeclarations}, plain)
	changed := s.declared()

	for name, u := range map[string]cluster.User{
		"narrowly": {Scatter: cluster.GuardRefuse, ScatterWrites: cluster.GuardAllow},
		"guarded":  {ScatterWrites: cluster.GuardRefuse},
		"paged":    {LargeOffset: cluster.GuardRefuse, ScatterWrites: cluster.GuardAllow},
		"little":   {GatherRows: 10, ScatterWrites: cluster.GuardAllow},
	} {
		u.Secret = "app"
		changed.Users[name] = u
		s.server.Exec(t, fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", name, password))
		s.server.Exec(t, fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO '%s'@'%%'", name))
	}
	s.changed = changed
	s.apply(t, changed)
	return s
}

// The advice in a refusal's text works: the answer is then one server's answer to the intended statement.
func TestAdviceIsRight(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := adviseStand(t, engine)
		for i := range allAdvice {
			a := &allAdvice[i]
			if a.on == "" && (scale.Long() || engine == servers.MySQL) || a.on == string(engine) { // in the short run, one engine tests the advice that is the same for both
				t.Run(a.code+" "+strings.ReplaceAll(fmt.Sprintf("%.60s", a.refused), "/", "|"), func(t *testing.T) { s.follow(t, a) })
			}
		}
	})
}

// unadvised are codes without a line here, and why.
var unadvised = map[string]string{
	"1301": "transactions: single is another proxy's",
}

// Each code that docs/troubleshoot/errors.md has is followed by at least one statement.
func TestEachRefusalIsFollowed(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshoot/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile("(?m)^\\| (1\\d\\d\\d) \\| `").FindAllStringSubmatch(string(text), -1)
	if len(codes) < 28 {
		t.Errorf("%d codes were found", len(codes))
	}
	for _, code := range codes {
		followed := slices.ContainsFunc(allAdvice, func(a advice) bool { return a.code == code[1] || code[1] == "1002" && a.code == "#1064" })
		if followed == (unadvised[code[1]] != "") {
			t.Errorf("locus-%s: followed: %v, said not to be: %q", code[1], followed, unadvised[code[1]])
		}
	}
}

func (s *stand) follow(t *testing.T, a *advice) {
	fill := s.filler(t)
	for _, admin := range s.admins {
		admin.must(t, fill(a.everywhere)...)
	}
	s.noticed(t, a.everywhere)
	who := a.user
	if who == "" {
		who = "app"
	}
	proxy, plain := s.proxied(t, who), s.direct(t, who)
	fill = s.filler(t, "{session}", fmt.Sprint(proxy.GetConnectionID()))
	defer s.tidy(t, a, proxy, plain, fill)
	for _, text := range fill(a.before) {
		s.alike(t, text, proxy.say(text), plain.say(text))
	}
	proxy.must(t, fill(a.set)...)
	asked := fill([]string{a.refused, a.says})
	s.isRefused(t, a, proxy, asked[0], asked[1])
	for i, admin := range s.admins[:shards] {
		admin.must(t, fill(a.shards)...)
		admin.must(t, fill(a.only[i])...)
	}
	if a.declare != nil {
		changed := s.declared()
		a.declare(changed, s.Schema)
		s.apply(t, changed)
	}
	s.noticed(t, slices.Concat(a.shards, slices.Concat(slices.Collect(maps.Values(a.only))...)))
	proxy.must(t, fill(a.alone)...)
	for _, text := range fill(a.instead) {
		s.alike(t, text, proxy.say(text), plain.say(text))
	}
}

// filler writes values into texts.
func (s *stand) filler(t *testing.T, more ...string) func([]string) []string {
	t.Helper()
	values := append(more, "{schema}", s.Schema)
	if r := s.app.say("SELECT order_id, order_no FROM test_order WHERE buyer_uid = 7 ORDER BY order_id LIMIT 1"); r.err == nil && len(r.results[0].rows) == 1 {
		id, number, _ := strings.Cut(r.results[0].rows[0], "|")
		values = append(values, "{id}", id, "{no}", number)
	}
	with := strings.NewReplacer(values...)
	return func(texts []string) []string {
		out := make([]string, len(texts))
		for i, text := range texts {
			out[i] = with.Replace(text)
		}
		return out
	}
}

func (s *stand) isRefused(t *testing.T, a *advice, proxy *session, text, says string) {
	t.Helper()
	var args []any
	if a.prepared {
		args = []any{nothing{}}
	}
	got := proxy.say(text, args...)
	like := attack{refused: []string{a.code}}
	if like.refusal(got) != a.code {
		t.Fatalf("%.200q: %.400s, want refusal %s", text, got, a.code)
	}
	if !strings.Contains(got.err.Error(), says) {
		t.Errorf("%.200q is refused with %q, which does not say %q", text, got.err, says)
	}
}

// alike holds an answer to the plain server's, who must have one.
func (s *stand) alike(t *testing.T, text string, got, want answer) {
	t.Helper()
	if d := differ(got, want); d != "" || got.err != nil {
		t.Errorf("%.300q: %s differ\n  proxy: %.600s\n  plain: %.600s", text, d, got, want)
	}
}

func (s *stand) tidy(t *testing.T, a *advice, proxy, plain *session, fill func([]string) []string) {
	for _, text := range append([]string{"ROLLBACK", "UNLOCK TABLES"}, fill(a.after)...) {
		proxy.say(text)
		plain.say(text)
	}
	_, _ = proxy.Close(), plain.Close()
	for _, text := range fill(a.clear) {
		for _, admin := range s.admins {
			admin.say(text)
		}
	}
	if a.declare != nil {
		s.apply(t, s.changed)
	}
	s.noticed(t, a.clear)
	if d := s.unlikeRows(t); d != "" {
		t.Error(d)
	}
}

// declared returns a copy of the stand's declaration that may be changed.
func (s *stand) declared() *cluster.Cluster {
	changed := *s.changed
	changed.Tables, changed.Users = maps.Clone(changed.Tables), maps.Clone(changed.Users)
	return &changed
}

// apply declares a cluster, and waits until the proxy uses it.
func (s *stand) apply(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	s.Apply(c)
	s.noticed(t, []string{"apply"})
}
