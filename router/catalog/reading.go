package catalog

import (
	"slices"
	"strings"
	"sync"

	"locus/router/stmt"
)

// findings are the facts that were read from the text of one routine, trigger, event or view.
type findings struct {
	*content
	// far is computed once, by [ListedTable.far].
	far struct {
		once sync.Once
		view *farView
	}
}

// content contains the facts that depend on a text alone. It is immutable, so objects with equal texts share it.
type content struct {
	words     map[string]bool // see WordsOf
	lexed     bool            // the text could be split into tokens
	variables []string        // see stmt.VariablesIn
	// keepsAlone: it leaves state on the connection, even if the routines that it calls leave none. keepsNothing: it leaves no state, even if
	// they leave some.
	keepsAlone, keepsNothing bool
}

// contents caches the contents of texts. Most shards have the same routines and views, in particular in the server's own schemas.
type contents struct {
	mu    sync.Mutex // never held while a text is read
	known map[body]*content
	size  int // total length of the texts in bytes
	most  int // limit of size; a text beyond it empties the cache, and listings keep the contents that they use
}

// body is a text and the sql_mode in which it is read.
type body struct {
	text string
	mode stmt.Mode
}

var texts = contents{known: map[body]*content{}, most: 8 << 20}

// of returns the content of a text. It reads the text if it is not in the cache.
func (c *contents) of(b body) *content {
	c.mu.Lock()
	found := c.known[b]
	c.mu.Unlock()
	if found != nil {
		return found
	}
	found = readContent(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.known[b]; other != nil { // another goroutine has read it at the same time
		return other
	}
	if c.size += len(b.text); c.size > c.most {
		clear(c.known)
		c.size = len(b.text)
	}
	c.known[b] = found
	return found
}

// search is the result of a search in one text for the names of the tables and routines in its listing.
type search struct {
	done bool
	// names are the names, in lower case, that the text mentions. They may include names of objects that no longer exist.
	names []TableName
}

// add adds a name if the text mentions it. own is the schema of the text's object.
func (s *search) add(own string, words map[string]bool, name TableName) {
	if words[name.Name] && (name.Schema == own || words[name.Schema]) && !slices.Contains(s.names, name) {
		s.names = append(slices.Clip(s.names), name)
	}
}

func readText(text string, mode stmt.Mode) *findings {
	return &findings{content: texts.of(body{text, mode})}
}

func readContent(b body) *content {
	always := func(string) bool { return true }
	never := func(string) bool { return false }
	words, lexed := wordsOf(b.text, b.mode)
	return &content{
		words: words, lexed: lexed, variables: stmt.VariablesIn(b.text),
		keepsAlone: stmt.Keeps(b.text, b.mode, always), keepsNothing: !stmt.Keeps(b.text, b.mode, never),
	}
}

// reading returns the findings of the program's body.
func (p *Program) reading() *findings {
	if p.read != nil {
		return p.read
	}
	return readText(p.Body, p.Mode)
}

// reading returns the findings of a view's query.
func (t *ListedTable) reading() *findings {
	if t.read != nil {
		return t.read
	}
	return readText(t.Query, 0)
}

// keeps returns the result of stmt.Keeps for the program's body.
func (p *Program) keeps(stored func(name string) bool) bool {
	t := p.reading()
	return t.keepsAlone || !t.keepsNothing && stmt.Keeps(p.Body, p.Mode, stored)
}

// mentionsAny reports whether a view's query may name one of these tables or views. Their names are in lower case. A server writes the schema
// before each name in a view's query.
func (t *ListedTable) mentionsAny(names []TableName) bool {
	if t.Hidden != "" {
		return true
	}
	if r := t.reading(); r.lexed {
		return slices.ContainsFunc(names, func(n TableName) bool { return r.words[n.Name] && r.words[n.Schema] })
	}
	low := strings.ToLower(t.Query)
	return slices.ContainsFunc(names, func(n TableName) bool { return strings.Contains(low, strings.ReplaceAll(n.Name, "`", "``")) })
}

// far returns the facts about a view that reaches rows of several shards.
func (t *ListedTable) far() *farView {
	r := t.reading()
	r.far.once.Do(func() { r.far.view = newFarView(t) })
	return r.far.view
}

// reuse copies the findings of the texts that an earlier listing contains too.
func (l *Listing) reuse(before *Listing) {
	programs := make(map[TableName]*Program, len(before.Programs))
	for i := range before.Programs {
		programs[before.Programs[i].TableName] = &before.Programs[i]
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		if was := programs[p.TableName]; was != nil && was.Body == p.Body && was.Mode == p.Mode {
			p.read = was.read
		}
	}
	views := map[TableName]*ListedTable{}
	for i := range before.Tables {
		if t := &before.Tables[i]; !t.Base() {
			views[t.TableName] = t
		}
	}
	for i := range l.Tables {
		t := &l.Tables[i]
		if was := views[t.TableName]; was != nil && !t.Base() && was.Query == t.Query && slices.Equal(was.Columns, t.Columns) {
			t.read = was.read
		}
	}
}

// readTexts reads the texts that have not been read yet. It searches them for the names for which they have not been searched yet.
func (l *Listing) readTexts() {
	for i := range l.Programs {
		if p := &l.Programs[i]; p.read == nil {
			p.read = readText(p.Body, p.Mode)
		}
	}
	for i := range l.Tables {
		t := &l.Tables[i]
		if !t.Base() && t.read == nil {
			t.read = readText(t.Query, 0)
		}
		if t.calls == unread {
			t.calls = computes
			if slices.ContainsFunc(t.Expressions, calls) {
				t.calls = callsMore
			}
		}
	}
	added := l.takeAdded()
	l.searchTexts(func(own string, words map[string]bool, s *search) {
		if s.done {
			for _, name := range added {
				s.add(own, words, name)
			}
		}
	})
	l.searchNew()
}

// takeAdded returns the names, in lower case, of tables and routines that were added since the last call. It marks them as returned.
func (l *Listing) takeAdded() (added []TableName) {
	for i := range l.Tables {
		if t := &l.Tables[i]; !t.sought {
			t.sought = true
			added = append(added, t.lower())
		}
	}
	for i := range l.Programs {
		if p := &l.Programs[i]; !p.sought && p.routine() {
			p.sought = true
			added = append(added, p.lower())
		}
	}
	return added
}

// searchNew searches the texts that have not been searched at all for all names.
func (l *Listing) searchNew() {
	var byName map[string][]TableName
	l.searchTexts(func(own string, words map[string]bool, s *search) {
		if s.done {
			return
		}
		if byName == nil {
			byName = l.byName()
		}
		for word := range words {
			for _, name := range byName[word] {
				s.add(own, words, name)
			}
		}
		s.done = true
	})
}

// byName returns the names of all tables and routines, in lower case, by their last parts.
func (l *Listing) byName() map[string][]TableName {
	all := make(map[string][]TableName, len(l.Tables))
	add := func(low TableName) { all[low.Name] = append(all[low.Name], low) }
	for i := range l.Tables {
		add(l.Tables[i].lower())
	}
	for i := range l.Programs {
		if p := &l.Programs[i]; p.routine() {
			add(p.lower())
		}
	}
	return all
}

// searchTexts calls f for each text with the schema of its object in lower case.
func (l *Listing) searchTexts(f func(own string, words map[string]bool, s *search)) {
	for i := range l.Programs {
		p := &l.Programs[i]
		f(strings.ToLower(p.Schema), p.read.words, &p.named)
	}
	for i := range l.Tables {
		if t := &l.Tables[i]; !t.Base() {
			f(strings.ToLower(t.Schema), t.read.words, &t.named)
		}
	}
}
