package stmt

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
)

// parserTokens returns the offsets at which the parser's own lexer finds words, names, literals and variables.
// It uses reflection, because the type of the tokens is unexported.
func parserTokens(text string, mode Mode) (starts []int, ok bool) {
	scanner := parser.NewScanner(text)
	scanner.SetSQLMode(parserMode(mode))
	scanner.EnableWindowFunc(true)
	lex := reflect.ValueOf(scanner).MethodByName("Lex")
	value := reflect.New(lex.Type().In(0).Elem())
	for {
		if lex.Call([]reflect.Value{value})[0].Int() == 0 {
			_, errs := scanner.Errors()
			return starts, len(errs) == 0
		}
		at := int(value.Elem().FieldByName("offset").Int())
		if at >= len(text) || len(starts) > 0 && at < starts[len(starts)-1] {
			return nil, false
		}
		qualifies := at > 0 && (inName(text[at-1]) || class[text[at-1]] == quoteByte)
		if c := text[at]; class[c] != otherByte || c == '@' || c == '?' || c == '.' && !qualifies && at+1 < len(text) && class[text[at+1]] == digitByte {
			starts = append(starts, at)
		}
	}
}

// lexedTokens returns the offsets of the tokens of this package's lexer, adjusted to the parser's: the parser
// has one token for @ and its name, or for @@ with a scope, and two tokens for an introducer and its string.
// Text that is hidden from the parser is left out.
func lexedTokens(l *Lexed, readable string) (starts []int) {
	for _, x := range l.lexemes(1 << 20) {
		switch {
		case x.kind == punctuation, readable[x.start] == ' ', l.belongsToVariable(x.start):
			continue
		}
		starts = append(starts, x.start)
		switch end := wordEnd(l.Text, x.start); {
		case x.kind == literalLexeme && l.Text[x.start] == '_':
			starts = append(starts, skipBlanks(l.Text, end))
		case x.kind == literalLexeme && l.Text[x.start]|0x20 == 'n':
			starts = append(starts, end)
		}
	}
	return starts
}

// belongsToVariable reports whether the word at start is a part of a variable. The parser has one token for
// each of @'a', @a.b and @@session.a.
func (l *Lexed) belongsToVariable(start int) bool {
	at := start
	for at > 0 && (inName(l.Text[at-1]) || l.Text[at-1] == '.') {
		at--
	}
	return at > 0 && l.Text[at-1] == '@'
}

var (
	soupAtoms = strings.Split("1|2|0|10|1.5|.5|1.|1e5|1E5|1e+2|1e-2|1.e1|.5e1|0x41|0xAb|0x|x'41'|X'41'|x''|0b01|b'1'|B'01'|b''|00|0e0|1.5.5|1..2|18446744073709551616|"+
		"''|'a'|'a''b'|'a\\'b'|'\\'|\"a\"|\"a\"\"b\"|\"a'b\"|'-- x'|'/*'|'#'|N'a'|n'a'|N 'a'|_utf8mb4'a'|_latin1 'a'|_binary x'41'|_koi8r'a'|_gbk'a'|_x'a'|_utf8mb4|"+
		"z1|z2|`z1`|`z``q`|zt.z1|zt.`z1`|`zt`.`z1`|zt . z1|zt .z1|zt. z1|.zt.z1|z$|$z|_z|zä|中|1a|zt.1a|zt.1e5|zt.0x41|2z|n|x|b|N|X|B|`1`|`--`|`/*`|"+
		"@z|@`z`|@'z'|@\"z\"|@z.z|@z$|@_|@1|@@sql_mode|@@session.sql_mode|@@global.sql_mode|@@`sql_mode`|@@session . sql_mode|?|NULL|TRUE|DATE'2020-01-01'|TIMESTAMP '2020-01-01'|{d '2020-01-01'}|"+
		"INTERVAL 1 DAY|CURRENT_USER|CURRENT_TIMESTAMP|NOW()|COUNT(*)|COUNT (*)|CAST(1 AS CHAR)|(1)|(1,2)|-1|- 1|--1|+1|~1|!1|NOT 1|BINARY 'a'|z1->'$.a'|z1->>'$.a'|@z:=1|@z := 1", "|")
	soupOperators = strings.Fields("+ - * / % || | & && ^ = < > <= >= <> != <=> << >> := -- --- - -+ -> ->> . .. :: AND OR XOR DIV MOD LIKE REGEXP IN IS COLLATE AS") // some of these are not operators
	soupBetween   = []string{"", "", " ", " ", " ", "\t", "\n", "\v", "\f", "\r\n", "/**/", "/* x */", "/*'*/", "/* -- */", "/*\n*/", "-- x\n", "--\n", "#x\n", "#'\n", "/*+ x */", "/*+ ' ' */", "/*-*/", "/*T! x*/", "/*T![a] x*/", "/*M x*/", "/***/", "/*/*/", "--", "-", "\u00a0", "\u3000"}
	soupModes     = []Mode{0, 0, AnsiQuotes, NoBackslash, PipesConcat, IgnoreSpace, HighNot, AnsiQuotes | NoBackslash, AnsiQuotes | PipesConcat | IgnoreSpace | HighNot, NotUTF8, NotUTF8 | RawNames}
)

func parserSoup(r *rand.Rand) string {
	var b strings.Builder
	some := func(from []string) { b.WriteString(from[r.IntN(len(from))]) }
	expression := func() {
		some(soupAtoms)
		for r.IntN(2) == 0 {
			some(soupBetween)
			some(soupOperators)
			some(soupBetween)
			some(soupAtoms)
		}
	}
	heads := []string{"SELECT", "SELECT z1,", "UPDATE zt SET z1 =", "DELETE FROM zt WHERE", "INSERT INTO zt VALUES (", "SELECT * FROM zt WHERE z1 =", "SELECT * FROM zt WHERE z1 IN (", "SET @z =", "DO"}
	head := heads[r.IntN(len(heads))]
	b.WriteString(head)
	some(soupBetween)
	expression()
	for r.IntN(3) == 0 {
		b.WriteString(",")
		some(soupBetween)
		expression()
	}
	if strings.HasSuffix(head, "(") {
		b.WriteString(")")
	}
	if r.IntN(3) == 0 {
		some(soupBetween)
		b.WriteString([]string{" FROM zt", " WHERE z2 = 2", " LIMIT 1", " OR 1 = 1", ", z2 FROM zt"}[r.IntN(5)])
	}
	some(soupBetween)
	return b.String()
}

// apartPoint is a point with blanks next to it. With IGNORE_SPACE the parser reads a number after it as part of
// the name before. No server accepts that.
var apartPoint = regexp.MustCompile(`\s\.|\.\s`)

// The parser's lexer and this package's lexer find the same words, names and literals. A text that one of them reads as a
// comment, or as one word, is not read by the other.
func TestTheParserSeesTheSameTokens(t *testing.T) {
	soups := 30_000
	r := rand.New(rand.NewPCG(7, 7))
	read, different := 0, map[string]bool{}
	for range soups {
		text, mode := parserSoup(r), soupModes[r.IntN(len(soupModes))]
		l := lexed(text, mode)
		if l.Err != nil {
			continue
		}
		readable := l.readable()
		if _, err := tree(l, readable); err != nil {
			continue
		}
		read++
		if mode&IgnoreSpace != 0 && apartPoint.MatchString(readable) {
			continue
		}
		theirs, ok := parserTokens(readable, mode)
		if ours := lexedTokens(l, readable); (!ok || !slices.Equal(ours, theirs)) && len(different) < 20 {
			different[fmt.Sprintf("mode %d: %q\n  read as %q\n  here %v\n  there %v", mode, text, readable, ours, theirs)] = true
		}
	}
	for text := range different {
		t.Error(text)
	}
	t.Logf("%d of %d soups are read", read, soups)
	if read*8 < soups {
		t.Errorf("%d of %d soups are read: too few", read, soups)
	}
}
