package checkpoint

import (
	"fmt"

	"locus/migrate/link"
)

// Repair is a row that was made what another server has.
type Repair struct {
	Job, Table string
	Took       string // whose row it is now
	By         string
	Was        []byte // as SQL text of the values; nil where there was no row
	Became     []byte
}

// AppendRepair appends the statement that writes a repair down.
func AppendRepair(b []byte, r Repair) []byte {
	return fmt.Appendf(b, "INSERT INTO locus.move_repair (job, table_name, took, by_whom, was, became) VALUES (%s, %s, %s, %s, %s, %s)",
		link.Text(cut(r.Job, 128)), link.Text(cut(r.Table, 400)), link.Text(cut(r.Took, 400)), link.Text(cut(r.By, 400)), image(r.Was), image(r.Became))
}

// cut bounds a text by the length of its column.
func cut(s string, most int) string { return s[:min(len(s), most)] }

func image(v []byte) string {
	if v == nil {
		return "NULL"
	}
	return link.Text(string(v))
}
