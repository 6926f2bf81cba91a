package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/config/strict"
	"locus/idgen/orderid"
	"locus/router"
)

// Kind is the kind of a table: it defines on which shards its rows are.
type Kind string

const (
	// Sharded rows are on the shard that owns their gene.
	Sharded Kind = "sharded"
	// Global rows are the same on every shard: they are read on any shard and written on every one.
	Global Kind = "global"
	// Single rows are on one named shard. An undeclared table is single on the first shard.
	Single Kind = "single"
	// Outside rows are on a server outside of the cluster, while an import copies them. The copies on the shards must not be used yet.
	Outside Kind = "outside"
)

// IDColumn declares a column of IDs whose gene is in the layout's top bits.
type IDColumn struct {
	Column string `yaml:"column"`
	Layout string `yaml:"layout"`
	// Overflow is bytes16 for a VARBINARY(16) column whose IDs continue in 16 bytes when the sequences of Layout, which has 8 bytes, are used up.
	Overflow string `yaml:"overflow,omitempty"`
	// Hidden IDs have an encrypted sequence. Such an ID is used where other tables use an order number.
	Hidden bool `yaml:"hidden,omitempty"`
	// Segments are the settings of the ID sequences: their first number, and how many numbers a process takes at once.
	Segments Segments `yaml:"segments,omitempty,flow"`
}

// GeneText declares a column of texts that contain the gene in hexadecimal.
type GeneText struct {
	Column string `yaml:"column"`
	// At is the position of the first digit, from 1.
	At int `yaml:"at"`
}

// longestText is the last position at which a gene can begin in a text.
const longestText = 255

func (d Declaration) validateGeneText() error {
	switch g := d.GeneText; {
	case g == nil:
	case g.Column == "":
		return errors.New("gene_text needs `column:`")
	case g.At < 1 || g.At > longestText:
		return fmt.Errorf("gene_text: at %d: give the position of the gene's first digit in a text of column %s, from 1 to %d", g.At, g.Column, longestText)
	case d.Stamped[g.Column] == "":
		return fmt.Errorf("gene_text: column %s is not stamped: name its generator in `stamped:`, whose template has the part {gene:4} at position %d", g.Column, g.At)
	}
	return nil
}

// Layouts returns the names of the layouts that the column's IDs have.
func (c *IDColumn) Layouts() string {
	if c.Overflow == "" {
		return c.Layout
	}
	return c.Layout + "+" + c.Overflow
}

// Wide returns the layout of 16 bytes in which the column's IDs continue, or the zero Layout if there is none.
func (c *IDColumn) Wide() orderid.Layout {
	if c.Overflow == "" {
		return orderid.Layout{}
	}
	return sixteen
}

func (c *IDColumn) validate() error {
	l, err := orderid.ByName(c.Layout)
	if err == nil {
		err = c.Segments.validate(l)
	}
	switch {
	case err != nil && l.IsZero():
		return fmt.Errorf("column %s: %w%s", c.Column, err, strict.DidYouMean(c.Layout, orderid.Names()))
	case err != nil:
		return fmt.Errorf("column %s: %w", c.Column, err)
	case c.Overflow == "":
	case c.Overflow != sixteen.Name():
		return fmt.Errorf("column %s: overflow %q: IDs of 8 bytes go on in layout %s, and in no other%s", c.Column, c.Overflow, sixteen, strict.DidYouMean(c.Overflow, []string{sixteen.Name()}))
	case l.Bytes() != 8:
		return fmt.Errorf("column %s: overflow is for a layout of 8 bytes, and %s has %d: leave it out", c.Column, l, l.Bytes())
	}
	return nil
}

// Hiding is the place where the sequences of a table's IDs are encrypted.
type Hiding uint8

const (
	// InClear: nowhere, since the IDs have no key version.
	InClear Hiding = iota
	// Beside: in the order number. The ID contains the key version and the unencrypted sequence.
	Beside
	// InPlace: in the ID itself.
	InPlace
)

// Hiding returns where the sequences of the table's own IDs are encrypted.
func (d Declaration) Hiding() Hiding {
	switch {
	case d.ID != nil && d.ID.Hidden:
		return InPlace
	case d.OrderNumber != "":
		return Beside
	}
	return InClear
}

// sixteen is the layout of 16 bytes that continues one of 8 bytes.
var sixteen, _ = orderid.ByName("bytes16")

// Declaration is the declaration of one table.
type Declaration struct {
	Kind Kind `yaml:"kind"`
	// Shard is the shard of a single table.
	Shard router.ShardName `yaml:"shard,omitempty"`
	// Owner is the column whose value decides the gene of a row of a sharded table.
	Owner string `yaml:"owner,omitempty"`
	// Parent is the column that contains the parent's ID, for a sharded table that has no owner column and whose rows have their parent's gene.
	Parent *IDColumn `yaml:"parent,omitempty"`
	// ID is the stamped ID column.
	ID *IDColumn `yaml:"id,omitempty"`
	// OrderNumber is the stamped column that contains the obfuscated ID.
	OrderNumber string `yaml:"order_number,omitempty"`
	// GeneText is a stamped text column in whose texts the gene can be read.
	GeneText *GeneText `yaml:"gene_text,omitempty,flow"`
	// Gene is a stamped integer column that contains the bare gene, for tables that have no ID column in a gene layout. If none is declared for such a
	// table, it gets [OwnGene].
	Gene string `yaml:"gene,omitempty"`
	// Version is the column that every change of a row increments by one.
	Version string `yaml:"version,omitempty"`
	// Stamped are further stamped columns, each with the name of the declared generator that fills it.
	Stamped map[string]string `yaml:"stamped,omitempty,flow"`
	// Lookup is set for a table with the entries of a look-up index.
	Lookup *LookupOf `yaml:"lookup,omitempty,flow"`
}

// RoleOf returns the role that is declared for a column, or "" if there is none.
func (d Declaration) RoleOf(column string) string {
	is := func(name string) bool { return name != "" && strings.EqualFold(name, column) }
	switch {
	case is(d.Owner):
		return "owner"
	case d.Parent != nil && is(d.Parent.Column):
		return "parent"
	case d.ID != nil && is(d.ID.Column):
		return "id"
	case is(d.OrderNumber):
		return "order_number"
	case is(d.Gene):
		return "gene"
	case is(d.Version):
		return "version"
	}
	for name := range d.Stamped {
		if is(name) {
			return "stamped"
		}
	}
	return ""
}

// mostStamped is the limit of the number of columns that generators stamp.
const mostStamped = 16

// Validate returns all errors of the declaration that can be found without a live schema, or nil.
func (d Declaration) Validate() error {
	switch d.Kind {
	case Sharded:
		return d.validateSharded()
	case Single:
		if d.Shard == "" {
			return errors.New("a single table needs `shard:`, the shard it lives on")
		}
		return d.refuseKeys()
	case Global, Outside:
		if d.Shard != "" {
			return fmt.Errorf("a %s table is on every shard: remove `shard:`", d.Kind)
		}
		return d.refuseKeys()
	}
	return fmt.Errorf("kind %q: it is one of sharded, global, single%s", d.Kind, strict.OneOf(d.Kind, Sharded, Global, Single))
}

func (d Declaration) refuseKeys() error {
	if d.Owner != "" || d.Parent != nil || d.ID != nil || d.OrderNumber != "" || d.GeneText != nil || d.Gene != "" || d.Version != "" || len(d.Stamped) > 0 || d.Lookup != nil {
		return fmt.Errorf("a %s table is not routed by a gene: remove owner, parent, id, order_number, gene_text, gene, version, stamped and lookup", d.Kind)
	}
	return nil
}

func (d Declaration) validateSharded() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if d.Shard != "" {
		refuse("a sharded table is on every shard: remove `shard:`")
	}
	if (d.Owner == "") == (d.Parent == nil) {
		refuse("a sharded table is routed by `owner:` or by `parent:`, one of the two")
	}
	for _, c := range []*IDColumn{d.ID, d.Parent} {
		if c == nil {
			continue
		}
		if c.Column == "" {
			refuse("an id or parent needs `column:`")
		}
		if err := c.validate(); err != nil {
			errs = append(errs, err)
		}
	}
	for _, column := range d.columns() {
		if err := validName(column); err != nil {
			refuse("column name %q %w", column, err)
		}
	}
	if d.Parent != nil && d.Parent.Segments != (Segments{}) {
		refuse("segments are those of the table's own `id:`: leave them out of `parent:`")
	}
	if n := len(d.Stamped); n > mostStamped {
		refuse("%d columns are stamped by generators: a table has up to %d", n, mostStamped)
	}
	for _, err := range []error{d.validateHiding(), d.validateGeneText(), d.validateLookup()} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// columns returns the names of the columns that the declaration mentions. Some may be empty.
func (d Declaration) columns() []string {
	names := []string{d.Owner, d.OrderNumber, d.Gene, d.Version}
	for _, c := range []*IDColumn{d.ID, d.Parent} {
		if c != nil {
			names = append(names, c.Column)
		}
	}
	return append(names, slices.Sorted(maps.Keys(d.Stamped))...)
}

func (d Declaration) validateHiding() error {
	what := map[Hiding]string{Beside: "order_number", InPlace: "hidden"}[d.Hiding()]
	switch {
	case d.Parent != nil && d.Parent.Hidden:
		return fmt.Errorf("column %s: the table that makes these IDs says whether they are hidden: leave `hidden:` out here", d.Parent.Column)
	case what == "":
	case d.ID == nil:
		return errors.New("order_number hides the ID: declare `id:` too")
	case d.ID.Hidden && d.OrderNumber != "":
		return errors.New("a hidden ID is its own order number: leave `order_number:` or `hidden:` out")
	default:
		if l, err := orderid.ByName(d.ID.Layout); err == nil && l.VersionBits() == 0 {
			return fmt.Errorf("%s needs a layout with a key version, and %s has none: use int64 or bytes16", what, d.ID.Layout)
		}
	}
	return nil
}
