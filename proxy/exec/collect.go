package exec

import (
	"context"

	"locus/proxy/gather"
	"locus/proxy/txn"
)

// collect writes the rows of all answers into a table, counts the warnings, and ends the leases. After an error it discards the
// rest of an answer if that is at most drain bytes long, and otherwise gives up the connection.
func (x *Execution) collect(ctx context.Context, leases []txn.Lease, into *gather.Table, drain int) (warnings int, failure error) {
	for _, l := range leases {
		table, before := *into, into.Left.Rows
		if failure != nil {
			table.Left = &gather.Limits{}
		}
		answer, err := table.Fill(ctx, l.Conn, drain)
		if failure != nil {
			err = nil
		}
		x.Observer.Trace().Answered(string(l.Shard), uint64(before-into.Left.Rows), txn.CodeOf(err))
		if failure == nil {
			failure = err
		}
		warnings += int(answer.Warnings)
		if answer.Clean && answer.Warnings > 0 {
			x.takeWarnings(l)
		}
		if answer.Clean {
			endAnswered(l, answer.Status)
		} else {
			l.Lost()
		}
	}
	return warnings, failure
}
