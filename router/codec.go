package router

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Schema is the newest version of the map's document format that this build reads.
const Schema = 6

const (
	// plainSchema is written for a map without moves, so that builds without moves can read it.
	plainSchema = 1
	// movesSchema is written if no move is an import or by sequence, likewise.
	movesSchema = 2
	// importSchema is written if a move is an import, and none is mirrored or by sequence.
	importSchema = 3
	// sequenceSchema is written if a move is by sequence, and none is mirrored.
	sequenceSchema = 4
	// mirrorSchema is written if a move is mirrored, and none makes tables global.
	mirrorSchema = 5
)

// Stamp records who made a version of the map, why and when.
type Stamp struct {
	By, Why string
	At      time.Time // nanosecond resolution, in UTC
}

// heading is the document without its entries.
type heading struct {
	Schema  int       `yaml:"schema"`
	Bits    uint8     `yaml:"gene_bits"`
	Version int64     `yaml:"version"`
	By      words     `yaml:"by"`
	Why     words     `yaml:"why"`
	At      time.Time `yaml:"at"`
	Moves   []move    `yaml:"moves,omitempty"`
}

// move is a Move in the document. Genes are written as gene.Set prints them.
type move struct {
	Job   words     `yaml:"job"`
	From  ShardName `yaml:"from"`
	To    ShardName `yaml:"to"`
	Genes string    `yaml:"genes"`
	Held  string    `yaml:"held,omitempty"`
	// Tables and HoldsTables belong to an import.
	Tables      []words `yaml:"tables,omitempty"`
	HoldsTables bool    `yaml:"holds_tables,omitempty"`
	// BySequence and Share belong to a move by sequence.
	BySequence bool            `yaml:"by_sequence,omitempty"`
	Share      orderid.Residue `yaml:"share,omitempty"`
	// Mirror belongs to a move whose reads are mirrored.
	Mirror int `yaml:"mirror,omitempty"`
}

type document struct {
	heading `yaml:",inline"`
	Entries string `yaml:"entries"`
}

// words is text from an operator. YAML's encoder would write text with line breaks as a block and lose some of them, so
// words uses quotes.
type words string

func (w words) MarshalYAML() (any, error) {
	if !strings.ContainsFunc(string(w), unicode.IsControl) || !utf8.ValidString(string(w)) {
		return string(w), nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(w)}, nil
}

// Encode writes the map as YAML, with the entries as lines such as "0x3fff s0".
func Encode(m *Map, s Stamp) []byte {
	h := heading{plainSchema, uint8(m.width), m.version, words(s.By), words(s.Why), s.At.UTC().Round(0), nil}
	for _, v := range m.moving.moves {
		h.Schema = max(h.Schema, movesSchema)
		if v.Tables != nil {
			h.Schema = max(h.Schema, importSchema)
		}
		if v.BySequence {
			h.Schema = max(h.Schema, sequenceSchema)
		}
		if v.Mirror > 0 {
			h.Schema = max(h.Schema, mirrorSchema)
		}
		if v.Genes.Empty() {
			h.Schema = Schema
		}
		h.Moves = append(h.Moves, move{
			words(v.Job), v.From, v.To, v.Genes.String(), v.Held.String(), converted[words](v.Tables), v.HoldsTables, v.BySequence, v.Share, v.Mirror,
		})
	}
	text, err := yaml.Marshal(h)
	if err != nil {
		panic(fmt.Sprintf("router: a heading of plain fields can't fail to marshal: %v", err))
	}
	text = append(text, "entries: |\n"...)
	for _, o := range m.owners {
		text = append(text, "  "...)
		text = append(text, o.bound.Format(m.width)...)
		text = append(text, ' ')
		text = append(text, m.shards[o.shard]...)
		text = append(text, '\n')
	}
	return text
}

// Decode reads a document of [Encode] or of an operator. Blank lines and lines beginning with # among the entries are
// ignored. Unknown fields, other schemas and everything that [New] refuses are errors.
func Decode(text []byte) (*Map, Stamp, error) {
	d, err := decodeDocument(text)
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("route map: %w", err)
	}
	w := gene.Width(d.Bits)
	entries, err := parseEntries(d.Entries)
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("route map version %d: %w", d.Version, err)
	}
	m, err := New(w, d.Version, entries)
	if err != nil {
		return nil, Stamp{}, err
	}
	if m, err = m.withMoves(d.Moves); err != nil {
		return nil, Stamp{}, fmt.Errorf("route map version %d: %w", d.Version, err)
	}
	return m, Stamp{string(d.By), string(d.Why), d.At.UTC()}, nil
}

// withMoves returns the map with the document's moves.
func (m *Map) withMoves(list []move) (*Map, error) {
	if len(list) == 0 {
		return m, nil
	}
	moves := make([]Move, 0, len(list))
	for _, v := range list {
		genes, err := gene.ParseSet(v.Genes, m.width)
		if err != nil {
			return nil, fmt.Errorf("genes of job %s: %w", v.Job, err)
		}
		held, err := gene.ParseSet(v.Held, m.width)
		if err != nil {
			return nil, fmt.Errorf("genes that job %s holds: %w", v.Job, err)
		}
		moves = append(moves, Move{
			Job: string(v.Job), Genes: genes, From: v.From, To: v.To, Held: held,
			Tables: converted[string](v.Tables), HoldsTables: v.HoldsTables,
			BySequence: v.BySequence, Share: v.Share, Mirror: v.Mirror,
		})
	}
	return m.carrying(moves)
}

// converted converts a list of strings to another type. nil remains nil.
func converted[To, From ~string](list []From) []To {
	var out []To
	for _, text := range list {
		out = append(out, To(text))
	}
	return out
}

func decodeDocument(text []byte) (document, error) {
	var d document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
		return d, errors.New("the document is empty")
	} else if err != nil {
		return d, cmp.Or(newerSchema(text), withoutTypes(err))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return d, errors.New("more follows the first YAML document")
	}
	return d, checkSchema(d.Schema)
}

// withoutTypes rewords YAML's errors without the names of Go types.
func withoutTypes(err error) error {
	var found *yaml.LoadErrors
	if !errors.As(err, &found) {
		return err
	}
	problems := make([]string, 0, len(found.Errors))
	for _, e := range found.Errors {
		problems = append(problems, fmt.Sprintf("line %d: %s", e.Mark.Line, e.Message))
	}
	return errors.New(strings.ReplaceAll(strings.Join(problems, "; "), " not found in type router.document", " is unknown"))
}

// newerSchema returns an error if the document has a newer schema, which explains fields unknown to this build.
func newerSchema(text []byte) error {
	var only struct{ Schema int }
	if yaml.Unmarshal(text, &only) == nil && only.Schema > Schema {
		return checkSchema(only.Schema)
	}
	return nil
}

func checkSchema(n int) error {
	switch {
	case n > Schema:
		return fmt.Errorf("schema %d is newer than %d, which this build reads: upgrade locus", n, Schema)
	case n < 1:
		return fmt.Errorf("no schema: begin with schema: %d", plainSchema)
	}
	return nil
}

func parseEntries(text string) ([]Entry, error) {
	entries := make([]Entry, 0, strings.Count(text, "\n")+1)
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of entries: %w", number, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseEntry(line string) (Entry, error) {
	bound, shard, _ := strings.Cut(line, " ")
	digits, hex := strings.CutPrefix(bound, "0x")
	n, err := strconv.ParseUint(digits, 16, 32)
	if !hex || err != nil {
		return Entry{}, fmt.Errorf("%q: write a bound in hex and a shard, like 0x3fff s0", line)
	}
	return Entry{gene.Gene(n), ShardName(strings.TrimLeft(shard, " "))}, nil
}
