package differential

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"locus/internal/test/servers"
)

// dress writes tokens as text, with comments between them, for the settings (outfit) of the session. It knows
// nothing about how the tokens were generated.
//
// The text for a token depends only on the token and on how many of its kind precede it. So both sides get the
// same text, and so does the rest of a statement that is being shrunk.
type dress struct {
	*outfit
	letters *alphabet
	engine  servers.Engine
	seed    uint64
	// comments come before so many of a thousand tokens.
	comments int
	// stubborn: sometimes writes a token as this session would not.
	stubborn bool
	accents  bool // names have letters beyond ASCII
	bare     map[uint64]bool
}

// wardrobe chooses the dress of each statement.
type wardrobe struct {
	r       *rand.Rand
	letters *alphabet
	left    int
}

// perOutfit is the number of statements between changes of the outfit.
const perOutfit = 25

func newWardrobe(p *pair, seed uint64) *wardrobe {
	return &wardrobe{r: rand.New(rand.NewPCG(seed, 1)), letters: &alphabet{p: p, seen: map[string]string{}}}
}

// dress sets the statement's dress, and changes the settings of both sessions from time to time.
func (w *wardrobe) dress(s *statement) {
	p := w.letters.p
	if w.left == 0 {
		w.left = perOutfit
		p.wear(newOutfit(w.r, p.engine))
	}
	w.left--
	often := []int{0, 30, 30, 100, 100, 500}
	s.dress = &dress{
		outfit: p.wears, letters: w.letters, engine: p.engine, seed: w.r.Uint64(),
		comments: often[w.r.IntN(len(often))], stubborn: w.r.IntN(6) == 0, accents: w.r.IntN(3) == 0, bare: map[uint64]bool{},
	}
	if s.dress.outfit == nil {
		s.dress.outfit = &outfit{charset: "utf8mb4"}
	}
}

// speller writes one statement as text.
type speller struct {
	*dress
	b      strings.Builder
	seen   map[string]uint64
	clause string // the last keyword that begins one
	reads  bool
	within int      // this many of the following tokens are in an executable comment
	keys   []uint64 // keys of the tokens that were changed
}

func (d *dress) spell(text string) string { return d.spelled(text).b.String() }

func (d *dress) spelled(text string) *speller {
	s := &speller{dress: d, seen: map[string]uint64{}}
	tokens, tail := tokensOf(text)
	s.reads = len(tokens) > 0 && strings.Contains("SELECT WITH (", strings.ToUpper(tokens[0].text))
	for i := range tokens {
		s.token(tokens, i)
	}
	if s.within > 0 { // the last piece was for the plain server only
		s.within = 1
		s.closes()
	}
	if tail != "" {
		s.b.WriteString(" ")
	}
	if r, ok := s.rand("end of text"); ok && r.IntN(1000) < 3*d.comments {
		s.b.WriteString(s.ending(r))
	}
	return s
}

// rand returns the random source for a token, unless the token must not be changed.
func (s *speller) rand(text string) (*rand.Rand, bool) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	s.seen[text]++
	key := h.Sum64() + s.seen[text]
	if s.bare[key] {
		return rand.New(rand.NewPCG(0, 0)), false
	}
	s.keys = append(s.keys, key)
	return rand.New(rand.NewPCG(s.seed, key)), true
}

var clauses = map[string]bool{"SELECT": true, "FROM": true, "WHERE": true, "ON": true, "HAVING": true, "SET": true, "GROUP": true, "ORDER": true, "LIMIT": true, "OFFSET": true, "VALUES": true, "UNION": true, "UPDATE": true, "INSERT": true}

func (s *speller) token(tokens []token, i int) {
	t := tokens[i]
	if t.aside {
		s.b.WriteString(t.gap + t.text)
		return
	}
	r, free := s.rand(t.text)
	if upper := strings.ToUpper(t.text); clauses[upper] {
		s.clause = upper
	}
	if !free {
		s.b.WriteString(t.gap + s.plainly(t))
		s.closes()
		return
	}
	s.gap(r, tokens, i)
	if s.within == 0 && r.IntN(4000) < s.comments {
		s.opens(r, tokens, i)
	}
	s.b.WriteString(s.word(r, tokens, i))
	s.closes()
	s.more(r, tokens, i)
}

// calls reports whether token i is a parenthesis that must directly follow the name of a function.
func calls(tokens []token, i int) bool {
	return i > 0 && i < len(tokens) && tokens[i].text == "(" && tokens[i].gap == "" && tokens[i-1].kind == bareWord
}

// opens begins an executable comment, which every server runs, around some tokens.
func (s *speller) opens(r *rand.Rand, tokens []token, i int) {
	if calls(tokens, i) {
		return
	}
	n := 1 + r.IntN(4)
	for n < len(tokens)-i && calls(tokens, i+n) {
		n++
	}
	n = min(n, len(tokens)-i)
	if s.engine == servers.MariaDB && strings.EqualFold(tokens[0].text, "WITH") && !even(tokens[i:i+n]) {
		return // the server parses the text of a common table expression that is used twice again from the parenthesis on, and then doesn't recognise comments
	}
	s.within = n
	versions := []string{"", "", "", "00000", "32302", "40101", "50000", "50699"}
	if s.engine == servers.MySQL {
		versions = append(versions, "50700", "80000", "90000", "090000", "90700")
	} else {
		versions = append(versions, "100100", "101100")
	}
	version := versions[r.IntN(len(versions))]
	begin := "/*!"
	if s.engine == servers.MariaDB && r.IntN(3) == 0 {
		begin = "/*M!"
	}
	s.b.WriteString(" " + begin + version + " ")
}

// even reports whether the parentheses among the tokens are balanced.
func even(tokens []token) bool {
	depth := 0
	for _, t := range tokens {
		switch t.text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

func (s *speller) closes() {
	if s.within == 0 {
		return
	}
	if s.within--; s.within == 0 {
		s.b.WriteString(" */ ")
	}
}

// gap writes the blanks and comments before a token.
func (s *speller) gap(r *rand.Rand, tokens []token, i int) {
	t := tokens[i]
	if calls(tokens, i) {
		apart := s.has("IGNORE_SPACE") && r.IntN(3) == 0 || s.stubborn && r.IntN(60) == 0
		if apart { // only blanks: servers don't recognise a function if a comment precedes its parenthesis, whatever the mode
			s.b.WriteString(blanks[r.IntN(len(blanks))])
		}
		return
	}
	often := s.comments
	if i == 0 {
		often *= 3
	}
	if r.IntN(1000) >= often {
		if t.gap == " " && r.IntN(20) == 0 {
			t.gap = blanks[r.IntN(len(blanks))]
		}
		s.b.WriteString(t.gap)
		return
	}
	hinted := i > 0 && hintable[strings.ToUpper(tokens[i-1].text)]
	for again := true; again; again = r.IntN(5) == 0 {
		s.b.WriteString(s.comment(r, hinted))
	}
	if t.gap != "" && r.IntN(2) == 0 {
		s.b.WriteString(t.gap)
	}
}

// word writes a token for the SQL mode and the character set of the session.
func (s *speller) word(r *rand.Rand, tokens []token, i int) string {
	t := tokens[i]
	switch {
	case s.stubborn && r.IntN(8) == 0:
		return s.inCharset(t.text)
	case t.kind == quotedText:
		return s.text(r, t.value)
	case t.kind == quotedName:
		return s.name(r, t.value)
	case t.kind == bareWord && t.text[0] != '@' && beside(tokens, i, ".") && r.IntN(10) == 0:
		return s.name(r, t.text)
	case t.text == "||" && s.has("PIPES_AS_CONCAT") && r.IntN(6) > 0:
		return "OR"
	}
	return t.text
}

// plainly writes a token with the fewest changes that the session requires.
func (s *speller) plainly(t token) string {
	zero := rand.New(rand.NewPCG(0, 0))
	switch {
	case t.kind == quotedText:
		return s.text(zero, t.value)
	case t.kind == quotedName:
		return s.name(zero, t.value)
	case t.text == "||" && s.has("PIPES_AS_CONCAT"):
		return "OR"
	}
	return t.text
}

func beside(tokens []token, i int, text string) bool {
	return i > 0 && tokens[i-1].text == text || i+1 < len(tokens) && tokens[i+1].text == text
}

func (s *speller) inCharset(text string) string {
	out, _ := s.letters.in(s.charset, text)
	return out
}

// text writes a string.
func (s *speller) text(r *rand.Rand, value string) string {
	written, whole := s.letters.in(s.charset, value)
	if !whole {
		return "_utf8mb4 X'" + hexed(value) + "'"
	}
	quote := "'"
	if !s.has("ANSI_QUOTES") && r.IntN(8) == 0 {
		quote = `"`
	}
	doubled := quote + quote
	if !s.has("NO_BACKSLASH_ESCAPES") {
		written = strings.ReplaceAll(written, `\`, `\\`)
		if r.IntN(2) == 0 {
			doubled = `\` + quote
		}
		if r.IntN(2) == 0 {
			written = strings.ReplaceAll(written, "\n", `\n`)
		}
	}
	return quote + strings.ReplaceAll(written, quote, doubled) + quote
}

// name writes a quoted name.
func (s *speller) name(r *rand.Rand, value string) string {
	if s.accents && s.utf8() && strings.Contains(value, " ") {
		value = strings.ReplaceAll(value, " ", "é李")
	}
	quote := "`"
	if s.has("ANSI_QUOTES") && r.IntN(2) == 0 {
		quote = `"`
	}
	return quote + strings.ReplaceAll(value, quote, quote+quote) + quote
}

// more writes, after a token, a text that would change the statement's meaning if it were in force.
func (s *speller) more(r *rand.Rand, tokens []token, i int) {
	t, condition := tokens[i], s.clause == "WHERE" || s.clause == "ON"
	switch {
	case s.comments == 0 || s.within > 0:
	case t.kind == numeral && condition && comparison(tokens, i) && r.IntN(4000) < s.comments:
		s.b.WriteString(" " + perhaps[r.IntN(len(perhaps))] + " ")
	case s.reads && strings.EqualFold(t.text, "WHERE") && (r.IntN(60) == 0 || s.has("HIGH_NOT_PRECEDENCE") && r.IntN(10) == 0):
		s.b.WriteString([]string{" NOT", " !"}[r.IntN(2)])
		if i+1 < len(tokens) && tokens[i+1].gap == "" {
			s.b.WriteString(" ")
		}
	}
}

func comparison(tokens []token, i int) bool {
	return i > 0 && strings.Contains("= <=> < > <= >= <> != ( ,", tokens[i-1].text) && (i+1 == len(tokens) || tokens[i+1].text != ".")
}

// args converts parameters to the session's character set, without the letters that it doesn't have. For
// invalid bytes servers return various errors.
func (d *dress) args(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if text, ok := a.(string); ok {
			a, _ = d.letters.in(d.charset, text)
		}
		out[i] = a
	}
	return out
}
