package shop

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"locus/router/catalog"
	"locus/router/cluster"
)

// declarations are the source's documents, for statements that declare tables.
type declarations struct{ source *source }

// Declare implements ddl.Declarations.
func (d declarations) Declare(_ context.Context, name catalog.TableName, is catalog.Declaration, by string) (changed bool, err error) {
	return d.source.edit(by, func(tables map[catalog.TableName]catalog.Declaration) error {
		if before, declared := tables[name]; declared && !reflect.DeepEqual(before, is) {
			return fmt.Errorf("it is declared as %q", before.Words())
		}
		tables[name] = is
		return nil
	})
}

// Withdraw implements ddl.Declarations.
func (d declarations) Withdraw(_ context.Context, name catalog.TableName, is catalog.Declaration, by string) error {
	_, err := d.source.edit(by, func(tables map[catalog.TableName]catalog.Declaration) error {
		if reflect.DeepEqual(tables[name], is) {
			delete(tables, name)
		}
		return nil
	})
	return err
}

// Redeclare implements ddl.Declarations.
func (d declarations) Redeclare(_ context.Context, name catalog.TableName, from, to catalog.Declaration, by string) error {
	_, err := d.source.edit(by, func(tables map[catalog.TableName]catalog.Declaration) error {
		if !reflect.DeepEqual(tables[name], from) && !reflect.DeepEqual(tables[name], to) {
			return fmt.Errorf("it is declared as %q", tables[name].Words())
		}
		tables[name] = to
		return nil
	})
	return err
}

func (s *source) edit(by string, change func(map[catalog.TableName]catalog.Declaration) error) (changed bool, err error) {
	return s.change(by, func(c *cluster.Cluster) (*cluster.Cluster, error) {
		next := *c
		next.Tables = maps.Clone(c.Tables)
		if err := change(next.Tables); err != nil {
			return nil, err
		}
		return &next, next.Validate()
	})
}

// Declared returns the current declarations of the tables.
func (s *Shop) Declared() map[catalog.TableName]catalog.Declaration {
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	c, err := cluster.Decode(s.source.values)
	if err != nil {
		return nil
	}
	return c.Tables
}
