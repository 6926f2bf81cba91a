package virtual

import (
	"context"
	"slices"

	"locus/control/events"
)

// eventRows returns the latest events, the earliest first. Package sysvars shows the last 1,000 rows of a table.
func (s *Schema) eventRows(ctx context.Context) ([][]any, error) {
	list, _, err := events.ReadAll(ctx, s.kv, events.Query{Limit: events.MaxLimit})
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	rows := make([][]any, len(list))
	for i, e := range list {
		var took any
		if e.Took > 0 {
			took = e.View().TookMs
		}
		rows[i] = []any{e.ID, e.At, string(e.Kind), text(e.Subject), short(e.What), text(e.By), took, bit(e.Failed)}
	}
	return rows, nil
}
