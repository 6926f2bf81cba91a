package catalog

import "locus/router/stmt"

// findings is what the text of a routine, trigger, event or view says. It depends on nothing but the text, so it is read once.
type findings struct {
	words     map[string]bool // see WordsOf
	variables []string        // see stmt.VariablesIn
	// keepsAlone: it leaves state on the connection even if that of routines it calls doesn't count. keepsNothing: it leaves
	// none even if that counts.
	keepsAlone, keepsNothing bool
}

func readText(body string, mode stmt.Mode) *findings {
	always := func(string) bool { return true }
	never := func(string) bool { return false }
	return &findings{
		words: WordsOf(body, mode), variables: stmt.VariablesIn(body),
		keepsAlone: stmt.Keeps(body, mode, always), keepsNothing: !stmt.Keeps(body, mode, never),
	}
}

// reading returns what the program's body says.
func (p *Program) reading() *findings {
	if p.read != nil {
		return p.read
	}
	return readText(p.Body, p.Mode)
}

// reading returns what a view's query says.
func (t *ListedTable) reading() *findings {
	if t.read != nil {
		return t.read
	}
	return readText(t.Query, 0)
}

// keeps is stmt.Keeps of the program's body.
func (p *Program) keeps(stored func(name string) bool) bool {
	t := p.reading()
	return t.keepsAlone || !t.keepsNothing && stmt.Keeps(p.Body, p.Mode, stored)
}

// readTexts reads the texts that were not read yet.
func (l *Listing) readTexts() {
	for i := range l.Programs {
		if p := &l.Programs[i]; p.read == nil {
			p.read = readText(p.Body, p.Mode)
		}
	}
	for i := range l.Tables {
		if t := &l.Tables[i]; !t.Base() && t.read == nil {
			t.read = readText(t.Query, 0)
		}
	}
}
