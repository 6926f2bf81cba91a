package schema

import (
	"context"
	"errors"

	"locus/idgen/gene"
	"locus/router/catalog"
)

// Fit returns why a declaration doesn't fit a table's columns on one server, before any other server has the table. It returns nil if the
// table doesn't exist, or lacks only the column for the gene.
func Fit(ctx context.Context, q Querier, name catalog.TableName, d catalog.Declaration, width gene.Width) error {
	s := &server{tables: map[catalog.TableName]*liveTable{}}
	if err := s.readVersion(ctx, q); err != nil {
		return err
	}
	if err := runQueries(ctx, q, s.liveQueries([]catalog.TableName{name})); err != nil {
		return err
	}
	t := s.tables[name]
	if t == nil {
		return nil
	}
	_, err := catalog.Resolve(name, d, t.catalogColumns(), width)
	if errors.As(err, new(*catalog.NoGeneColumnError)) {
		return nil
	}
	return err
}
