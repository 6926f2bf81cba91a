package schema

import (
	"context"
	"errors"

	"locus/idgen/gene"
	"locus/router/catalog"
)

// Fit holds a declaration to the columns of a table as one server has it, before any other has. A table that isn't there fits.
func Fit(ctx context.Context, q Querier, name catalog.TableName, d catalog.Declaration, width gene.Width) error {
	s := &server{tables: map[catalog.TableName]*liveTable{}}
	if err := s.readVersion(ctx, q); err != nil {
		return err
	}
	if err := ask(ctx, q, s.liveQuestions([]catalog.TableName{name})); err != nil {
		return err
	}
	t := s.tables[name]
	if t == nil {
		return nil
	}
	_, err := catalog.Resolve(name, d, t.catalogColumns(), width)
	if errors.As(err, new(*catalog.UnmadeError)) {
		return nil
	}
	return err
}
