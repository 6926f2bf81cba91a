package job

import (
	"encoding/json"
	"fmt"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
)

// importDocument is how an import is written.
type importDocument struct {
	Tables   map[string]string             `json:"tables"` // the words of a declaration
	Shares   []shareDocument               `json:"shares"`
	Shards   []router.ShardName            `json:"shards"`
	Declared []string                      `json:"declared,omitempty"`
	Made     map[router.ShardName][]string `json:"made,omitempty"`
}

type shareDocument struct {
	To    router.ShardName `json:"to"`
	Genes string           `json:"genes"`
}

// MarshalJSON writes tables and genes by their texts.
func (i *Import) MarshalJSON() ([]byte, error) {
	d := importDocument{Tables: map[string]string{}, Shards: i.Shards}
	for name, t := range i.Tables {
		d.Tables[name.String()] = t.Words()
	}
	for _, s := range i.Shares {
		d.Shares = append(d.Shares, shareDocument{s.To, s.Genes.String()})
	}
	d.Declared = textsOf(i.Declared)
	for shard, names := range i.Made {
		if d.Made == nil {
			d.Made = map[router.ShardName][]string{}
		}
		d.Made[shard] = textsOf(names)
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads what MarshalJSON wrote. Genes are of the widest width: the record has its own.
func (i *Import) UnmarshalJSON(text []byte) error {
	var d importDocument
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	i.Tables, i.Shards = map[catalog.TableName]catalog.Declaration{}, d.Shards
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
	i.Made = map[router.ShardName][]catalog.TableName{}
	for shard, texts := range d.Made {
		if i.Made[shard], err = namesOf(texts); err != nil {
			return err
		}
	}
	return nil
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
