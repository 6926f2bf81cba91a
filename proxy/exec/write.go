package exec

import (
	"slices"

	"locus/proxy/reply"
	"locus/proxy/wire"
)

// BinaryCollation is the collation of numbers and bytes.
const BinaryCollation = 63

// WriteOK writes an OK with the session's status flags and the changes that the client tracks. It sets ROW_COUNT().
func (e *Engine) WriteOK(ok wire.OK) error {
	ok.Status |= e.Status()
	if e.Vars.ReportsTransactions() {
		e.Vars.TrackTransaction(e.transactionState())
	}
	ok.Changes = e.Vars.TakeChanges()
	e.Vars.RowCount = int64(ok.AffectedRows)
	return e.Client.OK(ok)
}

// Done writes the OK of a finished statement.
func (e *Engine) Done(ok wire.OK) error {
	if err := e.WriteOK(ok); err != nil {
		return &reply.GoneError{Err: err}
	}
	return nil
}

// WriteTexts answers with a small table of texts and of unsigned numbers.
func (e *Engine) WriteTexts(columns []wire.Column, rows [][]string) error {
	all := make([][][]byte, len(rows))
	for i, row := range rows {
		for _, v := range row {
			all[i] = append(all[i], []byte(v))
		}
	}
	return e.writeRows(columns, all)
}

// writeRows is writeTexts for values that may be NULL, which is nil.
func (e *Engine) writeRows(columns []wire.Column, rows [][][]byte) error {
	return e.writeRowsWarned(columns, rows, 0)
}

// writeRowsWarned is writeRows with the number of warnings.
func (e *Engine) writeRowsWarned(columns []wire.Column, rows [][][]byte, warnings uint16) error {
	if w := e.Vars.Results(); w != wire.NotWide {
		columns, rows = e.Definitions(columns), e.encodeWide(w, columns, rows)
	}
	return e.Client.RowsWarned(columns, rows, wire.OK{Status: e.Status(), Warnings: warnings})
}

// Definitions returns definitions of the session's own columns, encoded in the client's character set if that is a wide one.
func (e *Engine) Definitions(columns []wire.Column) []wire.Column {
	out := make([]wire.Column, len(columns))
	for i, c := range columns {
		out[i] = e.Vars.Results().EncodeColumn(c)
	}
	return out
}

// encodeWide returns values in a wide character set, encoded as the servers do.
func (e *Engine) encodeWide(w wire.Wide, columns []wire.Column, rows [][][]byte) [][][]byte {
	out := make([][][]byte, len(rows))
	for n, row := range rows {
		out[n] = slices.Clone(row)
		for i, v := range row {
			c := &columns[i]
			number := c.Charset == BinaryCollation && !c.Bytes()
			if number && (e.Client.Binary || !e.Flavor().ConvertsNumbers()) || c.Bytes() {
				continue
			}
			out[n][i] = w.Encode(v)
		}
	}
	return out
}
