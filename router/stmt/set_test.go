package stmt

import "testing"

// The parser is shown no bytes that aren't UTF-8, and in another character set
// those that are mean other letters: a server computes such a value.
func TestForeignTextOfAUserVariableIsAnExpression(t *testing.T) {
	for text, want := range map[string]string{
		"SET @a = '\xe9'":              "'\xe9'",
		"SET @a = 'é', @b = 1":         "'é'",
		"SET @a = 'plain'":             "",
		"SET sql_mode = 'ANSI_QUOTES'": "",
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		s, err := Parse(&l)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := s.Variables[0].Expression; got != want {
			t.Errorf("%q: expression %q, want %q", text, got, want)
		}
	}
}

func TestEveryCharacterSetCanBeNamed(t *testing.T) {
	for _, name := range []string{"koi8r", "latin2", "cp1251", "tis620", "ujis", "utf32", "gb18030"} {
		var l Lexed
		l.Lex([]byte("SET NAMES "+name), 0)
		s, err := Parse(&l)
		if err != nil || s.Kind != Set || string(s.Variables[0].Value.Text) != name {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
