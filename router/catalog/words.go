package catalog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"locus/config/strict"
	"locus/router"
)

// commentPrefix is the prefix of a table comment that declares the table.
const commentPrefix = "locus:"

// CommentWords returns the words by which a table's comment declares the table. They follow "locus:" at the beginning of the comment and end at a
// semicolon. Text for human readers may follow.
func CommentWords(comment string) (words string, declares bool) {
	comment = strings.TrimSpace(comment)
	if len(comment) < len(commentPrefix) || !strings.EqualFold(comment[:len(commentPrefix)], commentPrefix) {
		return "", false
	}
	return strings.TrimSpace(Split(comment[len(commentPrefix):], Semicolon)[0]), true
}

// defaultLayout is the layout of IDs if none is set.
const defaultLayout = "int64"

// stampedWord is the prefix of the word for a column that a generator stamps.
const stampedWord = "stamped."

// vocabulary contains the words that have a value, in the order in which they are written.
var vocabulary = []string{"shard", "owner", "parent", "parent_layout", "parent_overflow", "id", "layout", "overflow", "order_no", "gene_text", "gene_text_at", "gene", "version", "lookup"}

// Split splits a text at each separator that is not within backquotes. It returns at least one part.
func Split(text string, separates func(rune) bool) (parts []string) {
	begin, quoted := 0, false
	for at, c := range text {
		switch {
		case c == '`':
			quoted = !quoted
		case !quoted && separates(c):
			parts = append(parts, text[begin:at])
			begin = at + utf8.RuneLen(c)
		}
	}
	return append(parts, text[begin:])
}

// Semicolon reports whether a character is a semicolon.
func Semicolon(c rune) bool { return c == ';' }

// assignment parses name=value. A name after "stamped." or after the equals sign may be in backquotes, within which a backquote is doubled.
func assignment(word string) (name, value string, hasValue bool, err error) {
	if column, stamps := strings.CutPrefix(word, stampedWord+"`"); stamps {
		column, rest, closed := unquote(column)
		if !closed || !strings.HasPrefix(rest, "=") {
			return "", "", false, fmt.Errorf("%q: write %s`COLUMN`=GENERATOR", word, stampedWord)
		}
		name, value, hasValue = stampedWord+column, rest[1:], true
	} else {
		name, value, hasValue = strings.Cut(word, "=")
	}
	if quoted, is := strings.CutPrefix(value, "`"); is {
		var rest string
		var closed bool
		if value, rest, closed = unquote(quoted); !closed || rest != "" {
			return "", "", false, fmt.Errorf("%q: write a name in backquotes as %s=`NAME`", word, name)
		}
	}
	return name, value, hasValue, nil
}

// wordOf returns a name as a word of a declaration, in backquotes if it needs them.
func wordOf(name string) string {
	if strings.ContainsAny(name, "`;=") || strings.ContainsFunc(name, unicode.IsSpace) {
		return Backquote(name)
	}
	return name
}

// ParseWords parses a declaration as comments, commands and procedures contain it. Examples are "global", "shard=s1" and "owner=buyer_uid
// id=order_id order_no=order_no". It returns the error of [Declaration.Validate] too.
func ParseWords(text string) (Declaration, error) {
	given := map[string]string{}
	stamped := map[string]string{}
	for _, word := range Split(text, unicode.IsSpace) {
		if word == "" {
			continue
		}
		name, value, hasValue, err := assignment(word)
		if err != nil {
			return Declaration{}, err
		}
		column, stamps := strings.CutPrefix(name, stampedWord)
		switch _, twice := given[name]; {
		case twice:
			return Declaration{}, fmt.Errorf("%s is given twice", name)
		case (name == "global" || name == "hidden") && !hasValue:
		case !stamps && !slices.Contains(vocabulary, name) || stamps && column == "":
			known := append([]string{"global", "hidden"}, vocabulary...)
			return Declaration{}, fmt.Errorf("%q: the words are global, hidden, stamped.COLUMN=, and %s=%s", word, strings.Join(vocabulary, "=, "), strict.DidYouMean(name, known))
		case value == "":
			return Declaration{}, fmt.Errorf("%s needs a value, as in %s=name", name, name)
		}
		if given[name] = value; stamps {
			stamped[column] = value
		}
	}
	return declarationOf(given, stamped)
}

func declarationOf(given, stamped map[string]string) (Declaration, error) {
	d := Declaration{
		Kind: Sharded, Shard: router.ShardName(given["shard"]), Owner: given["owner"],
		OrderNumber: given["order_no"], Gene: given["gene"], Version: given["version"],
	}
	_, global := given["global"]
	switch {
	case len(given) == 0:
		return d, fmt.Errorf("the table has no words: write global, or owner= and id=, or parent=")
	case global:
		d.Kind = Global
	case d.Shard != "":
		d.Kind = Single
	}
	if given["lookup"] != "" {
		var err error
		if d.Lookup, err = parseLookup(given["lookup"]); err != nil {
			return d, err
		}
		d.Owner = orElse(d.Owner, LookupHash)
	}
	_, hidden := given["hidden"]
	layout := orElse(given["layout"], defaultLayout)
	if given["id"] != "" {
		d.ID = &IDColumn{Column: given["id"], Layout: layout, Overflow: given["overflow"], Hidden: hidden}
	}
	if given["parent"] != "" {
		d.Parent = &IDColumn{Column: given["parent"], Layout: orElse(given["parent_layout"], layout), Overflow: given["parent_overflow"]}
		if d.ID == nil && d.Parent.Overflow == "" { // overflow can refer to no other column
			d.Parent.Overflow = given["overflow"]
		}
	}
	if given["gene_text"] != "" {
		at, err := strconv.Atoi(orElse(given["gene_text_at"], "1"))
		if err != nil {
			return d, fmt.Errorf("gene_text_at=%s: give the position of the gene's first digit, from 1", given["gene_text_at"])
		}
		d.GeneText = &GeneText{given["gene_text"], at}
	}
	for word, needs := range map[string]bool{
		"gene_text_at": d.GeneText != nil,
		"layout":       d.ID != nil || d.Parent != nil, "overflow": d.ID != nil || d.Parent != nil, "parent_overflow": d.Parent != nil, "hidden": d.ID != nil, "parent_layout": d.Parent != nil,
	} {
		if _, said := given[word]; said && !needs {
			return d, fmt.Errorf("%s describes a column that isn't named: write id= or parent= too", word)
		}
	}
	if len(stamped) > 0 {
		d.Stamped = stamped
	}
	return d, d.Validate()
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// Words returns the declaration in the form that ParseWords parses. It omits the settings of segments.
func (d Declaration) Words() string {
	if d.Kind == Global || d.Kind == Outside {
		return string(d.Kind)
	}
	var words []string
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+wordOf(value))
		}
	}
	add("shard", string(d.Shard))
	if d.Lookup != nil {
		add("lookup", d.Lookup.String())
	} else {
		add("owner", d.Owner)
	}
	layout := defaultLayout
	if d.ID != nil {
		layout = d.ID.Layout
	}
	if d.Parent != nil {
		add("parent", d.Parent.Column)
		if d.Parent.Layout != layout {
			add("parent_layout", d.Parent.Layout)
		}
		add("parent_overflow", d.Parent.Overflow)
	}
	if d.ID != nil {
		add("id", d.ID.Column)
		if layout != defaultLayout {
			add("layout", layout)
		}
		add("overflow", d.ID.Overflow)
		if d.ID.Hidden {
			words = append(words, "hidden")
		}
	}
	add("order_no", d.OrderNumber)
	if d.GeneText != nil {
		add("gene_text", d.GeneText.Column)
		add("gene_text_at", strconv.Itoa(d.GeneText.At))
	}
	add("gene", d.Gene)
	add("version", d.Version)
	for _, column := range slices.Sorted(maps.Keys(d.Stamped)) {
		add(stampedWord+wordOf(column), d.Stamped[column])
	}
	return strings.Join(words, " ")
}

// Agrees reports whether the comment of a table with declaration d may contain the declaration said. It may omit settings of d: an omitted
// word doesn't remove a setting.
func (d Declaration) Agrees(said Declaration) bool {
	column := func(declared, said *IDColumn) bool {
		if said == nil {
			return true
		}
		if declared == nil {
			return false
		}
		declared = &IDColumn{Column: declared.Column, Layout: declared.Layout, Overflow: declared.Overflow, Hidden: declared.Hidden}
		return reflect.DeepEqual(declared, said)
	}
	if said.GeneText != nil && !reflect.DeepEqual(d.GeneText, said.GeneText) {
		return false
	}
	if said.Lookup != nil && (d.Lookup == nil || d.Lookup.String() != said.Lookup.String()) {
		return false
	}
	less := func(declared, said string) bool { return said == "" || said == declared }
	for name, generator := range said.Stamped {
		if d.Stamped[name] != generator {
			return false
		}
	}
	return d.Kind == said.Kind && less(string(d.Shard), string(said.Shard)) && less(d.Owner, said.Owner) && column(d.ID, said.ID) &&
		column(d.Parent, said.Parent) && less(d.OrderNumber, said.OrderNumber) && less(d.Gene, said.Gene) && less(d.Version, said.Version)
}
