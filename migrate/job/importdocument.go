package job

import (
	"encoding/json"
	"fmt"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
)

// importDocument is the JSON form of an import.
type importDocument struct {
	Outside  *Outside                      `json:"outside,omitempty"`
	Tables   map[string]string             `json:"tables"` // declarations as text
	Shares   []shareDocument               `json:"shares"`
	Shards   []router.ShardName            `json:"shards"`
	Declared []string                      `json:"declared,omitempty"`
	Made     map[router.ShardName][]string `json:"made,omitempty"`
	Widened  map[router.ShardName][]string `json:"widened,omitempty"`
}

type shareDocument struct {
	To    router.ShardName `json:"to"`
	Genes string           `json:"genes"`
}

// MarshalJSON writes tables and genes as texts.
func (i *Import) MarshalJSON() ([]byte, error) {
	d := importDocument{Tables: map[string]string{}, Shards: i.Shards, Outside: i.Outside}
	for name, t := range i.Tables {
		d.Tables[name.String()] = t.Words()
	}
	for _, s := range i.Shares {
		d.Shares = append(d.Shares, shareDocument{s.To, s.Genes.String()})
	}
	d.Declared = textsOf(i.Declared)
	d.Made, d.Widened = textsBy(i.Made), textsBy(i.Widened)
	return json.Marshal(d)
}

func textsBy(names map[router.ShardName][]catalog.TableName) (texts map[router.ShardName][]string) {
	for shard, some := range names {
		if texts == nil {
			texts = map[router.ShardName][]string{}
		}
		texts[shard] = textsOf(some)
	}
	return texts
}

// UnmarshalJSON reads the output of MarshalJSON. It reads genes with the greatest width. The record contains
// the actual width.
func (i *Import) UnmarshalJSON(text []byte) error {
	var d importDocument
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	i.Tables, i.Shards, i.Outside = map[catalog.TableName]catalog.Declaration{}, d.Shards, d.Outside
	for text, words := range d.Tables {
		name, err := catalog.ParseTableName(text)
		if err != nil {
			return err
		}
		if i.Tables[name], err = catalog.ParseWords(words); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	for _, s := range d.Shares {
		genes, err := gene.ParseSet(s.Genes, gene.W23)
		if err != nil {
			return err
		}
		i.Shares = append(i.Shares, Share{s.To, genes})
	}
	var err error
	if i.Declared, err = namesOf(d.Declared); err != nil {
		return err
	}
	if i.Made, err = namesBy(d.Made); err != nil {
		return err
	}
	i.Widened, err = namesBy(d.Widened)
	return err
}

func namesBy(texts map[router.ShardName][]string) (names map[router.ShardName][]catalog.TableName, err error) {
	names = map[router.ShardName][]catalog.TableName{}
	for shard, some := range texts {
		if names[shard], err = namesOf(some); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func textsOf(names []catalog.TableName) (texts []string) {
	for _, n := range names {
		texts = append(texts, n.String())
	}
	return texts
}

func namesOf(texts []string) (names []catalog.TableName, err error) {
	for _, text := range texts {
		name, err := catalog.ParseTableName(text)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
