package virtual

import (
	"context"
	"fmt"

	"locus/control/finding"
)

// findingRows returns the findings of the cluster, each consequence after its cause.
func (s *Schema) findingRows(ctx context.Context) ([][]any, error) {
	if s.findings == nil {
		return nil, nil
	}
	list, err := s.findings(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the findings: %w", err)
	}
	var rows [][]any
	for _, f := range list {
		a := finding.Acknowledgement{}
		if f.Acknowledged != nil {
			a = *f.Acknowledged
		}
		rows = append(rows, findingRow(f.Fact, "", f.Expect, a))
		for _, c := range f.Consequences {
			rows = append(rows, findingRow(c, f.ID, "", a))
		}
	}
	return rows, nil
}

func findingRow(f finding.Fact, cause, expect string, a finding.Acknowledgement) []any {
	return []any{
		f.ID, f.Severity.String(), f.Check, f.Where, short(f.What), text(f.Remedy), text(cause), text(expect), text(a.By), a.At, text(a.Why), a.Until,
	}
}
